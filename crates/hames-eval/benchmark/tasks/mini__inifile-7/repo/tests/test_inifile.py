import os
import tempfile
import unittest

import inifile


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "some.ini")

    def after(self, before, key, value):
        with open(self.path, "wb") as file:
            file.write(before)
        inifile.set(self.path, key, value)
        with open(self.path, "rb") as file:
            return file.read()


class Plain(Case):
    def test_get(self):
        self.assertEqual(inifile.get("example.ini", "name"), "hames")

    def test_get_nothing(self):
        self.assertIsNone(inifile.get("example.ini", "size"))

    def test_change(self):
        self.assertEqual(self.after(b"a=1\nb=2\n", "a", "3"), b"a=3\nb=2\n")

    def test_only_the_first(self):
        self.assertEqual(self.after(b"a=1\na=2\n", "a", "3"), b"a=3\na=2\n")

    def test_append(self):
        self.assertEqual(self.after(b"a=1\n", "b", "2"), b"a=1\nb=2\n")

    def test_new_file(self):
        self.assertEqual(self.after(b"", "b", "2"), b"b=2\n")
