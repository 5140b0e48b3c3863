// Latency over arrival time, a dot a piece; a line joins the pieces of a packet. If too many pieces
// are in view to be told apart, their number is shown instead, as on the first screen.
import { ArrivalRuns } from "./arrival_runs";
import { linear, logarithmic } from "./axes";
import { digitOf } from "./digit_keys";
import { element } from "./dom";
import { PieceTable } from "./engine_client";
import { Cells, countCells, extent, kBottom, kLeft, kRight, kTop, paintCells, rowsOfCells } from "./heat_cells";
import { drawAxes, picture } from "./picture";
import { PixelLayer } from "./pixels";
import { following, keepSoon, openPacket, stretches, stretchOf, stretchText } from "./selection";
import { count, duration, instantTexts } from "./units";

const kHeight = 320;
const kMostDots = 3000;
const kDot = 3;  // its radius
const kMostRows = 1000;

export function arrivalsView(table: PieceTable): HTMLElement {
  const directions = [0, 1].filter((direction) => table.direction.includes(direction));
  return element("section", {},
      element("p", {}, "W and S zoom, A and D move, 0 shows all, a drag selects a stretch. A click on a dot opens its packet."),
      ...directions.map((direction) => arrivals(table, direction)));
}

function arrivals(table: PieceTable, direction: number): HTMLElement {
  const [first, last, low, high] = extent(direction, table);
  const stretch = stretches[direction === 0 ? "D" : "U"];
  const within = (ns: number) => Math.min(Math.max(ns, first), last);
  const [keptFrom, keptTo] = (stretchOf(stretch.get()) ?? [first, last]).map(within);
  let [from, to] = keptFrom < keptTo ? [keptFrom, keptTo] : [first, last];
  let cells: Cells | undefined;
  let cellsOf = "";
  let dragged: [number, number] | undefined;
  let inView = 0;
  const runs = new ArrivalRuns(table, direction);
  // The pieces in view, at most kMostDots of them. The pieces of a packet follow one another in the
  // table, and packets are nearly in the order of time.
  const room = new Uint32Array(kMostDots);
  let shown = room;
  const summary = element("p", { "aria-live": "polite" });
  const axes = (width: number) => ({
    across: linear(from, to, kLeft, width - kRight),
    up: logarithmic(low, high, kHeight - kBottom, kTop),
  });
  const cellRows = rowsOfCells(table, direction, logarithmic(low, high, kHeight - kBottom, kTop), kHeight - kBottom);
  const choose = () => {
    inView = runs.find(from, to, room);
    shown = room.subarray(0, inView);
    summary.textContent = inView > kMostDots
        ? `${count(inView)} pieces are in view: darker is more. Zoom to see each.`
        : `${count(inView)} pieces are in view, a dot each.`;
  };
  choose();
  const made = picture({
    title: `Latency of each ${direction === 0 ? "downlink" : "uplink"} piece over its arrival time`,
    height: kHeight,
    isKeyed: true,
    table: () => ({
      columns: ["journey", "arrival", "latency"],
      rows: Array.from(shown.subarray(0, kMostRows), (i) => [table.id[i], duration(table.start[i]), duration(table.latency[i])]),
    }),
    paint(drawing) {
      const { context, width, colour } = drawing;
      const { across, up } = axes(width);
      const right = width - kRight, bottom = kHeight - kBottom;
      context.fillStyle = colour("panel");
      context.fillRect(kLeft, kTop, right - kLeft, bottom - kTop);
      if (inView > kMostDots) {
        const key = `${from} ${to} ${width}`;
        if (key !== cellsOf) cells = countCells(table, cellRows, across, right, bottom, runs);
        cellsOf = key;
        paintCells(context, cells!, colour("heat"));
      }
      const { text, origin } = instantTexts(from, to);
      drawAxes(drawing, across, up, kLeft, kTop, right, bottom, text, duration, origin);
      if (inView <= kMostDots) {
        joins(context, table, shown, across.at, up.at, colour("faint"));
        // Dots at the edges of the picture are drawn whole.
        const dots = new PixelLayer(kLeft - kDot, kTop - kDot, right - kLeft + 2 * kDot, bottom - kTop + 2 * kDot);
        const ink = colour(direction === 0 ? "p0" : "p1"), size = inView > 600 ? 2 : kDot;
        for (const i of shown) dots.dot(across.at(table.start[i]), up.at(table.latency[i]), size, ink);
        dots.paint(context);
      }
      if (dragged) {
        context.fillStyle = colour("accent");
        context.globalAlpha = 0.2;
        context.fillRect(dragged[0], kTop, dragged[1] - dragged[0], bottom - kTop);
        context.globalAlpha = 1;
      }
    },
  });
  const go = (left: number, right: number) => {
    following.set(false);
    const span = Math.min(Math.max(right - left, 1000), last - first);
    from = Math.min(Math.max(left, first), last - span);
    to = from + span;
    keepSoon(stretch, from === first && to === last ? "" : stretchText(from, to));
    choose();
    made.draw();
  };
  const zoom = (factor: number, around: number) => go(around - (around - from) * factor, around + (to - around) * factor);
  const nearest = (x: number, y: number) => {
    const { across, up } = axes(made.canvas.clientWidth);
    let best: number | undefined, distance = 10 * 10;
    if (inView <= kMostDots)
      for (const i of shown) {
        const away = (across.at(table.start[i]) - x) ** 2 + (up.at(table.latency[i]) - y) ** 2;
        if (away < distance) [best, distance] = [i, away];
      }
    return best;
  };
  listen(made.canvas, {
    zoom: (factor, x) => zoom(factor, x === undefined ? (from + to) / 2 : axes(made.canvas.clientWidth).across.value(x)),
    move: (part) => go(from + (to - from) * part, to + (to - from) * part),
    all: () => go(first, last),
    hover(x, y) {
      const i = nearest(x, y);
      made.canvas.style.cursor = i === undefined ? "crosshair" : "pointer";
      made.canvas.title = i === undefined ? "" : `journey ${table.id[i]}: ${duration(table.latency[i])}, arrived after ${duration(table.start[i])}`;
    },
    drag(x1, x2) {
      dragged = [x1, x2];
      made.draw();
    },
    drop(x1, x2, y) {
      dragged = undefined;
      const { across } = axes(made.canvas.clientWidth);
      const i = Math.abs(x2 - x1) < 4 ? nearest(x1, y) : undefined;
      if (i !== undefined) openPacket.set(table.id[i]);
      else if (Math.abs(x2 - x1) >= 4) go(across.value(Math.min(x1, x2)), across.value(Math.max(x1, x2)));
      made.draw();
    },
  });
  made.root.querySelector("canvas")!.after(summary);
  return made.root;
}

// Lines between the pieces of a packet, as one shape.
function joins(context: CanvasRenderingContext2D, table: PieceTable, shown: Uint32Array, x: (value: number) => number,
               y: (value: number) => number, ink: string): void {
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.beginPath();
  shown.forEach((i, at) => {
    const isSame = at > 0 && table.id[shown[at - 1]] === table.id[i];
    if (isSame) context.lineTo(x(table.start[i]), y(table.latency[i]));
    else context.moveTo(x(table.start[i]), y(table.latency[i]));
  });
  context.stroke();
}

interface Moves {
  zoom(factor: number, x?: number): void;
  move(part: number): void;
  all(): void;
  hover(x: number, y: number): void;
  drag(x1: number, x2: number): void;
  drop(x1: number, x2: number, y: number): void;
}

function listen(canvas: HTMLCanvasElement, moves: Moves): void {
  let began: number | undefined;
  let pulled: number | undefined;  // where the pointer was last, with Shift
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.code === "KeyW") moves.zoom(0.5);
    else if (event.code === "KeyS") moves.zoom(2);
    else if (event.code === "KeyA") moves.move(-1 / 3);
    else if (event.code === "KeyD") moves.move(1 / 3);
    else if (digitOf(event) === 0 || event.code === "KeyF") moves.all();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    moves.zoom(event.deltaY > 0 ? 1.5 : 1 / 1.5, event.offsetX);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (event.shiftKey) pulled = event.offsetX;
    else began = event.offsetX;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (pulled !== undefined) {
      moves.move((pulled - event.offsetX) / (canvas.clientWidth - kLeft - kRight));
      pulled = event.offsetX;
    } else if (began === undefined) moves.hover(event.offsetX, event.offsetY);
    else moves.drag(began, event.offsetX);
  });
  canvas.addEventListener("pointerup", (event) => {
    pulled = undefined;
    if (began === undefined) return;
    const x = began;
    began = undefined;
    moves.drop(x, event.offsetX, event.offsetY);
  });
}
