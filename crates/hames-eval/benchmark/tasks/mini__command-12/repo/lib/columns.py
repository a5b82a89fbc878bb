"""Sets words in columns: columns.py WIDTH < words."""

import sys


def columns(words, width):
    if not words:
        return ""
    cell = max(map(len, words)) + 2
    count = max(1, (width + 2) // cell)
    rows = [words[at : at + count] for at in range(0, len(words), count)]
    return "".join("".join(word.ljust(cell) for word in row).rstrip() + "\n" for row in rows)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit("usage: columns WIDTH")
    sys.stdout.write(columns(sys.stdin.read().split(), int(sys.argv[1])))
