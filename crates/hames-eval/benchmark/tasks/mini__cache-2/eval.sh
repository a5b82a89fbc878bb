#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_ttl.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_ttl.py b/tests/test_ttl.py
new file mode 100644
index 0000000..812cd61
--- /dev/null
+++ b/tests/test_ttl.py
@@ -0,0 +1,73 @@
+import unittest
+
+from cache import Cache
+
+
+class Clock:
+    now = 100.0
+
+    def __call__(self):
+        return self.now
+
+
+class TimeToLive(unittest.TestCase):
+    def setUp(self):
+        self.clock = Clock()
+        self.cache = Cache(2, ttl=10, clock=self.clock)
+
+    def test_lives_until_then(self):
+        self.cache.put("a", 1)
+        self.clock.now += 9.5
+        self.assertEqual(self.cache.get("a"), 1)
+
+    def test_is_gone_at_its_time(self):
+        self.cache.put("a", 1)
+        self.clock.now += 10
+        self.assertIsNone(self.cache.get("a"))
+        self.assertNotIn("a", self.cache)
+
+    def test_is_not_counted(self):
+        self.cache.put("a", 1)
+        self.clock.now += 11
+        self.assertEqual(len(self.cache), 0)
+
+    def test_put_again_lives_anew(self):
+        self.cache.put("a", 1)
+        self.clock.now += 6
+        self.cache.put("a", 2)
+        self.clock.now += 6
+        self.assertEqual(self.cache.get("a"), 2)
+
+    def test_reading_lengthens_no_life(self):
+        self.cache.put("a", 1)
+        self.clock.now += 6
+        self.cache.get("a")
+        self.clock.now += 6
+        self.assertIsNone(self.cache.get("a"))
+
+    def test_the_dead_take_no_room(self):
+        self.cache.put("living", 1)
+        self.clock.now += 5
+        self.cache.put("dying", 2)
+        self.clock.now += 1
+        self.cache.put("living", 1)
+        self.cache.put("dying", 2)
+        self.cache.get("living")
+        self.clock.now += 9
+        self.cache.put("living", 3)
+        self.clock.now += 2
+        self.cache.get("dying")
+        self.cache.put("new", 4)
+        self.assertEqual(self.cache.get("living"), 3)
+
+    def test_no_time_to_live(self):
+        for ttl in (0, -1):
+            with self.assertRaises(ValueError):
+                Cache(2, ttl=ttl)
+
+
+class Forever(unittest.TestCase):
+    def test_without_one_nothing_dies(self):
+        cache = Cache(2)
+        cache.put("a", 1)
+        self.assertIn("a", cache)
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_ttl.py
git checkout HEAD -- tests run_tests.py
