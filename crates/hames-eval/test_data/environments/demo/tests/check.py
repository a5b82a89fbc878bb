import unittest

from demo import double


class Double(unittest.TestCase):
    def test_double(self):
        self.assertEqual(double(2), 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
