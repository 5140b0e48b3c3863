// The parts that the page's markup carries, and their unpacking: the engine, and the traces or the
// summary of traces.

export interface NamedTrace {
  trace: Blob;
  name: string;
}

function fromBase64(text: string): Uint8Array {
  const builtIn = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (builtIn) return builtIn(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

const blobOf = (text: string) => new Blob([fromBase64(text) as BlobPart]);
const unpacked = (packed: Blob) => new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")));

let compiled: Promise<WebAssembly.Module> | undefined;

async function compile(): Promise<WebAssembly.Module> {
  const carrier = document.getElementById("engine")!;
  return WebAssembly.compile(await unpacked(blobOf(carrier.textContent!)).arrayBuffer());
}

// The engine is compiled once.
export const engineModule = () => compiled ??= compile();

// Recordings are often kept gzipped; the result is the trace itself in both cases.
export async function plain(trace: Blob): Promise<Blob> {
  const [one, two] = new Uint8Array(await trace.slice(0, 2).arrayBuffer());
  return one === 0x1f && two === 0x8b ? unpacked(trace).blob() : trace;
}

// Returns a trace that the page carries.
export function traceInside(id: string): NamedTrace | undefined {
  const carrier = document.getElementById(id);
  const text = carrier?.textContent ?? "";
  if (text.trim() === "") return undefined;
  const trace = blobOf(text);
  carrier!.textContent = "";  // the text is not needed any more, and larger than the trace
  return { trace, name: carrier!.dataset.name || "run.sjt" };
}

export const jsonInside = async (carrier: HTMLElement) => JSON.parse(await unpacked(blobOf(carrier.textContent!)).text());
