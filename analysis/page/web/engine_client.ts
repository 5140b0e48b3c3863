// The engine behind the page: sojourn's own analysis as WebAssembly, in a worker. Cancelling a
// question ends the worker; another one is started for later questions.

// Packets by arrival time and latency, as counts in cells: a summary has no row for each packet.
// Times are ns since the capture's first mark.
export interface GridCells {
  first: number;
  last: number;
  low: number;
  high: number;
  column: number[];  // the cells that are not empty
  row: number[];
  count: number[];
}
export interface Grid {
  column_ns: number;         // the width of a cell
  rows_of_doubling: number;  // rows of cells for twice the latency; the first begins at 1 ns
  D?: GridCells;
  U?: GridCells;
}

// Distributions of the groups with most packets, without a row for each packet.
export interface GroupDistributions {
  all: number;
  groups: {
    dir: string;
    name: string;
    count: number;
    min_ns: number;
    max_ns: number;
    percentiles_ns: number[];  // at kPercentiles of distribution_plot.ts
    points: [number, number, number | null, number | null][];  // ns, share that took longer, its 95 % interval
  }[];
}

export interface JourneyTable {
  count: number;
  id: Float64Array;
  start: Float64Array;    // ns since the capture's first mark
  latency: Float64Array;  // ns; not a number where there is none
  direction: Uint8Array;  // index in kDirections
  outcome: Uint8Array;    // index in kOutcomes
  group?: Float64Array;   // index in groups; -1: in none
  groups: string[];
  // Points of the groups' distributions, if the question has "by": the share of packets that took
  // longer, and its 95 % interval, which is NaN with too little data.
  curve_group?: Float64Array;
  curve_direction?: Uint8Array;
  curve_ns?: Float64Array;
  curve_longer?: Float64Array;
  curve_low?: Float64Array;
  curve_high?: Float64Array;
  // Only in a summary, whose rows are those of the slowest packets.
  grid?: Grid;
  packets?: number;  // all
  told?: GroupDistributions;
}

// Packets or their pieces, with what a heat map or dots are drawn from.
export type PieceTable = Pick<JourneyTable, "count" | "id" | "start" | "latency" | "direction" | "grid">;

export const kDirections = ["D", "U", "I", "O"];
export const kOutcomes = ["complete", "censored", "incomplete", "dropped"];

export interface Progress {
  what: string;
  done: number;  // 0..1
}

type Answer = { id: number; value?: any; error?: string; progress?: number };

interface Question {
  id: number;
  what: string;
  request: object;
  resolve(value: any): void;
  reject(error: Error): void;
}

// A trace that a server has, up to `size`.
export interface RemoteTrace {
  url: string;
  size: number;
}
export type TraceSource = Blob | RemoteTrace;

// The limits of remembered answers. A table of a million packets has 29 MB.
const kRememberedBytes = 64 << 20;
const kRememberedAnswers = 24;

export class Cancelled extends Error {}

const bytesOf = (value: any) => Object.values(value ?? {}).reduce((sum: number, part) =>
    sum + (ArrayBuffer.isView(part) ? part.byteLength : 0), 0);

// Something that answers the page's questions about a trace: the engine, or a summary.
export interface Answers {
  ask<T>(what: string, request: { call: string; [key: string]: unknown }): Promise<T>;
  cancel(): void;
  close(): void;
  compareWith(other: Blob | undefined): void;
}

export class Engine implements Answers {
  private worker: Worker;
  private next = 1;
  private running: Question | undefined;
  private waiting: Question[] = [];
  private known = new Map<string, { answer: Promise<unknown>; bytes: number }>();
  private other: Blob | undefined;

  constructor(private script: string, private module: WebAssembly.Module, private trace: TraceSource,
              private tell: (progress: Progress | undefined) => void) {
    this.worker = this.start();
  }

  // Sets the second trace, which questions with "trace": 1 are about.
  compareWith(other: Blob | undefined): void {
    this.cancel();
    for (const key of [...this.known.keys()])
      if (/"trace":1|"call":"compare"/.test(key)) this.known.delete(key);
    this.other = other;
    this.worker.postMessage({ other });
  }

  // A question that was asked before is answered from memory.
  ask<T>(what: string, request: { call: string; [key: string]: unknown }): Promise<T> {
    const key = JSON.stringify(request);
    const known = this.known.get(key);
    if (known) return known.answer as Promise<T>;
    const answer = new Promise<T>((resolve, reject) => {
      this.waiting.push({ id: this.next++, what, request, resolve, reject });
      this.go();
    });
    const entry = { answer, bytes: 0 };
    this.known.set(key, entry);
    answer.then((value) => {
      entry.bytes = bytesOf(value);
      this.forget(entry);
    }, () => {
      if (this.known.get(key) === entry) this.known.delete(key);
    });
    return answer;
  }

  // Forgets the oldest answers until the others are within the limits; the newest one stays.
  private forget(newest: object): void {
    let bytes = 0;
    for (const each of this.known.values()) bytes += each.bytes;
    for (const [key, each] of this.known) {
      if (bytes <= kRememberedBytes && this.known.size <= kRememberedAnswers) return;
      if (each === newest) continue;
      this.known.delete(key);
      bytes -= each.bytes;
    }
  }

  // Drops all questions that are not answered yet.
  cancel(): void {
    const dropped = this.waiting;
    this.waiting = [];
    if (this.running) {
      this.worker.terminate();
      dropped.unshift(this.running);
      this.running = undefined;
      this.worker = this.start();
    }
    for (const question of dropped) {
      this.known.delete(JSON.stringify(question.request));  // at once, as it may be asked again right away
      question.reject(new Cancelled());
    }
    this.tell(undefined);
  }

  close(): void {
    this.cancel();
    this.worker.terminate();
  }

  private start(): Worker {
    const url = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.hear(data);
    worker.onerror = (event) => this.fail(event.message);
    worker.postMessage({ module: this.module, trace: this.trace, other: this.other });
    return worker;
  }

  private go(): void {
    if (this.running || this.waiting.length === 0) return;
    this.running = this.waiting.shift()!;
    this.tell({ what: this.running.what, done: 0 });
    this.worker.postMessage({ id: this.running.id, request: this.running.request });
  }

  private hear(answer: Answer): void {
    const question = this.running;
    if (!question || question.id !== answer.id) return;
    if (answer.progress !== undefined) {
      this.tell({ what: question.what, done: answer.progress });
      return;
    }
    this.running = undefined;
    if (answer.error !== undefined) question.reject(new Error(answer.error));
    else question.resolve(answer.value);
    if (this.waiting.length === 0) this.tell(undefined);
    this.go();
  }

  private fail(text: string): void {
    const question = this.running;
    this.running = undefined;
    this.worker.terminate();
    this.worker = this.start();
    question?.reject(new Error(text));
    this.tell(undefined);
    this.go();
  }
}
