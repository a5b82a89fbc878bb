#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_command.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_command.py b/tests/test_command.py
new file mode 100644
index 0000000..899f37e
--- /dev/null
+++ b/tests/test_command.py
@@ -0,0 +1,40 @@
+import os
+import stat
+import subprocess
+import tempfile
+import unittest
+
+COMMAND = os.path.abspath("bin/columns")
+
+
+def run(command, width="6", words="a bb c", **more):
+    ran = subprocess.run(
+        [command, width],
+        input=words,
+        stdout=subprocess.PIPE,
+        stderr=subprocess.PIPE,
+        universal_newlines=True,
+        **more
+    )
+    return ran.returncode, ran.stdout
+
+
+class Command(unittest.TestCase):
+    def test_can_be_started(self):
+        self.assertEqual(run("./bin/columns"), (0, "a   bb\nc\n"))
+
+    def test_from_elsewhere(self):
+        with tempfile.TemporaryDirectory() as folder:
+            self.assertEqual(run(COMMAND, cwd=folder), (0, "a   bb\nc\n"))
+
+    def test_by_a_link(self):
+        with tempfile.TemporaryDirectory() as folder:
+            link = os.path.join(folder, "columns")
+            os.symlink(os.path.relpath(COMMAND, os.path.realpath(folder)), link)
+            self.assertEqual(run(link, cwd=folder), (0, "a   bb\nc\n"))
+
+    def test_status(self):
+        self.assertEqual(run(COMMAND, width="wide"), (1, ""))
+
+    def test_the_library_is_no_program(self):
+        self.assertFalse(os.stat("lib/columns.py").st_mode & stat.S_IXUSR)
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_command.py
git checkout HEAD -- tests run_tests.py
