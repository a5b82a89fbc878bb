"""Cuts a line into words, as a shell does."""


def split(line):
    words, word, quote = [], "", None
    for char in line:
        if quote:
            if char == quote:
                quote = None
            else:
                word += char
        elif char in "'\"":
            quote = char
        elif char.isspace():
            if word:
                words.append(word)
            word = ""
        else:
            word += char
    if quote:
        raise ValueError("no closing %s" % quote)
    return words + [word] if word else words
