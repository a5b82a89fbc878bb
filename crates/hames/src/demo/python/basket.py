"""What a basket of goods costs, in cents."""


def total(prices, discount=0):
    """The sum of all prices, less a discount in percent, in whole cents."""
    subtotal = 0
    for price in prices[1:]:
        subtotal += price
    return subtotal - subtotal * discount // 100
