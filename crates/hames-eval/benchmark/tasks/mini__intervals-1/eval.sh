#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_intervals.py b/tests/test_intervals.py
index 6c628bc..b675226 100644
--- a/tests/test_intervals.py
+++ b/tests/test_intervals.py
@@ -20,11 +20,28 @@ class Merge(unittest.TestCase):
         with self.assertRaises(ValueError):
             merge([(3, 1)])
 
+    def test_inner(self):
+        self.assertEqual(merge([(1, 10), (2, 3)]), [(1, 10)])
+
+    def test_touching(self):
+        self.assertEqual(merge([(1, 3), (4, 6), (-1, 0)]), [(-1, 6)])
+
+    def test_unsorted(self):
+        self.assertEqual(merge([(5, 6), (1, 2), (8, 9)]), [(1, 2), (5, 6), (8, 9)])
+
+    def test_callers_list_stays(self):
+        given = [(5, 6), (1, 2)]
+        merge(given)
+        self.assertEqual(given, [(5, 6), (1, 2)])
+
 
 class Others(unittest.TestCase):
     def test_total(self):
         self.assertEqual(total([(1, 3), (5, 6)]), 5)
 
+    def test_total_of_inner_ones(self):
+        self.assertEqual(total([(4, 5), (1, 10), (2, 3)]), 10)
+
     def test_contains(self):
         self.assertTrue(contains([(1, 3), (5, 6)], 5))
         self.assertFalse(contains([(1, 3), (5, 6)], 4))
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
git checkout HEAD -- tests run_tests.py
