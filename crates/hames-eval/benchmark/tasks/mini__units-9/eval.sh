#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_names.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_names.py b/tests/test_names.py
new file mode 100644
index 0000000..0e192e9
--- /dev/null
+++ b/tests/test_names.py
@@ -0,0 +1,27 @@
+import importlib
+import os
+import unittest
+
+
+class Names(unittest.TestCase):
+    def test_temperature(self):
+        self.assertEqual(importlib.import_module("units.temperature").celsius(32), 0)
+
+    def test_rankine(self):
+        self.assertAlmostEqual(importlib.import_module("units.temperature").rankine(0), 491.67)
+
+    def test_old_names_are_gone(self):
+        for name in ("units.util", "units.util2"):
+            with self.assertRaises(ImportError):
+                importlib.import_module(name)
+
+    def test_nobody_imports_them(self):
+        for name in os.listdir("units"):
+            if name.endswith(".py"):
+                with open(os.path.join("units", name), encoding="utf-8") as file:
+                    self.assertNotIn("util", file.read(), name)
+
+    def test_weather(self):
+        report = importlib.import_module("units.weather").report
+        self.assertEqual(report("Oslo", 23), "Oslo: -5.0 °C, frost")
+        self.assertEqual(report("Rome", 69.8), "Rome: 21.0 °C, warm")
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_names.py
git checkout HEAD -- tests run_tests.py
