#!/bin/sh
# Makes the two halves of a report page, around the trace: head.html and tail.html.
# Usage: build_page.sh ENGINE.wasm OUTPUT_DIRECTORY. Needs esbuild.
set -eu
web=$(cd "$(dirname "$0")/web" && pwd)
engine=$1
out=$2
mkdir -p "$out"

bundle() { esbuild "$@" --bundle --minify --charset=utf8 --format=iife --target=es2022 --log-level=warning; }
bundle "$web/worker.ts" --outfile="$out/worker.js"
cp "$out/worker.js" "$out/worker.txt"
bundle "$web/app.ts" --outfile="$out/page.js" --loader:.txt=text "--alias:worker-script=$out/worker.txt"
esbuild "$web/page.css" --minify --charset=utf8 --log-level=warning --outfile="$out/page.css"

# The markup's end tags must not occur in what stands between them.
printf %s "$(sed 's:</\(script\|style\):<\\/\1:g' "$out/page.js")" >"$out/script"
printf %s "$(cat "$out/page.css")" >"$out/style"
hash() { printf "'sha256-%s'" "$(sha256sum <"$1" | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64)"; }
policy="default-src 'none'; script-src $(hash "$out/script") 'wasm-unsafe-eval' blob:; worker-src blob:; style-src $(hash "$out/style"); base-uri 'none'; form-action 'none'"
gzip -9nc "$engine" | base64 -w0 >"$out/engine"

# page.html with each {{NAME}} replaced, cut where the trace goes.
fill() {
  awk -v out="$out" -v policy="$policy" '
    function file(name,   text, line) { while ((getline line < (out "/" name)) > 0) text = text (text == "" ? "" : "\n") line; close(out "/" name); return text }
    function put(name, text,   at) { if ((at = index($0, "{{" name "}}")) > 0) $0 = substr($0, 1, at - 1) text substr($0, at + length(name) + 4) }
    { put("policy", policy); put("style", file("style")); put("engine", file("engine")); put("script", file("script")); print }' "$web/page.html"
}
fill >"$out/page.html"
awk -v head="$out/head.html" -v tail="$out/tail.html" '
  !past && (at = index($0, "{{name}}")) > 0 {
    printf "%s", substr($0, 1, at - 1) > head
    rest = substr($0, at)
    sub(/^\{\{name\}\}">\{\{trace\}\}/, "", rest)
    print rest > tail
    past = 1
    next
  }
  { print > (past ? tail : head) }' "$out/page.html"
