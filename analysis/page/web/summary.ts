// The summary that a page carries of traces that were too large for it: the engine's answers about
// all packets from when the page was made, and the events around the slowest packets. Other
// questions need the trace itself, and are refused in words.
import { Answers, Engine, Grid, GroupDistributions } from "./engine_client";
import { About, Difference, FirstScreen, Profile } from "./report_types";
import { bytes, count, plainName } from "./units";
import { Packet } from "./waterfall_bars";

// The error of a question that only the whole trace can answer.
export class NeedsTrace extends Error {}

interface SummarisedPacket extends Packet {
  known: Record<"ue" | "bearer" | "number", string>;
  window: { from_ns: number; to_ns: number } | null;  // ns since the origin
}

interface TraceAnswers {
  about: About;
  screen: Pick<FirstScreen, "report" | "explanation"> & { packets: number; grid: Grid;
    slowest: Record<"id" | "start" | "latency" | "direction" | "outcome", number[]> };
  packets: SummarisedPacket[];
  groups: Record<string, GroupDistributions>;
  queues: unknown;
  events: { events: unknown[]; more: boolean };
  profile: Profile;
  machine: unknown;
  names: unknown;
}

export interface SummaryDocument {
  traces: TraceAnswers[];
  compare?: Difference;
}

// A file that was summarised.
export interface SummarisedFile {
  name: string;
  bytes: number;
  isGone: boolean;       // the trace exists nowhere as a file
  windows?: Blob;        // a trace of the events around some packets
}

// The source of a packet's time line.
export interface Surroundings {
  engine: Answers;
  trace: 0 | 1;
  bounds?: { from: number; to: number };
}

type Request = { call: string; [key: string]: unknown };

export class Summary implements Answers {
  private opened: (Engine | undefined)[] = [];

  constructor(private document: SummaryDocument, readonly files: SummarisedFile[],
              private open: (windows: Blob) => Promise<Engine>) {}

  async ask<T>(what: string, request: Request): Promise<T> {
    const number = request.trace === 1 ? 1 : 0;
    const of = this.document.traces[number];
    if (!of) throw new Error("there is no second trace");
    const { call, where } = request;
    if (call === "packet") return this.packet(of, number, Number(request.id)) as T;
    if (call === "ids") return this.ids(of, request.ids as number[]) as T;
    if (call === "names" || call === "about" || call === "machine") return of[call] as T;
    if (where) throw this.lacks(number, "A filter");
    if (call === "first screen") return this.screen(of) as T;
    if (call === "journeys") return { count: 0, groups: [], told: of.groups[String(request.by)] } as unknown as T;
    if (call === "groups") return of.groups[String(request.by)] as T;
    if (call === "compare" && this.document.compare) return this.document.compare as T;
    if (call === "queues" || call === "events" || call === "profile") return of[call] as T;
    if (call === "differences") throw this.lacks(number, "What is different in a box");
    if (call === "pieces") throw this.lacks(number, "The arrivals of all pieces");
    throw this.lacks(number, what);
  }

  cancel(): void {
    for (const engine of this.opened) engine?.cancel();
  }
  close(): void {
    for (const engine of this.opened) engine?.close();
    this.opened = [];
  }
  compareWith(other: Blob | undefined): void {
    if (other) throw this.lacks(0, "A comparison");
  }

  // Returns the number of the summarised trace with this identity, or -1.
  indexOf(identity: string): number {
    return this.document.traces.findIndex(({ about }, i) => about.identity === identity && !this.files[i].isGone);
  }

  // Opens the events around a packet.
  async around(trace: 0 | 1, packet: number | undefined): Promise<Surroundings> {
    const { windows } = this.files[trace];
    const found = this.document.traces[trace].packets.find(({ journey }) => journey.id === packet);
    if (!found || !found.window || !windows)
      throw this.lacks(trace, found ? "The time line of this packet" : "The time line", found ? "" : " Of the slowest packets it is here: open one, and press F.");
    const engine = this.opened[trace] ??= await this.open(windows);
    return { engine, trace: 0, bounds: { from: found.window.from_ns, to: found.window.to_ns } };
  }

  // Returns in words what is inside, and what is not.
  told(): string {
    const about = this.files.map(({ name, bytes: size }) => `${plainName(name)} has ${bytes(size)}`).join(", ");
    const packets = this.document.traces.reduce((sum, { packets }) => sum + packets.length, 0);
    const around = this.document.traces.reduce((sum, { packets }) => sum + packets.filter(({ window }) => window).length, 0);
    const both = this.files.length > 1;
    return `${about}: too much for one page. Inside ${both ? "are their summaries" : "are its summary"} and the slowest packets of each direction (${count(packets)})` +
        (around === packets ? ", with the events around them. " : around > 0 ? `, with the events around ${count(around)} of these. ` : ". ") +
        `For filters and everything else, ${this.remedy()}.`;
  }
  get canBeCompleted(): boolean {
    return this.files.every(({ isGone }) => !isGone);
  }
  private remedy(): string {
    if (!this.canBeCompleted) return "redact the trace into a file (sojourn export --to redacted) and make the page of that: then the file can be dropped onto it";
    const names = this.files.map(({ name }) => plainName(name)).join(" and ");
    return `drop ${names} onto this page${this.files.length > 1 ? ", both together" : ""}`;
  }
  private lacks(trace: number, what: string, more = ""): NeedsTrace {
    return new NeedsTrace(`${what} needs the whole trace, and this page has the summary of ${plainName(this.files[trace].name)}: ${this.remedy()}.${more}`);
  }

  private packet(of: TraceAnswers, trace: number, id: number): Packet {
    const found = of.packets.find(({ journey }) => journey.id === id);
    if (found) return found;
    throw this.lacks(trace, `Packet ${id} is not one of the slowest of its direction. It`);
  }

  private ids({ packets }: TraceAnswers, wanted: number[]): Record<"ue" | "bearer" | "number", string[]> {
    const known = new Map(packets.map((packet) => [packet.journey.id, packet.known]));
    const texts = (kind: "ue" | "bearer" | "number") => wanted.map((id) => known.get(id)?.[kind] ?? "");
    return { ue: texts("ue"), bearer: texts("bearer"), number: texts("number") };
  }

  private screen({ screen, groups }: TraceAnswers): FirstScreen {
    const { report, explanation, grid, packets, slowest } = screen;
    return {
      report, explanation, grid, packets, groups: [], told: groups.direction,
      count: slowest.id.length,
      id: Float64Array.from(slowest.id), start: Float64Array.from(slowest.start), latency: Float64Array.from(slowest.latency),
      direction: Uint8Array.from(slowest.direction), outcome: Uint8Array.from(slowest.outcome),
    };
  }
}
