# shellcheck shell=sh
. tests/run.sh

test_first() {
    echo one > log
    rotate log
    is log.1 one
    is log ""
}

test_second() {
    echo old > log.1
    echo new > log
    rotate log
    is log.1 new
    is log.2 old
}

test_default_is_three() {
    for n in 1 2 3; do echo $n > log.$n; done
    echo 0 > log
    rotate log
    is log.1 0
    is log.2 1
    is log.3 2
    [ ! -e log.4 ]
}

test_keep_one() {
    echo old > log.1
    echo new > log
    rotate log 1
    is log.1 new
    [ ! -e log.2 ]
}

test_gap() {
    echo two > log.2
    echo new > log
    rotate log
    is log.1 new
    is log.3 two
}

run_all tests/basic.sh
