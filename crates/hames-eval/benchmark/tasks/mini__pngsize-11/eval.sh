#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_wide.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_wide.py b/tests/test_wide.py
new file mode 100644
index 0000000..6b34ade
--- /dev/null
+++ b/tests/test_wide.py
@@ -0,0 +1,31 @@
+import tempfile
+import unittest
+
+import pngsize
+
+
+class Wide(unittest.TestCase):
+    def test_size(self):
+        self.assertEqual(pngsize.size("tests/data/wide.png"), (300, 3))
+
+    def test_chunks(self):
+        self.assertEqual(pngsize.chunks("tests/data/wide.png"), ["IHDR", "tEXt", "gAMA", "IDAT", "IEND"])
+
+
+class Broken(unittest.TestCase):
+    def refused(self, path):
+        for look in (pngsize.size, pngsize.chunks):
+            with self.assertRaises(ValueError):
+                look(path)
+
+    def test_torn(self):
+        self.refused("tests/data/torn.png")
+
+    def test_flipped_bit(self):
+        self.refused("tests/data/flipped.png")
+
+    def test_no_png(self):
+        with tempfile.NamedTemporaryFile(suffix=".png") as file:
+            file.write(b"GIF89a and IHDR, then some more bytes, and IEND")
+            file.flush()
+            self.refused(file.name)
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_wide.py
git checkout HEAD -- tests run_tests.py
