"""Copied from util, to be cleaned up."""


def celsius(fahrenheit):
    return (fahrenheit - 32) * 5 // 9


def describe(celsius):
    return "cold" if celsius < 10 else "warm"
