import unittest

from planner import PlanError, order, parse


class Parse(unittest.TestCase):
    def test_lines(self):
        self.assertEqual(parse("a: b c\n# no step\nb:\n"), {"a": ["b", "c"], "b": []})

    def test_no_colon(self):
        with self.assertRaises(ValueError):
            parse("a b")

    def test_twice(self):
        with self.assertRaises(ValueError):
            parse("a:\na:\n")


class Order(unittest.TestCase):
    def test_needs_come_first(self):
        self.assertEqual(order(parse("a: b\nb: c\nc:\nd:")), ["c", "b", "a", "d"])

    def test_missing(self):
        with self.assertRaises(PlanError) as caught:
            order(parse("a: b"))
        self.assertEqual(str(caught.exception), "a needs b, which is not in the plan")
