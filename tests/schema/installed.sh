#!/usr/bin/env bash
# sojourn_schema as others use it: from the installed package, with ninja and with make, in parallel builds.
# Usage: installed.sh SOURCE_DIR SOJOURN
set -euo pipefail
source=$1 sojourn=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

build() { cmake --build "$work/$1" -j2 > "$work/log" 2>&1 || { cat "$work/log"; fail "the build with $1"; }; }

compiles() { grep -c 'Building CX\?X\? \?object\|Building C' "$work/log" || true; }

# The headers' half of an installation, and the program of this build beside it.
cmake -S "$source" -B "$work/sojourn" -G Ninja -DSOJOURN_TRACER=OFF -DSOJOURN_TESTS=OFF \
  -DCMAKE_INSTALL_PREFIX="$work/prefix" > "$work/log"
cmake --build "$work/sojourn" --target install >> "$work/log"
cp -r "$source/tests/schema/consumer" "$work/consumer"

# Without a program there is one clear error. PATH keeps what cmake and the compilers need.
if cmake -S "$work/consumer" -B "$work/without" -DCMAKE_PREFIX_PATH="$work/prefix" \
     -DCMAKE_IGNORE_PREFIX_PATH=/usr/local > "$work/log" 2>&1; then
  fail "a schema was accepted without a program to compile it"
fi
[[ $(tr -s ' \n' ' ' < "$work/log") == *'there is no `sojourn` program to compile the schema with'* ]] \
  || { cat "$work/log"; fail "no word of the missing program"; }

mkdir -p "$work/prefix/bin"
cp "$sojourn" "$work/prefix/bin/sojourn"

for generator in Ninja "Unix Makefiles"; do
  cmake -S "$work/consumer" -B "$work/$generator" -G "$generator" \
    -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/log"
  build "$generator"
  for language in c cpp; do
    "$work/$generator/fires-$language" || fail "fires-$language"
    "$sojourn" list "$work/$generator/fires-$language" 2> "$work/log" > /dev/null
    grep -q '^4 points at' "$work/log" || fail "the points of fires-$language"
  done

  # A comment in the schema changes no output, so nothing is compiled.
  sleep 1
  echo '// a comment' >> "$work/consumer/radio.pleco"
  build "$generator"
  grep -q 'Compiling schema radio for fires-c' "$work/log" || fail "$generator: a changed schema is not compiled"
  [ "$(compiles)" = 0 ] || { cat "$work/log"; fail "$generator: compiled again for a comment"; }
  build "$generator"
  ! grep -q 'Compiling schema' "$work/log" || fail "$generator: a schema that did not change is compiled again"

  # A text is in the header.
  sleep 1
  sed -i "s/A slot begins.*\"/A slot begins, says $RANDOM\"/" "$work/consumer/radio.pleco"
  build "$generator"
  [ "$(compiles)" = 2 ] || { cat "$work/log"; fail "$generator: the programs are not compiled with the new header"; }
  echo "$generator: programs are built, and built again when the schema changes"
done

echo 'subsystem' >> "$work/consumer/radio.pleco"
if cmake --build "$work/Ninja" > "$work/log" 2>&1; then fail "a wrong schema was built"; fi
grep -q 'radio.pleco:[0-9]*:[0-9]*: expected the name of a subsystem' "$work/log" || fail "no word of what is wrong"
echo "a wrong schema ends the build with its place"
