#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_line_ends.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_line_ends.py b/tests/test_line_ends.py
new file mode 100644
index 0000000..d612c53
--- /dev/null
+++ b/tests/test_line_ends.py
@@ -0,0 +1,27 @@
+import inifile
+from tests.test_inifile import Case as Base
+
+
+class LineEnds(Base):
+    def test_windows(self):
+        self.assertEqual(self.after(b"a=1\r\nb=2\r\n", "a", "3"), b"a=3\r\nb=2\r\n")
+
+    def test_last_line_without_an_end(self):
+        self.assertEqual(self.after(b"a=1\nb=2", "b", "3"), b"a=1\nb=3")
+
+    def test_mixed(self):
+        self.assertEqual(self.after(b"a=1\r\nb=2\nc=3", "b", "4"), b"a=1\r\nb=4\nc=3")
+
+    def test_append_as_the_first(self):
+        self.assertEqual(self.after(b"a=1\r\nb=2\n", "c", "3"), b"a=1\r\nb=2\nc=3\r\n")
+
+    def test_append_after_an_open_line(self):
+        self.assertEqual(self.after(b"a=1\r\nb=2", "c", "3"), b"a=1\r\nb=2\r\nc=3\r\n")
+
+    def test_version(self):
+        self.assertEqual(inifile.version(), "1.1")
+
+    def test_the_module_keeps_its_line_ends(self):
+        with open(inifile.__file__, "rb") as file:
+            lines = file.read().splitlines(keepends=True)
+        self.assertEqual([line for line in lines if not line.endswith(b"\r\n")], [])
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_line_ends.py
git checkout HEAD -- tests run_tests.py
