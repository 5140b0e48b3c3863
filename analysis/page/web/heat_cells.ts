// The number of packets or pieces in each cell of a picture of latency over time, and the image of
// these cells.
import { ArrivalRuns } from "./arrival_runs";
import { Axis } from "./axes";
import { Grid, GridCells, PieceTable } from "./engine_client";
import { bytesOf } from "./pixels";
import { remembered } from "./remembered";

// The margins of a picture of latency over time.
export const kLeft = 64, kRight = 12, kTop = 8, kBottom = 26;
export const kCell = 3;  // pixels

export const gridOf = (grid: Grid | undefined, direction: number): GridCells | undefined => grid?.[direction === 0 ? "D" : "U"];

type Extent = [first: number, last: number, low: number, high: number];

// Returns the extent of arrival times and latencies of a direction in all of the tables.
export function extent(direction: number, ...tables: (PieceTable | undefined)[]): Extent {
  const [first, last, low, high] = joined([direction], tables);
  if (high === 0) return [0, 1, 1, 10];
  return [first, Math.max(last, first + 1), low * 0.9, high * 1.2];
}

// Returns the first and the last arrival of both directions, so that their pictures one below the
// other have one axis.
export function span(...tables: (PieceTable | undefined)[]): [first: number, last: number] {
  const [first, last, , high] = joined([0, 1], tables);
  return high === 0 ? [0, 1] : [first, Math.max(last, first + 1)];
}

function joined(directions: number[], tables: (PieceTable | undefined)[]): Extent {
  const all: Extent = [Infinity, -Infinity, Infinity, 0];
  for (const direction of directions)
    for (const table of tables) {
      if (!table) continue;
      const of = remembered(table, `extent ${direction}`, "", () => extentOf(table, direction));
      [0, 2].forEach((at) => all[at] = Math.min(all[at], of[at]));
      [1, 3].forEach((at) => all[at] = Math.max(all[at], of[at]));
    }
  return all;
}

function extentOf({ grid, count, direction: directions, start, latency }: PieceTable, direction: number): Extent {
  const told = gridOf(grid, direction);
  if (told) return [told.first, told.last, told.low, told.high];
  let first = Infinity, last = -Infinity, low = Infinity, high = 0;
  for (let i = 0; i < count; ++i) {
    if (directions[i] !== direction || !(latency[i] > 0)) continue;
    first = Math.min(first, start[i]);
    last = Math.max(last, start[i]);
    low = Math.min(low, latency[i]);
    high = Math.max(high, latency[i]);
  }
  return [first, last, low, high];
}

export interface Cells {
  counts: Uint32Array | Float32Array;
  wide: number;
  tall: number;
  painted?: { image: OffscreenCanvas; as: string };  // the image that was made last
}

const kNowhere = 255;

// Returns for each piece the row of cells that it lies in, or kNowhere if it is of another
// direction. The rows do not change while a picture is moved along the time.
export function rowsOfCells(table: PieceTable, direction: number, up: Axis, bottom: number): Uint8Array {
  const tall = Math.ceil((bottom - kTop) / kCell);
  const rows = new Uint8Array(table.count).fill(kNowhere);
  for (let i = 0; i < table.count; ++i) {
    if (table.direction[i] !== direction || !(table.latency[i] > 0)) continue;
    const row = Math.min(tall - 1, Math.floor((up.at(table.latency[i]) - kTop) / kCell));
    if (row >= 0) rows[i] = row;
  }
  return rows;
}

// Counts the pieces within the axes in each cell, of all rows or of `runs`. The axis across is linear,
// so that a column follows from one multiplication.
export function countCells(table: PieceTable, rowsOf: Uint8Array, across: Axis, right: number, bottom: number, runs?: ArrivalRuns): Cells {
  const wide = Math.ceil((right - kLeft) / kCell), tall = Math.ceil((bottom - kTop) / kCell);
  const counts = new Uint32Array(wide * tall);
  const { from, to } = across, { start } = table;
  const cellsOf = (across.at(to) - across.at(from)) / (to - from || 1) / kCell, first = (across.at(from) - kLeft) / kCell;
  const countRows = (begin: number, end: number) => {
    for (let i = begin; i < end; ++i) {
      const row = rowsOf[i], at = start[i];
      if (row === kNowhere || at < from || at > to) continue;
      const column = Math.min(wide - 1, Math.floor(first + (at - from) * cellsOf));
      if (column >= 0) ++counts[row * wide + column];
    }
  };
  if (runs) runs.rowsBetween(from, to, countRows);
  else countRows(0, table.count);
  return { counts, wide, tall };
}

export function mostOf({ counts }: Cells): number {
  let most = 1;
  for (const number of counts) most = Math.max(most, number);
  return most;
}

// A cell with `most` packets is the darkest.
export function paintCells(context: CanvasRenderingContext2D, cells: Cells, colour: string, most = mostOf(cells)): void {
  const { wide, tall } = cells;
  const as = `${colour} ${most}`;
  if (cells.painted?.as !== as) cells.painted = { image: imageOf(cells, colour, most), as };
  context.imageSmoothingEnabled = false;
  context.save();
  context.beginPath();  // the last column of cells may be cut
  context.rect(kLeft, kTop, context.canvas.clientWidth - kLeft - kRight, tall * kCell);
  context.clip();
  context.drawImage(cells.painted.image, kLeft, kTop, wide * kCell, tall * kCell);
  context.restore();
}

function imageOf({ counts, wide, tall }: Cells, colour: string, most: number): OffscreenCanvas {
  const image = new OffscreenCanvas(wide, tall);
  const inner = image.getContext("2d")!;
  const pixels = inner.createImageData(wide, tall);
  const [red, green, blue] = bytesOf(colour);
  const darkest = Math.log1p(most);
  for (let i = 0; i < counts.length; ++i) {
    if (counts[i] === 0) continue;
    pixels.data[4 * i] = red;
    pixels.data[4 * i + 1] = green;
    pixels.data[4 * i + 2] = blue;
    pixels.data[4 * i + 3] = 45 + 210 * (Math.log1p(counts[i]) / darkest);
  }
  inner.putImageData(pixels, 0, 0);
  return image;
}

