#!/usr/bin/env bash
# A wrong point does not compile, and the message says what is wrong. In C the assembler notices.
# Usage: compile_errors.sh INCLUDE_DIR
set -euo pipefail
include=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

c_compilers=(gcc clang clang-19)
cxx_compilers=("g++ -std=c++17" "clang++ -std=c++17" "clang++-19 -std=c++17")

# message point [COMPILER...] : with every compiler, or with these
refused() {
  local message=$1 statement=$2 language compiler compilers=("${@:3}")
  [ $# -gt 2 ] || compilers=("${c_compilers[@]}" "${cxx_compilers[@]}")
  printf '#include <sojourn/latseq.h>\nvoid f(int x, double d);\nvoid f(int x, double d) {\n(void)x; (void)d;\n%s\n}\n' \
    "$statement" > "$work/wrong.c"
  for compiler in "${compilers[@]}"; do
    command -v "${compiler%% *}" > /dev/null || { echo "skipped: ${compiler%% *} is not installed"; continue; }
    language=c; [[ $compiler != *++* ]] || language=c++
    # shellcheck disable=SC2086
    if $compiler -O1 -x $language -I"$include" -c "$work/wrong.c" -o "$work/wrong.o" > "$work/log" 2>&1; then
      echo "FAILED: $compiler accepts $statement"
    elif ! grep -qE "$message" "$work/log"; then
      echo "FAILED: $compiler refuses $statement without saying '$message':"; head -5 "$work/log"
    else
      continue
    fi
    failures=$((failures + 1))
  done
}

refused 'argument' 'SJ_POINT("D a--b", "len:rnti:drb", x);'
refused 'argument' 'SJ_POINT("D a--b", "::", x);'
refused 'source--destination' 'SJ_POINT("D a-b", "len::", x);'
refused 'source--destination' 'SJ_POINT("X a--b", "len::", x);'
refused 'source--destination' 'SJ_POINT("a--b", "len::", x);'
refused 'properties:globals:locals' 'SJ_POINT("D a--b", "len:", x);'
refused 'an integer of up to 64 bits' 'SJ_POINT("D a--b", "len::", d);'
refused 'at most 16 arguments' \
  'SJ_POINT("D a--b", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q::", x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x);'
refused 'needs the words' 'SJ_POINT("D a--b");'
refused 'one argument for each conversion' 'LATSEQ_P("D a--b", "len%d:rnti%hu:%%", x);' "${cxx_compilers[@]}"
refused 'at most 16 arguments' \
  'LATSEQ_P("D a--b", "a%d.b%d.c%d.d%d", x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x);'
refused 'an integer of up to 64 bits' 'LATSEQ_P("D a--b", "len%f", d);'
[ "$failures" = 0 ]
