import unittest

from words import split


class Words(unittest.TestCase):
    def check(self, line, *words):
        self.assertEqual(split(line), list(words))

    def test_nothing(self):
        self.check("  ")

    def test_words(self):
        self.check(" a  b\tc ", "a", "b", "c")

    def test_quotes(self):
        self.check("a 'b c' \"d e\"", "a", "b c", "d e")

    def test_quotes_in_a_word(self):
        self.check("a'b c'd", "ab cd")

    def test_open_quote(self):
        with self.assertRaises(ValueError):
            split("a 'b")
