#!/usr/bin/env bash
# Builds the ring tests for arm64 and runs them under emulation. An emulator keeps the memory order of the machine
# that it runs on, so this shows that the code is right, not that its ordering is: ring.pml is for that.
# Usage: arm64.sh SOURCE_DIR TEST...
set -euo pipefail
source=$1
shift
command -v aarch64-linux-gnu-g++ qemu-aarch64 > /dev/null || { echo "skipped: no arm64 compiler or emulator"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
include=(-DSJ_RINGS -I"$source" -I"$source/probes/include")
aarch64-linux-gnu-gcc -O2 -std=gnu11 "${include[@]}" -c $(find "$source/probes/src" -name '*.c' ! -name ring_slow.c)
aarch64-linux-gnu-gcc -O2 -std=gnu11 -mgeneral-regs-only "${include[@]}" -c "$source/probes/src/ring_slow.c"
aarch64-linux-gnu-g++ -O2 -std=c++23 "${include[@]}" -static -o rings-test "$source/tests/probes/rings/rings_test.cpp" *.o -pthread
failed=0
for test in "$@"; do
  status=0
  SJ_EMULATED=1 qemu-aarch64 ./rings-test "$test" || status=$?
  [ $status = 0 ] && echo "passed: $test"
  [ $status = 0 ] || [ $status = 77 ] || { echo "FAILED: $test"; failed=1; }
done
exit $failed
