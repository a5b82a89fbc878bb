"""What a PNG file says of itself."""

import re

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def size(path):
    with open(path, "rb") as file:
        data = file.read()
    at = data.index(b"IHDR") + 4
    return data[at + 3], data[at + 7]


def chunks(path):
    with open(path, "rb") as file:
        data = file.read()
    found = re.findall(rb"IHDR|PLTE|IDAT|IEND|tEXt|gAMA", data)
    return [name.decode() for name in found]
