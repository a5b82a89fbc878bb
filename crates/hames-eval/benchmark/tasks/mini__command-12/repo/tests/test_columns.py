import subprocess
import sys
import unittest

sys.path.insert(0, "lib")

from columns import columns


class Columns(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(columns([], 80), "")

    def test_one_row(self):
        self.assertEqual(columns(["a", "bb", "c"], 10), "a   bb  c\n")

    def test_two_rows(self):
        self.assertEqual(columns(["a", "bb", "c"], 6), "a   bb\nc\n")

    def test_too_narrow(self):
        self.assertEqual(columns(["abc", "d"], 1), "abc\nd\n")


class Hello(unittest.TestCase):
    def test_can_be_started(self):
        self.assertEqual(subprocess.check_output(["./bin/hello"]), b"hello\n")
