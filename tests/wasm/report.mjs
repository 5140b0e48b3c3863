// `sojourn report --json TRACE` by sojourn.wasm. Usage: node report.mjs DIRECTORY_OF_WASM TRACE
// [memory]. The trace is read piece by piece, or with `memory` first as a whole.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [directory, trace, way] = process.argv.slice(2);
const { memorySource, report } = await import(pathToFileURL(path.join(directory, "sojourn.mjs")));

function fileSource(name) {
  const file = fs.openSync(name, "r");
  return {
    size: fs.fstatSync(file).size,
    readAt: (offset, into) => fs.readSync(file, into, 0, into.length, offset) === into.length,
  };
}

const module = new WebAssembly.Module(fs.readFileSync(path.join(directory, "sojourn.wasm")));
try {
  const source = way === "memory" ? memorySource(fs.readFileSync(trace)) : fileSource(trace);
  fs.writeSync(1, await report(module, source));
} catch (error) {
  console.error(`sojourn: ${error.message}`);
  process.exitCode = 1;
}
