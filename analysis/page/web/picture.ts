// A canvas with axes, a table with the same values, and buttons to save both: every picture of the
// page is one of these.
import { Axis } from "./axes";
import { element, replace, save } from "./dom";

export interface DataTable {
  columns: string[];
  rows: (string | number)[][];
}

export interface Drawing {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  colour(name: string): string;
}

export interface Picture {
  root: HTMLElement;
  canvas: HTMLCanvasElement;
  draw(): void;
}

interface Options {
  title: string;
  height: number | (() => number);  // a function is asked before each drawing
  paint(drawing: Drawing): void;
  table(): DataTable;
  exact?(): DataTable;  // the figures that are saved, if the table has others
  isKeyed?: boolean;    // it has keys to zoom and move, which it gets without a click
}

// The canvases that are drawn again when the colours change. A canvas that left the page is
// forgotten, with its data.
const redraws = new WeakMap<HTMLCanvasElement, () => void>();
export const redrawn = (canvas: HTMLCanvasElement, draw: () => void) => redraws.set(canvas, draw);
document.addEventListener("scheme", () => document.querySelectorAll("canvas").forEach((canvas) => redraws.get(canvas)?.()));

export function picture({ title, height: wanted, paint, table, exact = table, isKeyed }: Options): Picture {
  const heightNow = () => (typeof wanted === "number" ? wanted : wanted());
  const canvas = element("canvas", { role: "img", tabindex: 0, "aria-label": title, "data-keyed": isKeyed });
  canvas.style.height = `${heightNow()}px`;
  const details = element("details", {},
      element("summary", {}, "as a table"));
  details.addEventListener("toggle", () => {
    if (details.open) replace(details, details.firstElementChild!, tableOf(table()));
  });
  const buttons = element("span", { class: "save" },
      element("button", { type: "button", title: `Save "${title}" as PNG`, click: () => savePng(canvas, title) }, "PNG"),
      element("button", { type: "button", title: `Save the data of "${title}" as CSV`,
                          click: () => save(`${fileName(title)}.csv`, "text/csv", csv(exact())) }, "CSV"));
  const root = element("figure", { class: "picture" },
      element("figcaption", {}, element("span", {}, title), buttons), canvas, details);

  let frame = 0;
  const now = () => {
    frame = 0;
    const width = Math.max(200, root.clientWidth), height = heightNow();
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    context.font = "12px system-ui, sans-serif";
    paint({ context, width, height, colour: coloursNow() });
  };
  const draw = () => {
    frame ||= requestAnimationFrame(now);
  };
  new ResizeObserver(draw).observe(root);
  redrawn(canvas, now);
  return { root, canvas, draw };
}

// Returns the page's colours by name. Each is looked up once, which takes longer than drawing a
// shape.
function coloursNow(): (name: string) => string {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) known.set(name, found = style.getPropertyValue(`--${name}`).trim());
    return found;
  };
}

// Writes texts of ticks below an axis. At the right end a text is moved into the picture. A text that
// would touch another one is left out, rather than one of a main tick.
class TickTexts {
  private taken: [from: number, to: number][] = [];

  constructor(private context: CanvasRenderingContext2D, private y: number, private width: number) {}

  write(text: string, at: number): void {
    const half = this.context.measureText(text).width / 2;
    const middle = Math.min(at, this.width - half - 1), from = middle - half - kBetweenTexts / 2, to = middle + half + kBetweenTexts / 2;
    if (this.taken.some(([begin, end]) => from < end && begin < to)) return;
    this.taken.push([from, to]);
    this.context.fillText(text, middle, this.y);
  }

  // Writes a text at the left edge of the picture, before those of the ticks.
  writeFirst(text: string): void {
    this.write(text, this.context.measureText(text).width / 2 + 1);
  }
}

const kBetweenTexts = 6;

// Draws the ticks of an axis across the picture, and their texts below. `first`: what stands before
// them.
export function drawTicks({ context, width, colour }: Pick<Drawing, "context" | "width" | "colour">, across: Axis, bottom: number,
                          text: (value: number) => string, first = ""): void {
  context.strokeStyle = colour("line");
  context.fillStyle = colour("faint");
  context.lineWidth = 1;
  context.textAlign = "center";
  context.textBaseline = "top";
  const texts = new TickTexts(context, bottom + 6, width);
  if (first) texts.writeFirst(first);
  const ticks = across.ticks();
  for (const { at } of ticks) line(context, at, bottom, at, bottom + 4);
  for (const isMain of [true, false])
    for (const { at, value, main } of ticks)
      if (main === isMain) texts.write(text(value), at);
}

export function drawAxes({ context, width, colour }: Drawing, across: Axis, up: Axis,
                         left: number, top: number, right: number, bottom: number,
                         acrossText: (value: number) => string, upText: (value: number) => string, first = ""): void {
  drawTicks({ context, width, colour }, across, bottom, acrossText, first);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { at, value, main } of up.ticks()) {
    context.globalAlpha = main ? 0.6 : 0.25;
    line(context, left, at, right, at);
    context.globalAlpha = 1;
    context.fillText(upText(value), left - 6, at);
  }
  context.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
}

export function line(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  context.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
  context.stroke();
}

export function tableOf(data: DataTable): HTMLTableElement {
  return element("table", {},
      element("thead", {}, element("tr", {}, ...data.columns.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...data.rows.map((row) =>
          element("tr", {}, ...row.map((cell) =>
              element("td", { class: typeof cell === "number" ? "number" : undefined }, String(cell)))))));
}

export function csv(data: DataTable): string {
  const cell = (value: string | number) => {
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [data.columns, ...data.rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

export const fileName = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

function savePng(canvas: HTMLCanvasElement, title: string): void {
  canvas.toBlob((blob) => blob && save(`${fileName(title)}.png`, "image/png", blob), "image/png");
}
