// Loads sojourn.wasm in Node, and asks it about traces. Each answer has a
// WebAssembly instance of its own, so its memory is given back at the end.

// A trace whose bytes are in memory.
export function memorySource(bytes) {
  return {
    size: bytes.length,
    readAt(offset, into) {
      if (offset + into.length > bytes.length) return false;
      into.set(bytes.subarray(offset, offset + into.length));
      return true;
    },
  };
}

// Answers the C library's calls of WASI: there is no system behind them. Only text that is written
// before an end by abort() is shown.
function systemOf(module, memory) {
  const ENOSYS = 52;
  const system = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    if (from === "wasi_snapshot_preview1") system[name] = () => ENOSYS;
  system.fd_write = (_descriptor, pieces, count, written) => {
    const view = new DataView(memory().buffer);
    let bytes = 0;
    for (let piece = 0; piece < count; ++piece) {
      const at = view.getUint32(pieces + 8 * piece, true);
      const length = view.getUint32(pieces + 8 * piece + 4, true);
      console.error(new TextDecoder().decode(new Uint8Array(memory().buffer, at, length)));
      bytes += length;
    }
    view.setUint32(written, bytes, true);
    return 0;
  };
  system.proc_exit = (code) => {
    throw new Error(`sojourn.wasm ended with code ${code}`);
  };
  return system;
}

// Returns the text of the engine's answer to a question (analysis/page/page_engine.h). A source is
// {size, readAt(offset, into)}, where readAt fills a Uint8Array and returns whether all bytes were
// there. Throws if the trace cannot be read, or the question is refused.
export async function answer(module, source, question) {
  let text = "";
  const memory = () => instance.exports.memory;
  const instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: systemOf(module, memory),
    sojourn: {
      read_at(_trace, offset, into, bytes) {
        return source.readAt(offset, new Uint8Array(memory().buffer, into, bytes)) ? 0 : 1;
      },
      take(at, bytes) {
        text = new TextDecoder().decode(new Uint8Array(memory().buffer, at, bytes));
      },
      take_column() {},
      progress() {},
    },
  });
  instance.exports._initialize();
  const asked = new TextEncoder().encode(JSON.stringify(question));
  if (instance.exports.open_trace(0, source.size) !== 0) throw new Error(text);
  new Uint8Array(memory().buffer, instance.exports.text_buffer(asked.length), asked.length).set(asked);
  if (instance.exports.ask(asked.length) !== 0) throw new Error(text);
  return text;
}

// Returns the text of `sojourn report --json`.
export const report = (module, source) => answer(module, source, { call: "report" });
