import unittest

from groups import group, key, largest


class Groups(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual((group([]), largest([])), ([], []))

    def test_key(self):
        self.assertEqual(key("Tea"), key("eat"))
        self.assertNotEqual(key("tea"), key("tee"))

    def test_one_group(self):
        self.assertEqual([sorted(words) for words in group(["eat", "tea", "ate"])], [["ate", "eat", "tea"]])

    def test_each_word_once(self):
        self.assertEqual(group(["on", "on"]), [["on"]])
