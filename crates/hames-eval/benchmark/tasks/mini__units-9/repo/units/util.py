"""Temperatures."""


def celsius(fahrenheit):
    return (fahrenheit - 32) * 5 / 9


def fahrenheit(celsius):
    return celsius * 9 / 5 + 32


def kelvin(celsius):
    if celsius < -273.15:
        raise ValueError("%s is below absolute zero" % celsius)
    return celsius + 273.15


def describe(celsius):
    for limit, word in [(0, "frost"), (10, "cold"), (20, "mild"), (30, "warm")]:
        if celsius < limit:
            return word
    return "hot"
