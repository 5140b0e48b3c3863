// The pieces of a direction in runs of the table's rows, with the first and the last arrival of each
// run. Rows are nearly in the order of time, so a short stretch of a long trace is in few runs.
import { PieceTable } from "./engine_client";

const kRun = 1024;  // rows

export class ArrivalRuns {
  private first: Float64Array;
  private last: Float64Array;
  private count: Uint32Array;

  constructor(private table: PieceTable, private direction: number) {
    const runs = Math.ceil(table.count / kRun);
    this.first = new Float64Array(runs).fill(Infinity);
    this.last = new Float64Array(runs).fill(-Infinity);
    this.count = new Uint32Array(runs);
    for (let i = 0; i < table.count; ++i) {
      const at = table.start[i], run = Math.floor(i / kRun);
      if (table.direction[i] !== direction || Number.isNaN(at)) continue;
      if (at < this.first[run]) this.first[run] = at;
      if (at > this.last[run]) this.last[run] = at;
      ++this.count[run];
    }
  }

  // Returns the number of pieces that arrived from `from` up to `to`, and writes the rows of the first
  // of them, as many as there is room for.
  find(from: number, to: number, room: Uint32Array): number {
    const { table: { direction, start } } = this;
    let found = 0;
    for (let run = 0; run < this.count.length; ++run) {
      if (!this.touches(run, from, to)) continue;
      if (found >= room.length && this.first[run] >= from && this.last[run] <= to) {
        found += this.count[run];
        continue;
      }
      const end = this.end(run);
      for (let i = run * kRun; i < end; ++i) {
        if (direction[i] !== this.direction || !(start[i] >= from && start[i] <= to)) continue;
        if (found < room.length) room[found] = i;
        ++found;
      }
    }
    return found;
  }

  // Calls `visit` with the rows [begin, end) that may have pieces from `from` up to `to`.
  rowsBetween(from: number, to: number, visit: (begin: number, end: number) => void): void {
    for (let run = 0; run < this.count.length; ++run)
      if (this.touches(run, from, to)) visit(run * kRun, this.end(run));
  }

  private touches(run: number, from: number, to: number): boolean {
    return this.count[run] > 0 && this.first[run] <= to && this.last[run] >= from;
  }

  private end(run: number): number {
    return Math.min(this.table.count, (run + 1) * kRun);
  }
}
