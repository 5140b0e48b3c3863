#!/bin/sh
# Fails if two files define types of one name in one namespace. That is undefined behaviour without
# a warning: the linker keeps one type's inline functions for both. Finds types at the margin, where
# clang-format puts those of a namespace, that are in no unnamed namespace. Usage: types.sh ROOT
# (Linking with -flto -Wodr finds more, but needs a build of its own.)
cd "$1" && find analysis userspace -name '*.h' -o -name '*.cpp' | sort | xargs awk '
  FNR == 1 { depth = unnamed = 0 }
  /^namespace [a-z0-9_:]+ \{/ { spaces[++depth] = $2 "::"; next }
  /^namespace \{/ { spaces[++depth] = ""; ++unnamed; next }
  /^\}  \/\/ namespace/ { if (spaces[depth--] == "") --unnamed; next }
  /^(struct|class|union|enum|enum class) [A-Za-z0-9_]+( final)?( : .*)? \{/ && !unnamed {
    type = $2 == "class" ? $3 : $2
    for (i = depth; i > 0; --i) type = spaces[i] type
    if (type in files && files[type] != FILENAME) {
      print type " is in " files[type] " and in " FILENAME
      found = 1
    }
    files[type] = FILENAME
    ++types
  }
  END {
    if (types == 0) print "there are no types"
    exit found || types == 0
  }'
