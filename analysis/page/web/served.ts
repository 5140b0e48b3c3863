// The server behind a page of `sojourn serve`: its traces, their figures while they grow (one
// stream of events), and requests to captures. A page that is a file has no server.
import { figures, Figures, link } from "./live_figures";

export interface ServedTrace {
  name: string;
  size: number;  // bytes that can be read, when the page was opened
  growing: boolean;
  capture: boolean;  // `sojourn serve` itself records it
  pid: number;
}

interface State {
  readonly: boolean;
  traces: ServedTrace[];
}

const kSilenceMs = 15_000;  // the server sends something every five seconds

export class Served {
  number = 0;
  private events: EventSource | undefined;
  private heard = 0;

  private constructor(readonly state: State) {
    setInterval(() => this.watch(), 1000);
  }

  static async connect(): Promise<Served> {
    // The token is removed from the address, as the server has set it as a cookie.
    history.replaceState(null, "", location.pathname + location.hash);
    const answer = await fetch("/state");
    if (!answer.ok) throw new Error(await answer.text());
    return new Served(await answer.json());
  }

  get trace(): ServedTrace {
    return this.state.traces[this.number];
  }
  get url(): string {
    return `${location.origin}/trace/${this.number}`;
  }
  // The size of the trace that can be read now.
  get size(): number {
    return figures.get()?.size ?? this.trace.size;
  }
  get isGrowing(): boolean {
    return figures.get()?.growing ?? this.trace.growing;
  }

  listen(number: number): void {
    this.number = number;
    this.events?.close();
    figures.set(undefined);
    const events = (this.events = new EventSource(`/live/${number}`));
    const hear = () => {
      this.heard = performance.now();
      link.set("");
    };
    hear();
    events.addEventListener("alive", hear);
    events.addEventListener("figures", (event) => {
      hear();
      figures.set(JSON.parse(event.data) as Figures);
    });
    events.onerror = () => link.set(events.readyState === EventSource.CLOSED
        ? "sojourn serve refuses this page: open the link that it has printed" : "no connection to sojourn serve");
  }

  private watch(): void {
    if (link.get() === "" && performance.now() - this.heard > kSilenceMs) link.set("no word from sojourn serve");
  }

  // Returns what the capture did; throws the reason if it did nothing.
  async control(action: string, points = ""): Promise<string> {
    const answer = await fetch(`/control/${this.number}`, { method: "POST", body: JSON.stringify({ action, points }) });
    const told = await answer.json() as { answer?: string; error?: string };
    if (told.answer === undefined) throw new Error(told.error ?? answer.statusText);
    return told.answer;
  }
}
