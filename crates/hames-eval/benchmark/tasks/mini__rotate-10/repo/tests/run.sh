# A test is a function called test_*; it fails if a command of it fails. One line is printed for each.
# usage: . tests/run.sh; run_all NAME "$0"

root=$PWD

run_one() {
    (
        set -eu
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        cd "$folder"
        "$1"
    ) >/dev/null 2>&1
}

run_all() {
    failed=0
    for name in $(sed -n 's/^\(test_[a-z0-9_]*\)() {.*/\1/p' "$1"); do
        # Not as a condition: there, `set -e` would be ignored.
        run_one "$name"
        if [ $? -eq 0 ]; then
            echo "PASSED $1::$name"
        else
            echo "FAILED $1::$name"
            failed=1
        fi
    done
    return $failed
}

rotate() {
    sh "$root/rotate.sh" "$@"
}

is() {
    [ "$(cat -- "$1")" = "$2" ]
}
