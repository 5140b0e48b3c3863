#!/usr/bin/env bash
# A real uprobe on a subject that runs. The subject must not be harmed and the values must arrive.
# Usage: traced.sh SUBJECT POINT_GLOB HITS EXPECTED [ACTION]
# EXPECTED: a regular expression for a line that the subject or the ACTION of bpftrace's first hit prints.
# Runs until bpftrace has seen HITS hits; then the subject's exit code says whether it was harmed.
set -euo pipefail
subject=$1 glob=$2 hits=$3 expected=$4 action=${5:-}

[ "$(id -u)" = 0 ] || { echo "skipped: a uprobe needs root"; exit 77; }
command -v bpftrace > /dev/null || { echo "skipped: bpftrace is not installed"; exit 77; }
# bpftrace 0.17 wants tracefs. In a mount namespace of our own: the machine stays as it was.
if [ -z "${SJ_TRACED_INSIDE:-}" ]; then
  SJ_TRACED_INSIDE=1 exec unshare --mount "$0" "$@"
fi
[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing \
  || { echo "skipped: tracefs cannot be mounted"; exit 77; }

work=$(mktemp -d)
pid=
cleanup() { [ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

"$subject" 60 > "$work/subject" &
pid=$!
until grep -q '^ready' "$work/subject"; do sleep 0.05; done

timeout 50 bpftrace -p "$pid" -e "usdt:$subject:sojourn:$glob {
  if (@hits == 0) { ${action:-@first = 1;} }
  @hits++; if (@hits >= $hits) { exit(); } }" > "$work/bpftrace" 2> "$work/errors" || true
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
pid=
tail -n 1 "$work/subject"
seen=$(sed -n 's/^@hits: //p' "$work/bpftrace")
[ "$status" = 0 ] || { echo "FAILED: the subject was harmed, exit code $status"; exit 1; }
[ "${seen:-0}" -ge "$hits" ] || { echo "FAILED: bpftrace saw ${seen:-no} hits:"; cat "$work/errors" "$work/bpftrace"; exit 1; }
grep -qE "$expected" "$work/subject" "$work/bpftrace" || { echo "FAILED: no '$expected' in:"; cat "$work/subject" "$work/bpftrace"; exit 1; }
echo "bpftrace saw $seen hits, the subject is unharmed"
