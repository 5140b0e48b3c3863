#!/usr/bin/env bash
# The cost of an untraced point, read from the assembly: from a function's entry to its first return
# there is one load for each engine's flag, one branch, and nothing else of the point.
# Usage: assembly.sh INCLUDE_DIR SUBJECT_REDZONE
set -euo pipefail
include=$1 redzone=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# A command at the end of a pipe must read all of it: otherwise the pipe fails as a whole.
# function file: its instructions, one a line, without addresses
instructions() { ${objdump:-objdump} -d --no-show-raw-insn --disassemble="$1" "$2" | sed -n 's/^ *[0-9a-f]*:\t//p'; }
until_return() { instructions "$@" | awk '!done; /^ret/ {done = 1}'; }
count() { grep -cE "$1" <<< "$hot" || true; }

# engines: as build_matrix.sh calls them
defines() { case $1 in both) echo -DSJ_RINGS ;; rings) echo -DSJ_RINGS -DSJ_NO_USDT ;; none) echo -DSJ_DISABLE_POINTS ;; esac; }

# compiler engines loads load join branch more: the functions of leaf.c
check_leaf() {
  local compiler=$1 engines=$2 loads=$3 load=$4 join=$5 branch=$6 more=$7 plain_length function
  # shellcheck disable=SC2046,SC2086  # options are words
  $compiler -O2 $(defines "$engines") -I"$include" -c "$here/subjects/leaf.c" -o "$work/leaf.o"
  # shellcheck disable=SC2046,SC2086
  $compiler -O2 $(defines none) -I"$include" -c "$here/subjects/leaf.c" -o "$work/plain.o"
  for function in leaf_with_point leaf_with_many; do
    plain_length=$(until_return "$function" "$work/plain.o" | wc -l)
    hot=$(until_return "$function" "$work/leaf.o")
    [ "$(count "$load")" = "$loads" ] || fail "$compiler $engines $function: not $loads loads"
    [ "$(count "$join")" = $((loads - 1)) ] || fail "$compiler $engines $function: flags are not OR-ed"
    [ "$(count "$branch")" = 1 ] || fail "$compiler $engines $function: not one branch"
    [ "$(count 'push|call|^bl|nop|\(%rsp\)|\[sp')" = 0 ] || fail "$compiler $engines $function: a frame, a call or a nop"
    [ "$(wc -l <<< "$hot")" -le $((plain_length + more)) ] || fail "$compiler $engines $function: more than the test"
    [ "$engines" = rings ] || instructions "$function" "$work/leaf.o" | grep '^nop$' > /dev/null \
      || fail "$compiler $engines $function: lost its site"
    ! instructions "$function" "$work/plain.o" | grep -E '^nop$|cmpw|movzwl|ldrh' > /dev/null \
      || fail "$compiler $function: disabled, yet there"
    printf '%s, %s, %s:\n%s\n' "$compiler" "$engines" "$function" "$hot"
  done
  # In a loop as well the branch is not taken while nobody is attached (read on x86-64).
  hot=$(instructions loop_with_point "$work/leaf.o" | grep -A1 -E '^(or|cmpw +\$0x0,) *.*\(%rip\)' || true)
  [ "$(count '^je ')" = 0 ] || fail "$compiler $engines loop_with_point: jumps in every turn"
}

# A thread's next instruction shows how far it has come in a hit.
# userspace/capture/records/hit_code.cpp has the distances from the instruction whose address is the
# record's id (x86-64).
# compiler: the code that check_leaf has left
check_hit_code() {
  local at code stamps=0 hits=0 stamp=0 takes=0
  while IFS=$'\t' read -r at code; do
    at=$((16#$(tr -d ' :' <<< "$at")))
    case $code in
      rdtsc*) stamps=$((stamps + 1)) stamp=$((at + 2)) takes=0 ;;
      cmpxchg*) [ "$takes" != 0 ] || takes=$at ;;
      'lea '*'-0x7(%rip),%rdx'*)
        hits=$((hits + 1))
        [ $((at - takes)) = 35 ] || fail "$1: a hit takes its place $((at - takes)) bytes before its id"
        case $((takes - stamp)) in 11 | 14) ;; *) fail "$1: $((takes - stamp)) bytes from stamp to place" ;; esac ;;
    esac
  done < <(objdump -d --no-show-raw-insn "$work/leaf.o" | grep -P '^ *[0-9a-f]+:\t')
  [ "$hits" -gt 1 ] && [ "$hits" = "$stamps" ] || fail "$1: $hits of $stamps hits are as they should be"
}

# One move more than the test is allowed: for a value whose register the cold block uses.
for compiler in gcc clang clang-19; do
  command -v $compiler > /dev/null || { echo "skipped: $compiler is not installed"; continue; }
  check_leaf $compiler usdt 1 '^cmpw +\$0x0,.*\(%rip\)' '^or ' '^j(ne|e) ' 3
  check_leaf $compiler rings 1 '^cmpw +\$0x0,.*\(%rip\)' '^or ' '^j(ne|e) ' 3
  check_leaf $compiler both 2 '^(movzwl|or) .*\(%rip\)' '^or .*\(%rip\)' '^j(ne|e) ' 4
  check_hit_code $compiler
done
if command -v aarch64-linux-gnu-gcc > /dev/null; then
  objdump=aarch64-linux-gnu-objdump
  check_leaf aarch64-linux-gnu-gcc usdt 1 '^ldrh' '^orr' '^cbn?z' 4
  check_leaf aarch64-linux-gnu-gcc both 2 '^ldrh' '^orr' '^cbn?z' 7
  objdump=
else
  echo "skipped: arm64, there is no cross compiler"
fi

# The red-zone test is only valid while its leaf keeps values below rsp, down to the zone's end, and
# calls nobody that would write there. The slow path of the ring engine is behind a lea that steps over them.
hot=$(instructions leaf "$redzone")
[ "$(count ',-0x7[08]\(%rsp')" -gt 0 ] || fail "the red-zone subject does not use all of the zone below its stack pointer"
[ "$(count '^nop$')" -gt 0 ] || fail "the red-zone subject lost its site"
[ "$(count '^call.*<sj_ring_slow>')" -gt 0 ] || fail "the red-zone subject has no ring engine"
hot=$(sed '/^lea .*-0x80(%rsp),%rsp/,/^lea .*0x88(%rsp),%rsp/d' <<< "$hot")
[ "$(count '^call')" = 0 ] || fail "the red-zone subject calls a function"

[ "$failures" = 0 ]
