#!/usr/bin/env bash
# Others read the same points: bpftrace and perf find them, gdb reads their values at a hit.
# Usage: readers.sh SUBJECT_VALUES
set -euo pipefail
subject=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

expect() { grep -qE "$2" "$work/log" || { echo "FAILED: $1: no '$2' in:"; cat "$work/log"; failures=$((failures + 1)); }; }
have() { command -v "$1" > /dev/null || { echo "skipped: $1 is not installed"; return 1; }; }

if have bpftrace; then
  if [ "$(id -u)" = 0 ]; then
    bpftrace -l "usdt:$subject:*" > "$work/log" 2>&1
    expect "bpftrace -l" 'sojourn:D_values_few__values_out_L[0-9]+$'
    expect "bpftrace -l" 'sojourn:U_values_many__values_out_L[0-9]+$'
  else
    echo "skipped: bpftrace wants root"
  fi
fi

if have perf; then
  HOME=$work perf buildid-cache --add "$subject"
  HOME=$work perf list sdt > "$work/log" 2>&1
  expect "perf list" 'sdt_sojourn:D_values_few__values_out_L[0-9]+'
  expect "perf list" 'sdt_sojourn:U_values_many__values_out_L[0-9]+'
fi

if have gdb; then
  commands=(-ex 'break -probe-stap sojourn:U_values_many__values_out_L'"$(
      grep -n 'U values.many' "$(dirname "$0")/subjects/values.c" | cut -d: -f1)" -ex run)
  for argument in 0 1 2 3 4 5 6 8 9 10 11; do
    commands+=(-ex "printf \"argument $argument is %ld\\n\", (long)\$_probe_arg$argument")
  done
  if gdb -nx -q -batch "${commands[@]}" -ex 'print $_probe_argc' --args "$subject" 10 > "$work/log" 2>&1 \
     && ! grep -q 'ptrace: Operation not permitted' "$work/log"; then
    argument=0
    for value in -100 17921 -2000000000 -81985529216486896 -5000000000 6 7 '' -100 17921 -2000000000 -81985529216486896; do
      [ -z "$value" ] || expect gdb "^argument $argument is $value\$"
      argument=$((argument + 1))
    done
    expect gdb '= 12$'
  else
    echo "skipped: gdb may not trace here"
  fi
fi
[ "$failures" = 0 ]
