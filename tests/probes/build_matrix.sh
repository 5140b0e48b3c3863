#!/usr/bin/env bash
# Builds the subjects with every installed compiler, standard, engine and way of linking, and checks
# their points, and the records in their rings: neither the optimiser nor the linker may lose or
# change one. A covering set, not the full product: everything with both engines, and with one
# engine only the parts that differ.
# Usage: build_matrix.sh NOTE_CHECK RING_DUMP PROBES_DIR native|arm64
set -euo pipefail
check=$1 dump=$2 probes=$3 machine=$4
include=$probes/include
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'wait; rm -rf "$work"' EXIT
warnings=(-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror)
run=(env) strip=strip builds=0

have() { command -v "$1" > /dev/null; }
skip() { echo "skipped: $*"; }

# ---- jobs: as many at once as there are processors, each in a directory of its own ----

# job NAME COMMAND...: runs a command, and prints its output if it fails.
job() {
  local name=$1; shift
  builds=$((builds + 1))
  mkdir "$work/$builds"
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
  (
    cd "$work/$builds"
    set +e # a condition would switch it off for all that the command does
    (set -e; "$@") > log 2>&1
    # shellcheck disable=SC2181
    if [ $? != 0 ]; then
      { echo "FAILED: $name"; sed 's/^/    /' log | head -20; } > "$work/failed.$builds"
    fi
    cd "$work" && rm -rf "${work:?}/$builds"
  ) &
}

finish() {
  local failures
  wait
  failures=$(find "$work" -name 'failed.*' | wc -l)
  [ "$failures" = 0 ] || cat "$work"/failed.*
  echo "$builds builds, $failures failed"
  [ "$failures" = 0 ]
}

# ---- one build ----

defines() {
  case $1 in
    usdt) ;;
    both) echo -DSJ_RINGS ;;
    rings) echo -DSJ_RINGS -DSJ_NO_USDT ;;
    none) echo -DSJ_RINGS -DSJ_DISABLE_POINTS ;;
  esac
}

c_compiler() { case $1 in g++) echo gcc ;; *) echo "${1/++/}" ;; esac; }

# The runtime library, by this compiler of C. Shared by its jobs.
make_library() {
  local compiler=$1 directory=$2 source flags
  mkdir "$directory"
  for source in "$probes"/src/*.c; do
    flags=
    [[ $source != */ring_slow.c ]] || flags=-mgeneral-regs-only
    # shellcheck disable=SC2086  # a compiler may bring options of its own
    $compiler -std=gnu11 -O2 -fPIC -fvisibility=hidden -fno-stack-protector $flags "${warnings[@]}" -Wno-pedantic \
      -DSJ_RINGS -I"$include" -c "$source" -o "$directory/$(basename "$source").o"
  done
  ar rcs "$directory/libsojourn-probes.a" "$directory"/*.o
}

# A point in a function without callers; the linker may keep it or not.
dead_point() { case $1 in forms) echo "D forms.dead--forms.end" ;; latseq) echo "D dropped--never" ;; esac; }
# An unsigned bit-field of C keeps its declared type in clang, gcc promotes it to int. Its value fits both.
bit_field='/^I forms.bits--/s/|4,-4,1,/|-4,-4,1,/'
# Addresses differ from run to run.
addresses='s/^\(U forms.two--forms.three|[0-9]*,[0-9]*\),[0-9]*,[0-9]*/\1,pointer,array/
           s/^\(U conversions--wide|.*\),[0-9]*\(,[0-9]*\)$/\1,pointer\2/'

# Compares the points of a program with the expected ones.
compare_points() {
  local subject=$1 language=$2 engines=$3 program=$4 dead
  dead=$(dead_point "$subject")
  "$check" "$engines" "$program" "$dead" > all
  sed -e "/^${dead:-no such point}|/d" -e "$bit_field" all > points
  diff "$(expected "$subject" "$language" points)" points
}
expected() {
  local file=$here/expected/$1.${2/c++/cxx}.$3
  [ -e "$file" ] || file=$here/expected/$1.$3
  echo "$file"
}

# Armed from the start, it records every hit with its values.
compare_records() {
  local subject=$1 language=$2 program=$3; shift 3
  mkdir rings
  SJ_RINGS=armed SJ_RING_DIR=rings "$@"
  for arena in rings/*; do break; done # of a library that is loaded twice the first
  "$dump" "$program" "$arena" > all
  sed "$addresses" all | diff "$(expected "$subject" "$language" values)" -
}

program() {
  local engines=$1 subject=$2 language=$3 compiler=$4 library=$5 post=$6 sources=("$here/subjects/$2".c*); shift 6
  [ "$subject" != forms ] || sources+=("$here/subjects/forms_other.c")
  # shellcheck disable=SC2046,SC2086
  $compiler -x $language $(defines "$engines") "${warnings[@]}" -I"$include" "$@" "${sources[@]}" \
    $([ "$engines" = usdt ] || echo "-Xlinker $library/libsojourn-probes.a") -o program
  $post program
  "${run[@]}" ./program
  compare_points "$subject" "$language" "$engines" program
  [ "$engines" = usdt ] || compare_records "$subject" "$language" program "${run[@]}" ./program
}

# SJ_DISABLE_POINTS leaves no trace and no warning.
without_points() {
  local language=$1 compiler=$2
  # shellcheck disable=SC2046,SC2086
  $compiler -x $language $(defines none) "${warnings[@]}" -I"$include" -O2 "$here"/subjects/forms{,_other}.c -o program
  ./program
  ! readelf -SW program | grep -E '\.note\.(sojourn|stapsdt)|\.probes|sj_flags'
}

# A library that is loaded late has points and rings of its own, and may go again.
shared_library() {
  local compiler=$1 library=$2; shift 2
  # shellcheck disable=SC2046,SC2086
  $compiler $(defines both) "${warnings[@]}" -I"$include" -O2 -fPIC -shared "$@" "$here/subjects/forms_other.c" \
    -Xlinker "$library/libsojourn-probes.a" -o libforms.so
  $strip libforms.so
  "$check" both libforms.so > points
  grep -q '^D forms.dead--forms.end|value::|-4|forms_other.c$' points
  if readelf -dW libforms.so | grep TEXTREL; then false; fi
  $compiler -O2 -Wno-pedantic "$here/subjects/loader.c" -o loader -ldl
  compare_records library c libforms.so "${run[@]}" ./loader ./libforms.so
}

# build ENGINES SUBJECT LANGUAGE COMPILER FLAGS...: a job. POST: a command for the finished file.
build() {
  local engines=$1 subject=$2 language=$3 compiler=$4; shift 4
  job "$engines $subject: $compiler $* ${POST:-}" \
    program "$engines" "$subject" "$language" "$compiler" "$library" "${POST:-true}" "$@"
}

# ---- the builds ----

# shellcheck disable=SC2054  # a comma of the linker's option
drop_dead_code=(-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections)

both_engines() {
  local language=$1 compiler=$2 linker
  for level in -O0 -O1 -O3 -Os "-O2 -fno-inline" "-O3 -funroll-loops" "-O2 -g -fPIC" \
      "-O0 -fPIC -fno-omit-frame-pointer" "-O2 -fno-pie -no-pie" "-O1 -fsanitize=address,undefined" "-O2 -static"; do
    # shellcheck disable=SC2086  # two options in one word
    build both forms "$language" "$compiler" $level
  done
  POST="$strip" build both forms "$language" "$compiler" "${drop_dead_code[@]}" -static-pie
  for linker in bfd lld mold; do
    have ld.$linker || { skip "linking with $linker: ld.$linker is not installed"; continue; }
    build both forms "$language" "$compiler" "${drop_dead_code[@]}" -fuse-ld=$linker
    build both latseq "$language" "$compiler" "${drop_dead_code[@]}" -fuse-ld=$linker
  done
  build both latseq "$language" "$compiler" -O0
  build both latseq "$language" "$compiler" -O2 -fPIC
  POST="$strip" build both latseq "$language" "$compiler" -O2 -static-pie
}

one_engine() {
  local engines=$1 language=$2 compiler=$3
  build "$engines" forms "$language" "$compiler" -O0
  build "$engines" forms "$language" "$compiler" -O2 -fno-pie -no-pie
  POST="$strip" build "$engines" forms "$language" "$compiler" "${drop_dead_code[@]}" -static-pie
  build "$engines" latseq "$language" "$compiler" "${drop_dead_code[@]}"
}

with_compiler() {
  local language=$1 compiler=$2 standards=$3 standard
  have "$compiler" || { skip "$compiler is not installed"; return; }
  library=$work/library-$(c_compiler "$compiler")
  [ -d "$library" ] || make_library "$(c_compiler "$compiler")" "$library"
  for standard in $standards; do build both forms "$language" "$compiler" -O2 "-std=$standard"; done
  [ "$language" = c ] || compiler+=" -std=c++17"
  both_engines "$language" "$compiler"
  one_engine usdt "$language" "$compiler"
  one_engine rings "$language" "$compiler"
  job "disabled: $compiler" without_points "$language" "$compiler"
  [ "$language" = c++ ] || job "library: $compiler" shared_library "$compiler" "$library"
}

link_time_optimised() {
  local flto version
  library=$work/library-gcc
  for flto in "-flto" "-flto=auto -ffat-lto-objects" "-flto -static-pie"; do
    # shellcheck disable=SC2086
    build both forms c gcc -O2 $flto
    # shellcheck disable=SC2086
    build both forms c++ g++ -O2 $flto
  done
  build both latseq c gcc -O2 -flto
  build usdt latseq c++ g++ -O2 -flto
  # An object of bitcode needs the linker of its own LLVM.
  for version in "" -19; do
    have clang$version && have ld.lld$version || {
      skip "clang$version -flto: clang$version or ld.lld$version is not installed"
      continue
    }
    library=$work/library-clang$version
    build both forms c clang$version -O2 -flto -fuse-ld=lld$version
    build both latseq c clang$version -O2 -flto=thin -fuse-ld=lld$version
    build both forms c++ clang++$version -O2 -std=c++17 -flto=thin -fuse-ld=lld$version
    build usdt forms c++ clang++$version -O2 -std=c++17 -flto -fuse-ld=lld$version
  done
}

# clang 14 has no coroutines with libstdc++.
twenty() {
  local compiler standard
  for compiler in g++ clang++-19; do
    have $compiler || continue
    library=$work/library-$(c_compiler $compiler)
    for standard in c++20 c++2b; do
      build both modern c++ $compiler -std=$standard -O2
      build usdt modern c++ $compiler -std=$standard -O0
    done
  done
}

native() {
  for compiler in gcc clang clang-19; do with_compiler c $compiler "c11 gnu17"; done
  for compiler in g++ clang++ clang++-19; do with_compiler c++ $compiler "c++17 c++20 c++2b"; done
  link_time_optimised
  twenty
}

arm64() {
  have qemu-aarch64 || { skip "arm64: qemu-aarch64 is not installed"; exit 77; }
  have aarch64-linux-gnu-g++ || { skip "arm64: no cross compiler"; exit 77; }
  run=(qemu-aarch64 -L /usr/aarch64-linux-gnu) strip=aarch64-linux-gnu-strip
  library=$work/library
  make_library aarch64-linux-gnu-gcc "$library"
  local level compiler
  for level in -O0 -O2 "-O2 -static" "-Os -fno-pie -no-pie" "-O2 -flto" "${drop_dead_code[*]}"; do
    # shellcheck disable=SC2086
    build both forms c aarch64-linux-gnu-gcc $level -std=c11
    # shellcheck disable=SC2086
    build both forms c++ aarch64-linux-gnu-g++ $level -std=c++17
  done
  build both latseq c aarch64-linux-gnu-gcc -O2 -fPIC
  build both latseq c++ aarch64-linux-gnu-g++ -O0
  build both modern c++ aarch64-linux-gnu-g++ -O2 -std=c++20
  for engines in usdt rings; do
    build $engines forms c aarch64-linux-gnu-gcc -O2
    build $engines latseq c aarch64-linux-gnu-gcc "${drop_dead_code[@]}"
  done
  for compiler in clang clang-19; do
    have $compiler || { skip "$compiler is not installed"; continue; }
    for level in -O0 -O2 "-O2 -static" "-O2 -fPIC"; do
      # shellcheck disable=SC2086
      build both forms c "$compiler --target=aarch64-linux-gnu" $level
    done
    build both latseq c "$compiler --target=aarch64-linux-gnu" -O2
  done
  POST=$strip build both forms c aarch64-linux-gnu-gcc -O2
  job "library: arm64" shared_library aarch64-linux-gnu-gcc "$library"
}

"$machine"
finish
