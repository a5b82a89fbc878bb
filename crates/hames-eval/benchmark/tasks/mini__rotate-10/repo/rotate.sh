#!/bin/sh
# rotate.sh FILE [KEEP]: FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on; KEEP old ones stay [default: 3].

file=$1
keep=${2:-3}

n=$keep
while [ $n -gt 1 ]; do
    m=$((n - 1))
    [ -f $file.$m ] && mv $file.$m $file.$n
    n=$m
done
mv $file $file.1
: > $file
