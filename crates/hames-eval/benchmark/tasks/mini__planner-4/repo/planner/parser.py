"""Reads plans: a line for each step, `name: dependency dependency`."""


def parse(text):
    """Names to their dependencies, in the order of the file."""
    steps = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, needs = line.partition(":")
        if not colon:
            raise ValueError("line %d: no colon" % number)
        name = name.strip()
        if name in steps:
            raise ValueError("line %d: %s is there twice" % (number, name))
        steps[name] = needs.split()
    return steps
