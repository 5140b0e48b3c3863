// The trace that a server has. It is read whole, and read again when it has grown, as long as the
// page follows it.
import { Cancelled } from "./engine_client";
import { liveView } from "./live_view";
import { closeEngine, opened, openEngine } from "./open_traces";
import { showOpenPacket } from "./packet_dialog";
import { box, following, openPacket } from "./selection";
import { Served } from "./served";

export class ServedTrace {
  readonly live: HTMLElement;
  private readBytes = -1;  // by the engine
  private reading: Promise<void> | undefined;
  private nextReading = 0;

  constructor(readonly served: Served) {
    this.live = liveView(served);
  }

  get hasNews(): boolean {
    return this.served.size !== 0 && this.served.size !== this.readBytes;
  }
  get isDue(): boolean {
    return performance.now() >= this.nextReading;
  }
  readNow(): void {
    this.nextReading = 0;
  }

  // Changes to another of the server's traces.
  listen(number: number): void {
    this.served.listen(number);
    closeEngine();
    this.reading = undefined;
    this.readBytes = -1;
    this.nextReading = 0;
  }

  // Reads the whole trace at the first call. Later calls read it again only if the page follows it
  // and it has grown.
  async read(): Promise<void> {
    await Promise.resolve();  // signals that are read from here on must not show the view again
    if (box.get() || openPacket.get() !== undefined) following.set(false);
    if (this.reading) return this.reading;
    const { size } = this.served;
    if (size === 0) throw new Error("nothing is recorded yet");
    if (opened.engine && (size === this.readBytes || !following.get())) return;
    const begun = performance.now();
    this.readBytes = size;
    const mine = (this.reading = openEngine({ url: this.served.url, size }, this.served.trace.name));
    try {
      await mine;
    } catch (error) {
      if (!(error instanceof Cancelled) && this.reading === mine) {
        closeEngine();
        this.readBytes = -1;
      }
      throw error;
    } finally {
      if (this.reading === mine) this.reading = undefined;
    }
    // Reading the whole trace repeatedly is not worth more than a fifth of the time.
    this.nextReading = performance.now() + Math.max(5000, 5 * (performance.now() - begun));
    showOpenPacket();
  }
}

// The page's served trace; none, if the page is a file.
let current: ServedTrace | undefined;
export const servedTrace = () => current;

export function serveFrom(served: Served): ServedTrace {
  return current = new ServedTrace(served);
}
