#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests run_tests.py
rm -rf -- tests/test_weltweit.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_weltweit.py b/tests/test_weltweit.py
new file mode 100644
index 0000000..b6b07b0
--- /dev/null
+++ b/tests/test_weltweit.py
@@ -0,0 +1,33 @@
+import os
+import tempfile
+import unicodedata
+import unittest
+
+from gruss import gruss, rahmen
+
+
+class Weltweit(unittest.TestCase):
+    def test_日本語(self):
+        self.assertEqual(gruss("日本語"), "こんにちは")
+
+    def test_breite_zeichen(self):
+        self.assertEqual(rahmen("日本"), "┌──────┐\n│ 日本 │\n└──────┘\n")
+
+    def test_zeichen_ohne_breite(self):
+        zerlegt = unicodedata.normalize("NFD", "äö")
+        self.assertEqual(rahmen(zerlegt), "┌────┐\n│ %s │\n└────┘\n" % zerlegt)
+
+    def test_zerlegt_und_zusammengesetzt(self):
+        for form in ("NFC", "NFD"):
+            self.assertEqual(gruss(unicodedata.normalize(form, "Türkçe")), "Günaydın")
+
+    def test_groß_und_klein(self):
+        self.assertEqual(gruss("DEUTSCH"), "Grüß Gott")
+        self.assertEqual(gruss("WEISS"), "weiße Grüße")
+
+    def test_byte_order_mark(self):
+        with tempfile.TemporaryDirectory() as ordner:
+            pfad = os.path.join(ordner, "größe.txt")
+            with open(pfad, "w", encoding="utf-8-sig") as datei:
+                datei.write("eins = 1\nzwei = 2\n")
+            self.assertEqual(gruss("eins", pfad), "1")
EOF_114329324912
: '>>>>> Start Test Output'
python3 run_tests.py
: '>>>>> End Test Output'
rm -rf -- tests/test_weltweit.py
git checkout HEAD -- tests run_tests.py
