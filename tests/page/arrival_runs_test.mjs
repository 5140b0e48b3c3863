// The rows that arrived within a stretch of time, against a look at every row.
import assert from "node:assert/strict";
import test from "node:test";
import { ArrivalRuns } from "./arrival_runs.mjs";

const kRows = 20_000;

// Rows that are nearly in the order of time, of two directions. Some have no time.
function madeUp() {
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const table = { count: kRows, start: new Float64Array(kRows), direction: new Uint8Array(kRows) };
  for (let i = 0; i < kRows; ++i) {
    table.start[i] = i % 501 === 0 ? NaN : 1000 * i + 100_000 * random();
    table.direction[i] = random() < 0.6 ? 0 : 1;
  }
  return table;
}

function byLookingAtAll(table, direction, from, to) {
  const rows = [];
  for (let i = 0; i < table.count; ++i)
    if (table.direction[i] === direction && table.start[i] >= from && table.start[i] <= to) rows.push(i);
  return rows;
}

test("pieces in view are those that a look at every row finds", () => {
  const table = madeUp();
  const last = 1000 * kRows;
  for (const direction of [0, 1]) {
    const runs = new ArrivalRuns(table, direction);
    for (const [from, to] of [[-1, 2 * last], [0, last / 2], [last / 3, last / 2], [last / 3, last / 3 + 30_000], [table.start[7000], table.start[7000]], [2 * last, 3 * last]]) {
      const all = byLookingAtAll(table, direction, from, to);
      const room = new Uint32Array(300);
      assert.equal(runs.find(from, to, room), all.length);
      const shown = Math.min(all.length, room.length);
      assert.deepEqual([...room.subarray(0, shown)], all.slice(0, shown));
      const looked = new Set();
      runs.rowsBetween(from, to, (begin, end) => {
        for (let i = begin; i < end; ++i) looked.add(i);
      });
      assert.ok(all.every((i) => looked.has(i)));
      // A run at each end, and those that the spread of 100 us reaches.
      assert.ok(looked.size <= Math.max(0, to - from) / 1000 + 100 + 2 * 1024);
    }
  }
});

test("a table without rows has no piece in view", () => {
  const table = { count: 0, start: new Float64Array(), direction: new Uint8Array() };
  assert.equal(new ArrivalRuns(table, 0).find(0, 1, new Uint32Array(10)), 0);
});
