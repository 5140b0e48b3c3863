#!/usr/bin/env bash
# The ring's ordering under the thread sanitizer; and that it complains where the release is left away.
# Usage: tsan.sh SOURCE_DIR
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
include=(-DSJ_RINGS -I"$source" -I"$source/probes/include")
gcc -O2 -std=gnu11 "${include[@]}" -c $(find "$source/probes/src" -name '*.c' ! -name ring_slow.c)
gcc -O2 -std=gnu11 -mgeneral-regs-only "${include[@]}" -c "$source/probes/src/ring_slow.c"
build() { g++ -g -O1 -std=c++23 -fsanitize=thread "${include[@]}" "$@" "$source/tests/probes/rings/tsan_test.cpp" ./*.o; }

build -o ordered
./ordered || { echo "FAILED: a race, or hits that are neither kept nor lost"; exit 1; }
build -DSJ_FORGET_RELEASE -o forgotten
if ./forgotten > forgotten.log 2>&1; then echo "FAILED: the sanitizer sees no race without the release"; exit 1; fi
grep -q "ThreadSanitizer: data race" forgotten.log || { cat forgotten.log; exit 1; }
echo "without the release: a data race, as it should be"
