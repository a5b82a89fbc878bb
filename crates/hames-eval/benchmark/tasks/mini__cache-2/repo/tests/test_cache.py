import unittest

from cache import Cache


class Least(unittest.TestCase):
    def test_keeps_what_fits(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        self.assertEqual((cache.get("a"), cache.get("b"), len(cache)), (1, 2, 2))

    def test_pushes_out_the_oldest(self):
        cache = Cache(2)
        for key in "abc":
            cache.put(key, key)
        self.assertNotIn("a", cache)

    def test_reading_is_using(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a")
        cache.put("c", 3)
        self.assertIn("a", cache)
        self.assertNotIn("b", cache)

    def test_default(self):
        self.assertEqual(Cache(1).get("x", 7), 7)

    def test_no_room(self):
        with self.assertRaises(ValueError):
            Cache(0)
