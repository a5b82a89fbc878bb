#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_formats.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_formats.py b/tests/test_formats.py
new file mode 100644
index 0000000..4a43429
--- /dev/null
+++ b/tests/test_formats.py
@@ -0,0 +1,48 @@
+import ast
+import unittest
+
+import report
+
+
+class Markdown:
+    def row(self, name, amount):
+        return "| %s | %.2f |" % (name, amount)
+
+    def total(self, name, amount):
+        return "| **%s** | %.2f |" % (name, amount)
+
+    def page(self, lines):
+        return ["| what | how much |", "|---|---|"] + lines
+
+
+class Formats(unittest.TestCase):
+    def test_by_name(self):
+        rows = [("a", 1), ("b", None), ("c", 2)]
+        for name, old in [("text", report.text_report), ("csv", report.csv_report), ("html", report.html_report)]:
+            self.assertEqual(report.report(rows, name), old(rows))
+
+    def test_from_outside(self):
+        expected = "| what | how much |\n|---|---|\n| a | 1.00 |\n| z | 0.00 |\n| **total** | 1.00 |\n"
+        self.assertEqual(report.report([("a", 1), ("z", 0)], Markdown()), expected)
+
+    def test_known_formats(self):
+        self.assertEqual(sorted(report.FORMATS), ["csv", "html", "text"])
+
+    def test_unknown_name(self):
+        with self.assertRaises(ValueError) as caught:
+            report.report([], "pdf")
+        for name in ("csv", "html", "text"):
+            self.assertIn(name, str(caught.exception))
+
+    def test_rows_are_read_once(self):
+        rows = (row for row in [("a", 1), ("b", 2)])
+        self.assertEqual(report.report(rows, "csv"), "a,1.00\nb,2.00\ntotal,3.00\n")
+
+    def test_one_loop_is_left(self):
+        with open(report.__file__) as file:
+            tree = ast.parse(file.read())
+        old = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.endswith("_report")]
+        self.assertEqual(len(old), 3)
+        for function in old:
+            loops = [node for node in ast.walk(function) if isinstance(node, (ast.For, ast.While, ast.ListComp))]
+            self.assertEqual(loops, [])
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_formats.py
git checkout HEAD -- tests run_tests.py
