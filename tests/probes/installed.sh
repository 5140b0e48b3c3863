#!/usr/bin/env bash
# The probe headers as others use them: find_package, pkg-config, and as a subdirectory. Each builds both
# examples, which must run and have their points.
# Usage: installed.sh SOURCE_DIR NOTE_CHECK
set -euo pipefail
source=$1 check=$2
examples=$source/probes/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

whole() {
  local program=$1 suffix=$2 expected
  [ "$("$program" 5)" = "5 packets, 510 bytes" ] || { echo "FAILED: $program"; exit 1; }
  expected=$(printf 'D example.%s|len:rnti:sn|4,2,4|pipeline.%s\n' "in--example.tx" "$suffix" "tx--example.out" "$suffix")
  diff <("$check" both "$program") - <<< "$expected" || { echo "FAILED: the points of $program"; exit 1; }
}

cmake -S "$source" -B "$work/sojourn" -G Ninja -DSOJOURN_TRACER=OFF -DSOJOURN_TESTS=OFF \
  -DCMAKE_INSTALL_PREFIX="$work/prefix" > "$work/log"
cmake --build "$work/sojourn" --target install >> "$work/log"

cmake -S "$source/tests/probes/consumer" -B "$work/package" -G Ninja -DEXAMPLES="$examples" \
  -DCMAKE_PREFIX_PATH="$work/prefix" >> "$work/log"
cmake --build "$work/package" >> "$work/log"
for language in c cpp; do whole "$work/package/pipeline-$language" $language; done
echo "find_package: both examples run"

cmake -S "$source/tests/probes/consumer" -B "$work/subdirectory" -G Ninja -DEXAMPLES="$examples" \
  -DSOJOURN_SOURCE="$source" >> "$work/log"
cmake --build "$work/subdirectory" >> "$work/log"
for language in c cpp; do whole "$work/subdirectory/pipeline-$language" $language; done
echo "add_subdirectory: both examples run"

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name sojourn.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # flags are words
gcc -std=c11 -pthread "$examples/pipeline.c" -o "$work/pipeline-c" $(pkg-config --cflags --libs sojourn)
# shellcheck disable=SC2046
g++ -std=c++17 -pthread "$examples/pipeline.cpp" -o "$work/pipeline-cpp" $(pkg-config --cflags --libs sojourn)
for language in c cpp; do whole "$work/pipeline-$language" $language; done
echo "pkg-config: both examples run"
