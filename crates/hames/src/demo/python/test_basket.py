import unittest

from basket import total


class TotalTest(unittest.TestCase):
    def test_every_price_counts(self):
        self.assertEqual(total([250, 100, 50]), 400)

    def test_a_discount_is_taken_off(self):
        self.assertEqual(total([200, 200], discount=25), 300)

    def test_an_empty_basket_costs_nothing(self):
        self.assertEqual(total([]), 0)


if __name__ == "__main__":
    unittest.main()
