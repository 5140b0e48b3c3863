#!/usr/bin/env bash
# What a point costs while nobody is attached, read from the assembly: from a function's entry to its first
# return there is one cmpw of the semaphore, one branch, and nothing else that the point brought.
# Usage: assembly.sh INCLUDE_DIR SUBJECT_REDZONE
set -euo pipefail
include=$1 redzone=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# function file: its instructions, one a line, without addresses
instructions() { ${objdump:-objdump} -d --no-show-raw-insn --disassemble="$1" "$2" | sed -n 's/^ *[0-9a-f]*:\t//p'; }
until_return() { instructions "$@" | sed '/^ret/q'; }
count() { grep -cE "$1" <<< "$hot" || true; }

# compiler test branch : the two functions of leaf.c
check_leaf() {
  local compiler=$1 test=$2 branch=$3 plain_length
  # shellcheck disable=SC2086  # a compiler may bring options of its own
  $compiler -O2 -I"$include" -c "$here/subjects/leaf.c" -o "$work/leaf.o"
  # shellcheck disable=SC2086
  $compiler -O2 -I"$include" -DSJ_DISABLE_POINTS -c "$here/subjects/leaf.c" -o "$work/plain.o"
  for function in leaf_with_point leaf_with_many; do
    plain_length=$(until_return "$function" "$work/plain.o" | wc -l)
    hot=$(until_return "$function" "$work/leaf.o")
    [ "$(count "$test")" = 1 ] || fail "$compiler $function: not one test of the semaphore"
    [ "$(count "$branch")" = 1 ] || fail "$compiler $function: not one branch"
    [ "$(count 'push|call|^bl|nop|\(%rsp\)|\[sp')" = 0 ] || fail "$compiler $function: a frame, a call or a nop"
    [ "$(wc -l <<< "$hot")" -le $((plain_length + $4)) ] || fail "$compiler $function: more than the test"
    instructions "$function" "$work/leaf.o" | grep -q '^nop$' || fail "$compiler $function: lost its site"
    ! instructions "$function" "$work/plain.o" | grep -qE '^nop$|cmpw' || fail "$compiler $function: disabled, yet there"
    printf '%s %s:\n%s\n' "$compiler" "$function" "$hot"
  done
}

for compiler in gcc clang clang-19; do
  command -v $compiler > /dev/null || { echo "skipped: $compiler is not installed"; continue; }
  check_leaf $compiler '^cmpw +\$0x0,.*\(%rip\)' '^j(ne|e) ' 2
done
if command -v aarch64-linux-gnu-gcc > /dev/null; then
  objdump=aarch64-linux-gnu-objdump check_leaf aarch64-linux-gnu-gcc '^ldrh' '^cbn?z' 3
else
  echo "skipped: arm64, there is no cross compiler"
fi

# The red-zone test means something only while its leaf keeps values below rsp and has no frame.
hot=$(instructions leaf "$redzone")
[ "$(count ',-0x[0-9a-f]+\(%rsp')" -gt 0 ] || fail "the red-zone subject keeps nothing below its stack pointer"
[ "$(count '^push|^sub .*,%rsp|^call')" = 0 ] || fail "the red-zone subject has a frame"
[ "$(count '^nop$')" -gt 0 ] || fail "the red-zone subject lost its site"

[ "$failures" = 0 ]
