// The heat map of a direction, latency over arrival time: how many packets lie in each cell, the
// deadline as a line, and the slowest packets as dots. A dot opens its packet. A box that is
// dragged over the picture asks what is different in there.
import { Axis, linear, logarithmic } from "./axes";
import { element } from "./dom";
import { kDirections, PieceTable } from "./engine_client";
import { countsOfGrid, spreadCells } from "./grid_cells";
import { Cells, countCells, extent, kBottom, kLeft, kRight, kTop, mostOf, paintCells, rowsOfCells, span } from "./heat_cells";
import { drawAxes, DataTable, Drawing, line, picture, Picture } from "./picture";
import { remembered } from "./remembered";
import { duration, exactTime } from "./units";

export interface Box {
  direction: number;
  from: number;
  to: number;
  low: number;
  high: number;
}

interface Options {
  direction: number;
  table: PieceTable;
  title?: string;
  beside?: PieceTable;  // the table of the picture beside it: both have one scale
  deadline: number | undefined;
  dots: { id: number; start: number; latency: number }[];
  off?: [from: number, to: number][];  // when points of the direction were off
  box: Box | undefined;
  open(id: number): void;
  select?(box: Box): void;  // undefined: no box can be dragged
}

const kHeight = 240;
const kWordsTall = 16;
const kDotRoom = 8;  // beside the middle of a dot

export function boxExpression(box: Box): string {
  return `dir == ${kDirections[box.direction]} && time in ${exactTime(box.from)}..${exactTime(box.to)}` +
      ` && latency in ${exactTime(box.low)}..${exactTime(box.high)}`;
}

// The box as the page's address has it.
export const boxText = (box: Box) => [kDirections[box.direction], ...[box.from, box.to, box.low, box.high].map(Math.round)].join(",");

export function boxOf(text: string): Box | undefined {
  const [letter, ...numbers] = text.split(",");
  const [from, to, low, high] = numbers.map(Number);
  const direction = kDirections.indexOf(letter);
  return direction >= 0 && numbers.length === 4 && from <= to && low <= high ? { direction, from, to, low, high } : undefined;
}

export function heatMap(options: Options): Picture {
  const { direction, table, dots, deadline } = options;
  const [, , low, high] = extent(direction, table, options.beside);
  const [first, last] = span(table, options.beside);
  const off = (options.off ?? []).map(([from, to]) => [Math.max(first, from), Math.min(last, to)]).filter(([from, to]) => from < to);
  let axes: { across: Axis; up: Axis; width: number } | undefined;
  let dragged: { x1: number; y1: number; x2: number; y2: number } | undefined;
  let cells: Cells | undefined;
  let chosen = -1;  // the dot that the keyboard is at
  let most: number | undefined;  // packets in a cell, here and beside

  const made = picture({
    title: options.title ?? `Latency of ${direction === 0 ? "downlink" : "uplink"} packets over arrival time`,
    height: kHeight,
    table: () => rows(table, direction, first, last, low, high),
    paint(drawing) {
      const { context, width, height, colour } = drawing;
      const right = width - kRight, bottom = height - kBottom;
      const across = linear(first, last, kLeft, right);
      const up = logarithmic(low, high, bottom, kTop);
      if (!cells || axes?.width !== width) {
        const count = (of: PieceTable) => remembered(of, `cells ${direction}`, [first, last, low, high, width].join(), () =>
            of.grid ? spreadCells(of.grid, direction, across, up, right, bottom)
                : countCells(of, rowsOfCells(of, direction, up, bottom), across, right, bottom));
        cells = count(table);
        most = options.beside && Math.max(mostOf(cells), mostOf(count(options.beside)));
      }
      axes = { across, up, width };
      context.fillStyle = colour("panel");
      context.fillRect(kLeft, kTop, right - kLeft, bottom - kTop);
      paintOff(drawing, off.map(([from, to]) => [across.at(from), across.at(to)]), bottom);
      paintCells(context, cells, colour("heat"), most);
      drawAxes(drawing, across, up, kLeft, kTop, right, bottom,
               (value) => duration(value), (value) => duration(value));
      if (deadline !== undefined && deadline >= low && deadline <= high) {
        context.strokeStyle = colour("bad");
        context.setLineDash([5, 4]);
        line(context, kLeft, up.at(deadline), right, up.at(deadline));
        context.setLineDash([]);
        // The words have an outline to be legible over cells, and stand where no dots are, as far to
        // the right as that is; above the line, if there is room.
        const words = `late above ${duration(deadline)}`;
        const room = context.measureText(words).width + 8;
        const isFree = (from: number) => dots.every(({ start }) => across.at(start) < from - kDotRoom || across.at(start) > from + room + kDotRoom);
        let from = right - room;
        while (from > kLeft && !isFree(from)) from -= kDotRoom;
        if (from <= kLeft) from = right - room;
        context.fillStyle = colour("bad");
        context.textAlign = "left";
        const isAbove = up.at(deadline) - kTop > kWordsTall;
        const y = up.at(deadline) + (isAbove ? -2 : 3);
        context.textBaseline = isAbove ? "bottom" : "top";
        context.strokeStyle = colour("panel");
        context.lineWidth = 4;
        context.strokeText(words, from + 4, y);
        context.lineWidth = 1;
        context.fillText(words, from + 4, y);
      }
      for (const dot of dots) {
        context.beginPath();
        context.arc(across.at(dot.start), up.at(dot.latency), 4, 0, 2 * Math.PI);
        context.fillStyle = colour("bad");
        context.fill();
        context.strokeStyle = colour("page");
        context.stroke();
      }
      if (chosen >= 0 && dots[chosen]) {
        context.beginPath();
        context.arc(across.at(dots[chosen].start), up.at(dots[chosen].latency), 8, 0, 2 * Math.PI);
        context.strokeStyle = colour("accent");
        context.lineWidth = 2;
        context.stroke();
        context.lineWidth = 1;
      }
      const shown = dragged ?? (options.box && { x1: across.at(options.box.from), x2: across.at(options.box.to),
                                                 y1: up.at(options.box.high), y2: up.at(options.box.low) });
      if (shown) {
        context.save();
        context.beginPath();
        context.rect(kLeft, kTop, right - kLeft, bottom - kTop);
        context.clip();
        context.strokeStyle = colour("accent");
        context.fillStyle = colour("accent");
        const { x1, y1, x2, y2 } = shown;
        context.globalAlpha = 0.15;
        context.fillRect(x1, y1, x2 - x1, y2 - y1);
        context.globalAlpha = 1;
        context.strokeRect(x1, y1, x2 - x1, y2 - y1);
        context.restore();
      }
    },
  });

  const nearest = (x: number, y: number) => {
    let best: number | undefined, distance = 12 * 12;
    for (const dot of dots) {
      const away = (axes!.across.at(dot.start) - x) ** 2 + (axes!.up.at(dot.latency) - y) ** 2;
      if (away < distance) [best, distance] = [dot.id, away];
    }
    return best;
  };
  const { canvas } = made;
  const inside = (x: number, y: number) => [
    Math.min(Math.max(x, kLeft), canvas.clientWidth - kRight),
    Math.min(Math.max(y, kTop), kHeight - kBottom),
  ];
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !axes) return;
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = inside(event.offsetX, event.offsetY);
    dragged = { x1: x, y1: y, x2: x, y2: y };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!axes) return;
    if (!dragged) {
      const { offsetX: x, offsetY: y } = event;
      canvas.style.cursor = nearest(x, y) !== undefined ? "pointer" : options.select ? "crosshair" : "default";
      const at = axes.across.value(x);
      canvas.title = `${duration(at)} after the start, latency ${duration(axes.up.value(y))}` +
          (off.some(([from, to]) => from <= at && at <= to) ? ". Some points were off then." : "");
      return;
    }
    if (!options.select) return;
    [dragged.x2, dragged.y2] = inside(event.offsetX, event.offsetY);
    made.draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!dragged || !axes) return;
    const { x1, y1, x2, y2 } = dragged;
    dragged = undefined;
    made.draw();
    if (Math.abs(x2 - x1) < 4 && Math.abs(y2 - y1) < 4) {
      const id = nearest(event.offsetX, event.offsetY);
      if (id !== undefined) options.open(id);
      return;
    }
    options.select?.({
      direction,
      from: axes.across.value(Math.min(x1, x2)),
      to: axes.across.value(Math.max(x1, x2)),
      low: axes.up.value(Math.max(y1, y2)),
      high: axes.up.value(Math.min(y1, y2)),
    });
  });
  // Arrow keys go from dot to dot, Enter opens the packet.
  const told = element("p", { class: "told", "aria-live": "polite" });
  canvas.after(told);
  canvas.addEventListener("keydown", (event) => {
    if (dots.length > 0 && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      chosen = (chosen + (event.key === "ArrowRight" ? 1 : dots.length - 1) + dots.length) % dots.length;
      told.textContent = `journey ${dots[chosen].id}: ${duration(dots[chosen].latency)}, arrived after ${duration(dots[chosen].start)}. Enter opens it.`;
      made.draw();
      event.preventDefault();
    } else if (event.key === "Enter" && chosen >= 0) {
      options.open(dots[chosen].id);
    }
  });
  return made;
}

// Marks the stretches, in pixels, in which points were off. Where there is room a word says so.
function paintOff({ context, colour }: Drawing, stretches: number[][], bottom: number): void {
  const words = "points were off";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const [from, to] of stretches) {
    context.globalAlpha = 0.5;
    context.fillStyle = colour("line");
    context.fillRect(from, kTop, to - from, bottom - kTop);
    context.globalAlpha = 1;
    context.fillStyle = colour("faint");
    if (to - from > context.measureText(words).width + 8) context.fillText(words, (from + to) / 2, (kTop + bottom) / 2);
  }
}

const kDots = 12;

// Returns the slowest packets of a direction.
export const slowestDots = (direction: number, table: PieceTable): Options["dots"] =>
    remembered(table, `dots ${direction}`, "", () => dotsOf(direction, table));

function dotsOf(direction: number, table: PieceTable): Options["dots"] {
  const slowest: Options["dots"] = [];
  for (let i = 0; i < table.count; ++i) {
    if (table.direction[i] !== direction || !(table.latency[i] >= 0)) continue;
    if (slowest.length === kDots && table.latency[i] <= slowest[kDots - 1].latency) continue;
    slowest.push({ id: table.id[i], start: table.start[i], latency: table.latency[i] });
    slowest.sort((a, b) => b.latency - a.latency);
    slowest.length = Math.min(slowest.length, kDots);
  }
  return slowest;
}

function rows(table: PieceTable, direction: number, first: number, last: number, low: number, high: number): DataTable {
  const kSteps = 20;
  if (table.grid) return countsOfGrid(table.grid, direction, kSteps, 8);
  const up = logarithmic(low, high, 0, 8);
  const counts = Array.from({ length: kSteps }, () => new Array<number>(8).fill(0));
  for (let i = 0; i < table.count; ++i) {
    if (table.direction[i] !== direction || !(table.latency[i] > 0)) continue;
    const step = Math.min(kSteps - 1, Math.floor(((table.start[i] - first) / (last - first)) * kSteps));
    ++counts[step][Math.min(7, Math.floor(up.at(table.latency[i])))];
  }
  return {
    columns: ["from", ...Array.from({ length: 8 }, (_, i) => `up to ${duration(up.value(i + 1))}`)],
    rows: counts.map((row, i) => [duration(first + ((last - first) * i) / kSteps), ...row]),
  };
}
