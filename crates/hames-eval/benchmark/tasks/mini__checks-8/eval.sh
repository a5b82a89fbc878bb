#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- checks run_checks.py
rm -rf -- checks/check_escapes.py
git apply -v - <<'EOF_114329324912'
diff --git a/checks/check_escapes.py b/checks/check_escapes.py
new file mode 100644
index 0000000..0aa21c8
--- /dev/null
+++ b/checks/check_escapes.py
@@ -0,0 +1,28 @@
+import unittest
+
+from words import split
+
+
+class Escapes(unittest.TestCase):
+    def check(self, line, *words):
+        self.assertEqual(split(line), list(words))
+
+    def test_quote_in_quotes(self):
+        self.check('say "a \\"word\\"" twice', "say", 'a "word"', "twice")
+
+    def test_backslash_in_quotes(self):
+        self.check('"a\\\\" "\\n"', "a\\", "\\n")
+
+    def test_outside(self):
+        self.check("a\\ b \\'c \\\\", "a b", "'c", "\\")
+
+    def test_single_quotes_take_it_as_it_is(self):
+        self.check("'a\\' b", "a\\", "b")
+
+    def test_at_the_end(self):
+        for line in ("a\\", '"a\\'):
+            with self.assertRaises(ValueError):
+                split(line)
+
+    def test_empty_words(self):
+        self.check("a '' \"\"", "a", "", "")
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_checks.py
: '>>>>> End Test Output'
rm -rf -- checks/check_escapes.py
git checkout HEAD -- checks run_checks.py
