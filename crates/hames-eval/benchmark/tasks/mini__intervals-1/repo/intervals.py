"""Closed integer intervals as pairs: (1, 3) is 1, 2 and 3."""


def check(interval):
    low, high = interval
    if low > high:
        raise ValueError("%d is above %d" % (low, high))
    return low, high


def merge(intervals):
    """Joins those that overlap or touch."""
    merged = []
    for low, high in map(check, intervals):
        if merged and low <= merged[-1][1] and high >= merged[-1][0]:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged


def total(intervals):
    """How many integers are in at least one of them."""
    return sum(high - low + 1 for low, high in merge(intervals))


def contains(intervals, number):
    return any(low <= number <= high for low, high in intervals)
