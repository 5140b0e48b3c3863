#!/usr/bin/env bash
# Tries every interleaving of the ring's protocol, and that the model notices each ingredient that is taken away.
# Usage: ring_model.sh
set -euo pipefail
model=$(cd "$(dirname "$0")" && pwd)/ring.pml
command -v spin > /dev/null || { echo "skipped: spin is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# explore [WORD]: prints spin's errors and states
explore() {
  spin -a ${1:+-D$1} "$model" > spin.log || { cat spin.log; exit 1; }
  gcc -O2 -w -DSAFETY -DMEMLIM=2048 -o pan pan.c
  ./pan -m1000000 > pan.log
  sed -n 's/.*errors: \([0-9]*\).*/\1/p; s/^ *\([0-9.e+]*\) states, stored.*/\1 states/p' pan.log | tr '\n' ' '
}

failed=0
all=$(explore)
echo "the protocol: errors, states: $all"
[[ $all == 0\ * ]] || { echo "FAILED: the protocol has a counterexample"; failed=1; }
grep -q "max search depth too small" pan.log && { echo "FAILED: the search was cut"; failed=1; }
for word in NO_RELEASE NO_ACQUIRE LIMIT_BEFORE_READ PLAIN_RESERVE PLAIN_PUBLISH NESTED_PUBLISH STAMP_FIRST; do
  found=$(explore $word)
  echo "$word: errors, states: $found"
  [[ $found == 1\ * ]] || { echo "FAILED: the model does not notice $word"; failed=1; }
done
exit $failed
