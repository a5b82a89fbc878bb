import unittest

import pngsize

SMALL = "tests/data/small.png"


class Small(unittest.TestCase):
    def test_size(self):
        self.assertEqual(pngsize.size(SMALL), (2, 2))

    def test_chunks(self):
        self.assertEqual(pngsize.chunks(SMALL), ["IHDR", "IDAT", "IEND"])

    def test_signature(self):
        with open(SMALL, "rb") as file:
            self.assertEqual(file.read(8), pngsize.SIGNATURE)
