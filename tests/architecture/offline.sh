#!/bin/sh
# Fails where a program needs a library that is only for live machines. Usage: offline.sh PROGRAM
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p') || exit 1
[ -n "$needed" ] || { echo "$1: readelf says of no library"; exit 1; }
live=$(echo "$needed" | grep -E '^lib(bpf|elf|dw)\.')
[ -z "$live" ] || { echo "$1 is linked with" $live; exit 1; }
