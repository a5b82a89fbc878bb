"""A line about the weather."""

from units.util2 import celsius, describe


def report(city, fahrenheit):
    degrees = celsius(fahrenheit)
    return "%s: %.1f °C, %s" % (city, degrees, describe(degrees))
