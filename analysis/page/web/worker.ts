// The worker's script: it loads the engine, gives it the bytes of a file's or a server's trace as
// it asks for them, and answers the page's questions, one at a time. A long answer reports its
// progress.

import type { RemoteTrace, TraceSource } from "./engine_client";

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  text_buffer(bytes: number): number;
  open_trace(trace: number, size: number): number;
  ask(bytes: number): number;
}

interface Column {
  name: string;
  array: ArrayBufferView & { buffer: ArrayBuffer };
}

// The types of columns by the engine's number of each.
const kArrays = [Uint8Array, Uint16Array, Uint32Array, Float32Array, Float64Array] as const;
const kPiece = 4 << 20;

let exports: Exports;
let current = 0;
let text = "";
let columns: Column[] = [];
let shown = 0;
let unread = "";  // why bytes of the trace could not be read

const bytesOf = (at: number, length: number) => new Uint8Array(exports.memory.buffer, at, length);
const textOf = (at: number, length: number) => new TextDecoder().decode(bytesOf(at, length));

function fileReader(file: Blob) {
  const reader = new FileReaderSync();
  return (from: number, to: number) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to)));
}

// The engine cannot wait for an answer that comes later. A worker may make a request whose call
// waits.
function rangeReader({ url }: RemoteTrace) {
  return (from: number, to: number) => {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.responseType = "arraybuffer";
    request.setRequestHeader("Range", `bytes=${from}-${to - 1}`);
    request.send();
    const bytes = new Uint8Array(request.response ?? 0);
    if (request.status !== 206 || bytes.length !== to - from) throw new Error(`the server gave no bytes of the trace (${request.status})`);
    return bytes;
  };
}

// A trace may be larger than memory: it is read in pieces, and the newest few are kept.
class PiecewiseReader {
  private pieces = new Map<number, Uint8Array>();
  private bytesOf: (from: number, to: number) => Uint8Array;
  constructor(private trace: TraceSource) {
    this.bytesOf = trace instanceof Blob ? fileReader(trace) : rangeReader(trace);
  }

  read(offset: number, into: Uint8Array): boolean {
    if (offset + into.length > this.trace.size) return false;
    try {
      this.copy(offset, into);
    } catch (error) {
      unread = error instanceof Error ? error.message : String(error);
      return false;
    }
    return true;
  }

  private copy(offset: number, into: Uint8Array): void {
    for (let done = 0; done < into.length;) {
      const at = offset + done;
      const piece = this.piece(Math.floor(at / kPiece));
      const from = at % kPiece;
      const part = piece.subarray(from, from + into.length - done);
      into.set(part, done);
      done += part.length;
    }
  }

  private piece(index: number): Uint8Array {
    let found = this.pieces.get(index);
    if (found) return found;
    found = this.bytesOf(index * kPiece, Math.min((index + 1) * kPiece, this.trace.size));
    if (this.pieces.size >= 16) this.pieces.delete(this.pieces.keys().next().value!);
    this.pieces.set(index, found);
    return found;
  }
}

// Answers the C library's calls of WASI: there is no system behind them.
function noSystem(module: WebAssembly.Module): Record<string, Function> {
  const kNotSupported = 52;
  const functions: Record<string, Function> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    if (from === "wasi_snapshot_preview1") functions[name] = () => kNotSupported;
  functions.fd_write = (_file: number, pieces: number, number: number, written: number) => {
    const view = new DataView(exports.memory.buffer);
    let bytes = 0;
    for (let i = 0; i < number; ++i) {
      const length = view.getUint32(pieces + 8 * i + 4, true);
      console.error(textOf(view.getUint32(pieces + 8 * i, true), length));
      bytes += length;
    }
    view.setUint32(written, bytes, true);
    return 0;
  };
  functions.proc_exit = (code: number) => {
    throw new Error(`the engine ended with code ${code}`);
  };
  return functions;
}

let readers: PiecewiseReader[] = [];
let other: Blob | undefined;  // the second trace, until it is opened

async function load(module: WebAssembly.Module, trace: TraceSource): Promise<void> {
  readers = [new PiecewiseReader(trace)];
  const instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: noSystem(module) as WebAssembly.ModuleImports,
    sojourn: {
      read_at: (which: number, offset: number, into: number, bytes: number) => (readers[which].read(offset, bytesOf(into, bytes)) ? 0 : 1),
      take: (at: number, bytes: number) => {
        text = textOf(at, bytes);
      },
      take_column: (name: number, nameBytes: number, type: number, at: number, size: number) => {
        const array = new kArrays[type](exports.memory.buffer, at, size).slice();
        columns.push({ name: textOf(name, nameBytes), array: array as Column["array"] });
      },
      progress: (done: number, of: number) => {
        const now = performance.now();
        if (now - shown < 100) return;
        shown = now;
        postMessage({ id: current, progress: of > 0 ? done / of : 0 });
      },
    },
  });
  exports = instance.exports as unknown as Exports;
  exports._initialize();
  if (exports.open_trace(0, trace.size) !== 0) throw new Error(unread || text);
}

// Opens the second trace at the first question about it, so that its answer says if it cannot be
// read.
function openOther(): void {
  if (!other) return;
  readers[1] = new PiecewiseReader(other);
  if (exports.open_trace(1, other.size) !== 0) throw new Error(unread || text);
  other = undefined;
}

function answer(request: object): { value: any; moved: Transferable[] } {
  const encoded = new TextEncoder().encode(JSON.stringify(request));
  bytesOf(exports.text_buffer(encoded.length), encoded.length).set(encoded);
  text = "";
  columns = [];
  unread = "";
  const isRefused = exports.ask(encoded.length) !== 0;
  if (isRefused || unread) throw new Error(unread || text);
  const value = text === "" ? {} : JSON.parse(text);
  for (const { name, array } of columns) value[name] = array;
  const moved = columns.map(({ array }) => array.buffer);
  columns = [];
  return { value, moved };
}

let loading: Promise<void>;

onmessage = async ({ data }) => {
  if ("other" in data) other = data.other;
  if (data.module) {
    loading = load(data.module, data.trace);
    loading.catch(() => undefined);  // the first question is answered with the error
  }
  if (data.id === undefined) return;
  try {
    await loading;
    current = data.id;
    if (data.request.trace === 1 || data.request.call === "compare") openOther();
    const { value, moved } = answer(data.request);
    postMessage({ id: data.id, value }, { transfer: moved });
  } catch (error) {
    postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
};
