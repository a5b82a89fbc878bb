import unittest

from intervals import contains, merge, total


class Merge(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(merge([]), [])

    def test_one(self):
        self.assertEqual(merge([(1, 3)]), [(1, 3)])

    def test_overlap(self):
        self.assertEqual(merge([(1, 3), (2, 5)]), [(1, 5)])

    def test_apart(self):
        self.assertEqual(merge([(1, 3), (5, 6)]), [(1, 3), (5, 6)])

    def test_upside_down(self):
        with self.assertRaises(ValueError):
            merge([(3, 1)])


class Others(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([(1, 3), (5, 6)]), 5)

    def test_contains(self):
        self.assertTrue(contains([(1, 3), (5, 6)], 5))
        self.assertFalse(contains([(1, 3), (5, 6)], 4))
