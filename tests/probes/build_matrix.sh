#!/usr/bin/env bash
# Builds the `forms` program with every compiler, standard and way of linking that is here, runs it, and
# compares its points with what they must be: neither the optimiser nor the linker may lose or change one.
# Usage: build_matrix.sh NOTE_CHECK INCLUDE_DIR native|arm64
set -euo pipefail
check=$1 include=$2 machine=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings=(-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror)
run=() builds=0 failures=0

have() { command -v "$1" >/dev/null; }

skip() { echo "skipped: $*"; }

# In a function that nobody calls: here or not, depending on the linker.
dead_point="D forms.dead--forms.end"
# An unsigned bit-field of C keeps its declared type in clang, gcc promotes it to int. Its value fits both.
bit_field='/^I forms.bits--/s/|4,-4,1,/|-4,-4,1,/'

# build LANGUAGE COMPILER FLAGS...: one build of the program. POST: a command for the finished file.
build() {
  local language=$1 compiler=$2; shift 2
  local name="$compiler $* ${POST:-}" program=$work/forms expected=forms.c.expected
  [ "$language" = c ] || expected=forms.cxx.expected
  builds=$((builds + 1))
  # shellcheck disable=SC2086  # a compiler may bring options of its own
  if ! { $compiler -x "$language" "${warnings[@]}" -I"$include" "$@" "$here/subjects/forms.c" \
           "$here/subjects/forms_other.c" -o "$program" \
         && ${POST:-true} "$program" \
         && "${run[@]}" "$program" \
         && "$check" "$program" "$dead_point" > "$work/all" \
         && sed -e "/^$dead_point|/d" -e "$bit_field" "$work/all" > "$work/points" \
         && diff "$here/$expected" "$work/points"; } > "$work/log" 2>&1; then
    failures=$((failures + 1))
    echo "FAILED: $name"
    sed 's/^/    /' "$work/log" | head -20
  fi
}

# A shared library: nothing to run, all functions are kept.
build_library() {
  local compiler=$1; shift
  builds=$((builds + 1))
  if ! { $compiler "${warnings[@]}" -I"$include" -O2 -fPIC -shared "$@" "$here/subjects/forms_other.c" \
           -o "$work/libforms.so" && strip "$work/libforms.so" && "$check" "$work/libforms.so" > "$work/points" \
         && grep -q '^D forms.dead--forms.end|value::|-4|forms_other.c$' "$work/points" \
         && ! readelf -dW "$work/libforms.so" | grep -q TEXTREL; } > "$work/log" 2>&1; then
    failures=$((failures + 1))
    echo "FAILED: $compiler -shared"
    sed 's/^/    /' "$work/log" | head -20
  fi
}

# SJ_DISABLE_POINTS leaves no trace and no warning.
build_without_points() {
  local language=$1 compiler=$2
  builds=$((builds + 1))
  # shellcheck disable=SC2086
  if ! { $compiler -x "$language" "${warnings[@]}" -I"$include" -O2 -DSJ_DISABLE_POINTS \
           "$here/subjects/forms.c" "$here/subjects/forms_other.c" -o "$work/forms" \
         && "$work/forms" && ! readelf -SW "$work/forms" | grep -E '\.note\.(sojourn|stapsdt)|\.probes'; } > "$work/log" 2>&1; then
    failures=$((failures + 1))
    echo "FAILED: $compiler -DSJ_DISABLE_POINTS"
    sed 's/^/    /' "$work/log" | head -20
  fi
}

# shellcheck disable=SC2054  # a comma of the linker's option
drop_dead_code=(-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections)

native_ways() {
  local language=$1 compiler=$2
  for level in -O0 -O1 -O3 -Os "-O2 -fno-inline" "-O3 -funroll-loops"; do
    # shellcheck disable=SC2086  # two options in one word
    build "$language" "$compiler" $level
  done
  build "$language" "$compiler" -O2 -g -fPIC
  build "$language" "$compiler" -O0 -fPIC -fno-omit-frame-pointer
  build "$language" "$compiler" -O2 -fno-pie -no-pie
  build "$language" "$compiler" -O1 -fsanitize=address,undefined
  build "$language" "$compiler" -O2 -static
  build "$language" "$compiler" -O2 -static-pie
  build "$language" "$compiler" "${drop_dead_code[@]}"
  POST="strip" build "$language" "$compiler" -O2
  POST="strip" build "$language" "$compiler" "${drop_dead_code[@]}" -static-pie
  if have ld.lld; then
    build "$language" "$compiler" "${drop_dead_code[@]}" -fuse-ld=lld
  else
    skip "linking with lld: ld.lld is not installed"
  fi
}

native() {
  for compiler in gcc clang clang-19; do
    have "$compiler" || { skip "$compiler is not installed"; continue; }
    for standard in c11 gnu17; do build c "$compiler" -O2 -std=$standard; done
    native_ways c "$compiler"
    build_without_points c "$compiler"
    build_library "$compiler"
  done
  for compiler in g++ clang++ clang++-19; do
    have "$compiler" || { skip "$compiler is not installed"; continue; }
    for standard in c++17 c++20 c++2b; do build c++ "$compiler" -O2 -std=$standard; done
    native_ways c++ "$compiler -std=c++17"
    build_without_points c++ "$compiler -std=c++17"
  done
  for flto in "-flto" "-flto=auto -ffat-lto-objects" "-flto -static-pie"; do
    # shellcheck disable=SC2086
    build c gcc -O2 $flto
    # shellcheck disable=SC2086
    build c++ g++ -O2 $flto
  done
  # An object of bitcode needs the linker of its own LLVM.
  for version in "" -19; do
    if have clang$version && have ld.lld$version; then
      build c clang$version -O2 -flto -fuse-ld=lld$version
      build c++ clang++$version -O2 -std=c++17 -flto -fuse-ld=lld$version
    else
      skip "clang$version -flto: clang$version or ld.lld$version is not installed"
    fi
  done
}

arm64() {
  have qemu-aarch64 || { skip "arm64: qemu-aarch64 is not installed"; exit 77; }
  have aarch64-linux-gnu-g++ || { skip "arm64: no cross compiler"; exit 77; }
  run=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
  for level in -O0 -O2 "-O2 -static" "-Os -fno-pie -no-pie" "-O2 -flto" "${drop_dead_code[*]}"; do
    # shellcheck disable=SC2086
    build c aarch64-linux-gnu-gcc $level -std=c11
    # shellcheck disable=SC2086
    build c++ aarch64-linux-gnu-g++ $level -std=c++17
  done
  for compiler in clang clang-19; do
    have "$compiler" || { skip "$compiler is not installed"; continue; }
    for level in -O0 -O2 "-O2 -static" "-O2 -fPIC"; do
      # shellcheck disable=SC2086
      build c "$compiler --target=aarch64-linux-gnu" $level
    done
  done
  POST=aarch64-linux-gnu-strip build c aarch64-linux-gnu-gcc -O2
}

run=(env)
"$machine"
echo "$builds builds, $failures failed"
[ "$failures" = 0 ]
