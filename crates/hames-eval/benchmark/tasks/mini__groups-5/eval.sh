#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_order.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_order.py b/tests/test_order.py
new file mode 100644
index 0000000..197b809
--- /dev/null
+++ b/tests/test_order.py
@@ -0,0 +1,47 @@
+import os
+import subprocess
+import sys
+import unittest
+
+from groups import group, largest
+
+WORDS = "tea on Eat no stop ate pots tops spot opts post keen knee peek keep night thing eat".split()
+EXPECTED = [
+    ["tea", "Eat", "ate"],
+    ["on", "no"],
+    ["stop", "pots", "tops", "spot", "opts", "post"],
+    ["keen", "knee"],
+    ["peek", "keep"],
+    ["night", "thing"],
+]
+
+
+def output(seed):
+    """Of a process of its own, whose sets are ordered in a way of their own."""
+    environment = dict(os.environ, PYTHONHASHSEED=str(seed))
+    ran = subprocess.run(
+        [sys.executable, "groups.py"],
+        input=" ".join(WORDS),
+        stdout=subprocess.PIPE,
+        universal_newlines=True,
+        env=environment,
+        check=True,
+    )
+    return ran.stdout
+
+
+class Order(unittest.TestCase):
+    def test_groups(self):
+        self.assertEqual(group(WORDS), EXPECTED)
+
+    def test_first_of_the_largest(self):
+        words = "b c d e f g h On no Eat tea".split()
+        self.assertEqual(largest(words), ["On", "no"])
+        self.assertEqual(largest(reversed(words)), ["tea", "Eat"])
+
+    def test_case_as_first_read(self):
+        self.assertEqual(group(["Tea", "EAT", "tea"]), [["Tea", "EAT"]])
+
+    def test_every_run_is_the_same(self):
+        expected = "".join(" ".join(words) + "\n" for words in EXPECTED)
+        self.assertEqual([output(seed) for seed in range(1, 6)], [expected] * 5)
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_order.py
git checkout HEAD -- tests run_tests.py
