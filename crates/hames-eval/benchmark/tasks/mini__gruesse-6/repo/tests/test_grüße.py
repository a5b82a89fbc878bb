import unittest

from gruss import gruss, rahmen


class Grüße(unittest.TestCase):
    def test_deutsch(self):
        self.assertEqual(gruss("Deutsch"), "Grüß Gott")

    def test_unbekannt(self):
        with self.assertRaises(KeyError):
            gruss("Klingonisch")

    def test_rahmen(self):
        self.assertEqual(rahmen("ab"), "┌────┐\n│ ab │\n└────┘\n")

    def test_rahmen_um_umlaute(self):
        self.assertEqual(rahmen("üß"), "┌────┐\n│ üß │\n└────┘\n")
