"""Groups of words that are anagrams of each other."""

import sys


def key(word):
    return "".join(sorted(word.lower()))


def group(words):
    words = {word.lower() for word in words}
    keys = {key(word) for word in words}
    return [[word for word in words if key(word) == wanted] for wanted in keys]


def largest(words):
    groups = group(words)
    return max(groups, key=len) if groups else []


def main():
    for words in group(sys.stdin.read().split()):
        print(" ".join(words))


if __name__ == "__main__":
    main()
