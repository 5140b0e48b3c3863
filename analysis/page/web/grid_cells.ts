// Heat maps of a summarised trace. It has no row for each packet, but a grid: the number of packets
// in each of its cells.
import { Axis } from "./axes";
import { Grid } from "./engine_client";
import { Cells, gridOf, kCell, kLeft, kTop } from "./heat_cells";
import { DataTable } from "./picture";
import { duration } from "./units";

// Spreads the grid's cells over those of a picture, which have another size: a picture's cell gets
// the share of a grid's cell that lies over it.
export function spreadCells(grid: Grid, direction: number, across: Axis, up: Axis, right: number, bottom: number): Cells {
  const wide = Math.ceil((right - kLeft) / kCell), tall = Math.ceil((bottom - kTop) / kCell);
  const counts = new Float32Array(wide * tall);
  const told = gridOf(grid, direction);
  for (let i = 0; i < (told?.count.length ?? 0); ++i) {
    const [x1, x2] = [0, 1].map((by) => (across.at((told!.column[i] + by) * grid.column_ns) - kLeft) / kCell);
    const [y2, y1] = [0, 1].map((by) => (up.at(2 ** ((told!.row[i] + by) / grid.rows_of_doubling)) - kTop) / kCell);
    const part = told!.count[i] / ((x2 - x1) * (y2 - y1));
    for (let y = Math.max(0, Math.floor(y1)); y < Math.min(tall, y2); ++y)
      for (let x = Math.max(0, Math.floor(x1)); x < Math.min(wide, x2); ++x)
        counts[y * wide + x] += part * (Math.min(x2, x + 1) - Math.max(x1, x)) * (Math.min(y2, y + 1) - Math.max(y1, y));
  }
  return { counts, wide, tall };
}

// Whole cells are added up, so the counts are exact.
export function countsOfGrid(grid: Grid, direction: number, steps: number, bands: number): DataTable {
  const told = gridOf(grid, direction);
  if (!told) return { columns: ["from"], rows: [] };
  const side = (of: number[], wanted: number) => {
    const first = of.reduce((a, b) => Math.min(a, b), Infinity), last = of.reduce((a, b) => Math.max(a, b), 0);
    const each = Math.ceil((last - first + 1) / wanted);
    return { first, each, number: Math.ceil((last - first + 1) / each) };
  };
  const across = side(told.column, steps), up = side(told.row, bands);
  const counts = Array.from({ length: across.number }, () => new Array<number>(up.number).fill(0));
  told.count.forEach((count, i) => {
    counts[Math.floor((told.column[i] - across.first) / across.each)][Math.floor((told.row[i] - up.first) / up.each)] += count;
  });
  const latency = (row: number) => duration(2 ** (row / grid.rows_of_doubling));
  return {
    columns: ["from", ...Array.from({ length: up.number }, (_, i) => `up to ${latency(up.first + (i + 1) * up.each)}`)],
    rows: counts.map((row, i) => [duration((across.first + i * across.each) * grid.column_ns), ...row]),
  };
}
