#!/usr/bin/env bash
# Rings armed from the start, without a reader: the subject must not be harmed, and each hit is in a
# ring or counted as lost; a flight recorder loses none and has the newest.
# Usage: armed.sh SUBJECT RING_DUMP armed|flight POINT
set -euo pipefail
subject=$1 dump=$2 mode=$3 point=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; cat "$work"/{subject,count}; exit 1; }
number() { sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" "$2"; }

mkdir "$work/rings"
SJ_RINGS=$mode SJ_RING_BYTES=16K SJ_RING_DIR=$work/rings "$subject" 2 | tail -n 1 > "$work/subject"
"$dump" "$subject" "$work"/rings/* --count > "$work/count"
hits=$(number armed "$work/subject")
children=$(number children "$work/subject")
# Each child hits its point a hundred times.
[ -z "$children" ] || hits=$((hits + 100 * children))
points=$(grep -c recorded= "$work/count")
recorded=$(($(number recorded "$work/count" | paste -sd+)))
lost=$(number lost "$work/count")
[ "$hits" -gt 0 ] || fail "no hits"
if [ "$mode" = armed ]; then
  [ $((recorded + lost)) = $((points * hits)) ] || fail "$recorded recorded and $lost lost of $points times $hits"
else
  [ "$lost" = 0 ] || fail "$lost lost"
  # Its first value counts the hits.
  [ -n "$children" ] || "$dump" "$subject" "$work"/rings/* | grep "^$point|" | tail -n 1 | grep -qw "$hits" \
    || fail "the newest hit is not there"
fi
cat "$work/subject" "$work/count"
