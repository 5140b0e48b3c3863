// Does the same as page-answer, by sojourn.wasm under Node: prints the answer's text, and to stderr
// how many microseconds of processor time it took, with the compilation of the engine.
// Usage: node page_answer.mjs DIRECTORY_OF_WASM TRACE [QUESTION={"call": "first screen"}]
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [directory, trace, question] = process.argv.slice(2);
const { answer, memorySource } = await import(pathToFileURL(path.join(directory, "sojourn.mjs")));
const code = fs.readFileSync(path.join(directory, "sojourn.wasm"));
const source = memorySource(fs.readFileSync(trace));
const before = process.cpuUsage();
const module = new WebAssembly.Module(code);
const text = await answer(module, source, question ? JSON.parse(question) : { call: "first screen" });
const { user, system } = process.cpuUsage(before);
fs.writeSync(1, `${text}\n`);
fs.writeSync(2, `${user + system}\n`);
