#!/bin/bash
set -uxo pipefail
cd /testbed
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
git status
git show --stat
git diff HEAD
git checkout HEAD -- tests
rm -rf -- tests/careful.sh
git apply -v - <<'EOF_114329324912'
diff --git a/tests/careful.sh b/tests/careful.sh
new file mode 100644
index 0000000..70acd77
--- /dev/null
+++ b/tests/careful.sh
@@ -0,0 +1,67 @@
+# shellcheck shell=sh
+. tests/run.sh
+
+test_space() {
+    echo one > "a log"
+    rotate "a log"
+    is "a log.1" one
+}
+
+test_star() {
+    echo other > axb
+    echo one > "a*b"
+    rotate "a*b"
+    is "a*b.1" one
+    is axb other
+}
+
+test_dash() {
+    echo one > ./-f
+    echo old > ./-f.1
+    rotate -f
+    is -f.1 one
+    is -f.2 old
+}
+
+test_open_file() {
+    exec 3>> log
+    echo before >&3
+    rotate log
+    echo after >&3
+    is log.1 before
+    is log after
+}
+
+test_empty() {
+    : > log
+    echo old > log.1
+    rotate log
+    is log.1 old
+    [ ! -e log.2 ]
+    rotate missing
+    [ ! -e missing ]
+}
+
+test_keep_none() {
+    echo one > log
+    rotate log 0
+    is log ""
+    [ ! -e log.1 ]
+}
+
+status() {
+    "$@" 2> error && echo 0 || echo $?
+}
+
+test_usage() {
+    echo one > log
+    for keep in many -1 2x; do
+        [ "$(status rotate log "$keep")" = 2 ]
+        is log one
+    done
+    [ "$(status rotate log 1 2)" = 2 ]
+    [ "$(status rotate)" = 2 ]
+    grep -q usage error
+}
+
+run_all tests/careful.sh
EOF_114329324912
: '>>>>> Start Test Output'
(sh tests/basic.sh; basic=$?; sh tests/careful.sh && exit $basic)
: '>>>>> End Test Output'
rm -rf -- tests/careful.sh
git checkout HEAD -- tests
