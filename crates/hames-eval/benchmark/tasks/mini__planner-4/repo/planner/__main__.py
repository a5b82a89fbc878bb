"""`python3 -m planner FILE` prints the steps in order."""

import sys

from planner import order, parse


def main(path):
    with open(path) as file:
        print("\n".join(order(parse(file.read()))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
