#!/usr/bin/env bash
# The last events of a target that crashes or is killed: in a named ring file, and in a core file.
# And a target goes on if it cannot have rings. Usage: aftermath.sh SUBJECT RECOVER
set -euo pipefail
subject=$1 recover=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
expect() { # expect WORDS PATTERN TEXT
  [[ $3 =~ $2 ]] && echo "$1: $3" || fail "$1: $3"
}

mkdir rings
export SJ_RING_DIR=$work/rings
for ending in kill abort exit; do
  rm -f rings/*
  (SJ_RINGS=flight "$subject" 100000 $ending) > /dev/null 2>&1 || true
  file=(rings/*)
  [ ${#file[@]} = 1 ] || fail "$ending: not one ring file"
  [ "$(stat -c %a "${file[0]}")" = 600 ] || fail "$ending: the ring file's mode"
  expect "flight recorder, $ending" '^kept [0-9]{4,} last 99999$' "$("$recover" "${file[0]}")"
done
rm -f rings/*
(SJ_RINGS=armed "$subject" 1000 kill) > /dev/null 2>&1 || true
expect "stop when full, kill" '^kept 1000 last 999$' "$("$recover" rings/*)"
unset SJ_RING_DIR

if [ "$(cat /proc/sys/kernel/core_pattern)" = core ]; then
  (ulimit -c unlimited; SJ_RINGS=flight "$subject" 100000 abort) > /dev/null 2>&1 || true
  core=(core*)
  expect "core file" '^kept [0-9]{4,} last 99999$' "$("$recover" "${core[0]}")"
  # The arena reserves gigabytes of addresses, but only used memory may be in a core.
  [ "$(stat -c %s "${core[0]}")" -lt 100000000 ] || fail "a core file of $(stat -c %s "${core[0]}") bytes"
else
  echo "skipped: the kernel sends cores to '$(cat /proc/sys/kernel/core_pattern)', not to a file"
fi

# No memory file, no room for it, a directory that is not there: the program runs as if it had no rings.
(ulimit -f 100; SJ_RINGS=armed "$subject" 1000 exit) || fail "with a limit on file sizes"
(ulimit -v 1000000; SJ_RINGS=armed "$subject" 1000 exit) || fail "with a limit on addresses"
SJ_RINGS=armed SJ_RING_DIR=$work/nowhere "$subject" 1000 exit || fail "with a directory that does not exist"
SJ_RINGS=off "$subject" 1000 exit || fail "with rings switched off"
SJ_RINGS=armed SJ_RING_BYTES=nonsense SJ_RING_MEMORY=1 "$subject" 1000 exit || fail "with settings that make no sense"
# Real-time programs lock their memory: that must not fill the addresses that rings only reserve.
locked_kib=$(SJ_RINGS=armed "$subject" 1000 lock)
echo "resident after mlockall: $locked_kib KiB"
[ "$locked_kib" -lt 40000 ] || fail "mlockall() filled $locked_kib KiB"
exit $((failures != 0))
