#!/usr/bin/env bash
# The probe library as others use it: find_package, pkg-config, and as a subdirectory. Each builds both
# examples, with rings and as USDT only; they must run, also with their rings armed, and have their points.
# Usage: installed.sh SOURCE_DIR NOTE_CHECK
set -euo pipefail
source=$1 check=$2
examples=$source/probes/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# whole DIRECTORY: the four programs in it
whole() {
  local target language engines expected rings
  for target in probes usdt; do
    engines=both
    [ $target = probes ] || engines=usdt
    for language in c cpp; do
      for rings in off armed; do
        [ "$(SJ_RINGS=$rings "$1/$target-$language" 5)" = "5 packets, 510 bytes" ] \
          || { echo "FAILED: $1/$target-$language, rings $rings"; exit 1; }
      done
      expected=$(printf 'D example.%s|len:rnti:sn|4,2,4|pipeline.%s\n' \
        "in--example.tx" $language "tx--example.out" $language)
      diff <("$check" $engines "$1/$target-$language") - <<< "$expected" \
        || { echo "FAILED: the points of $1/$target-$language"; exit 1; }
    done
  done
}

# The command in docs/instrumenting.md, with another destination.
install=$(sed -n 's/^ *\(cmake -S sojourn -B build .*\)/\1/p' "$source/docs/instrumenting.md")
ln -s "$source" "$work/sojourn"
(cd "$work" && eval "${install/-B build/-B build -DCMAKE_INSTALL_PREFIX=\"$work/prefix\"}") > "$work/log"

cmake -S "$source/tests/probes/consumer" -B "$work/package" -G Ninja -DEXAMPLES="$examples" \
  -DCMAKE_PREFIX_PATH="$work/prefix" >> "$work/log"
cmake --build "$work/package" >> "$work/log"
whole "$work/package"
echo "find_package: both examples run"

cmake -S "$source/tests/probes/consumer" -B "$work/subdirectory" -G Ninja -DEXAMPLES="$examples" \
  -DSOJOURN_SOURCE="$source" >> "$work/log"
cmake --build "$work/subdirectory" >> "$work/log"
whole "$work/subdirectory"
echo "add_subdirectory: both examples run"

# Installed to one place and moved to another, as packages are.
mv "$work/prefix" "$work/moved"
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name sojourn.pc)")
export PKG_CONFIG_PATH
mkdir "$work/pkg-config"
for package in probes:sojourn usdt:sojourn-usdt; do
  flags=$(pkg-config --cflags --libs "${package#*:}")
  program=$work/pkg-config/${package%:*}
  # shellcheck disable=SC2086  # flags are words
  gcc -std=c11 -pthread "$examples/pipeline.c" -o "$program-c" $flags
  # shellcheck disable=SC2086
  g++ -std=c++17 -pthread "$examples/pipeline.cpp" -o "$program-cpp" $flags
done
whole "$work/pkg-config"
echo "pkg-config: both examples run"
