#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_optional.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_optional.py b/tests/test_optional.py
new file mode 100644
index 0000000..78070f7
--- /dev/null
+++ b/tests/test_optional.py
@@ -0,0 +1,53 @@
+import os
+import subprocess
+import sys
+import tempfile
+import unittest
+
+from planner import PlanError, order, parse
+
+
+class Optional(unittest.TestCase):
+    def test_is_ignored_where_absent(self):
+        self.assertEqual(order(parse("deploy: build lint?\nbuild:")), ["build", "deploy"])
+
+    def test_comes_first_where_present(self):
+        self.assertEqual(order(parse("deploy: lint?\nlint:")), ["lint", "deploy"])
+
+    def test_others_must_be_there(self):
+        with self.assertRaises(PlanError) as caught:
+            order(parse("a: b? c"))
+        self.assertEqual(str(caught.exception), "a needs c, which is not in the plan")
+
+
+class Cycles(unittest.TestCase):
+    def cycle(self, text):
+        with self.assertRaises(PlanError) as caught:
+            order(parse(text))
+        return str(caught.exception)
+
+    def test_is_named_from_its_first(self):
+        self.assertEqual(self.cycle("b: a\na: c\nc: b\n"), "cycle: a -> c -> b -> a")
+
+    def test_begins_where_it_closes(self):
+        self.assertEqual(self.cycle("x: m\nm: n\nn: m\n"), "cycle: m -> n -> m")
+
+    def test_of_one(self):
+        self.assertEqual(self.cycle("a: a?"), "cycle: a -> a")
+
+
+class Command(unittest.TestCase):
+    def run_on(self, text):
+        with tempfile.TemporaryDirectory() as folder:
+            path = os.path.join(folder, "plan")
+            with open(path, "w") as file:
+                file.write(text)
+            command = [sys.executable, "-m", "planner", path]
+            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
+            return ran.returncode, ran.stdout, ran.stderr
+
+    def test_prints_the_order(self):
+        self.assertEqual(self.run_on("a: b\nb:"), (0, "b\na\n", ""))
+
+    def test_tells_of_a_cycle(self):
+        self.assertEqual(self.run_on("b: a\na: b"), (2, "", "error: cycle: a -> b -> a\n"))
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_optional.py
git checkout HEAD -- tests run_tests.py
