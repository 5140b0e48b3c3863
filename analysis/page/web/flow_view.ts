// The flow of units from place to place. An arrow is as wide as its share of the units.
import { element, shape } from "./dom";
import { drawingFigure } from "./drawing_figure";
import { Report } from "./report_types";
import { count, duration, plainName } from "./units";

interface Node {
  name: string;
  rank: number;
  row: number;
}

interface Edge {
  from: string;
  to: string;
  count: number;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface PlaceBox extends Box {
  rank: number;
}

const kLeastWide = 138, kTall = 44, kDown = 64, kMargin = 12, kAmountTall = 15;
const kBend = 42;  // a curve comes three quarters of it below its ends: between two rows of places
const kMostLetters = 36;  // of a place's name in its box; the tooltip has all
const kPlaceFont = "600 12px system-ui, sans-serif", kSmallFont = "11px system-ui, sans-serif";
// The parts of an arrow's length at which its number may stand, the middle first, and how far above
// or below it if there is no room on it.
const kPartsOfArrow = Array.from({ length: 19 }, (_, at) => 0.5 + (at % 2 ? 0.05 : -0.05) * Math.ceil(at / 2));
const kBesideArrow = [0, 16, -16, 32, -32];

export function flowView(report: Report): HTMLElement {
  const section = element("section", {});
  for (const dir of ["D", "U"]) {
    const drawing = flowOf(report, dir);
    if (!drawing) continue;
    const title = dir === "D" ? "Downlink: which place feeds which" : "Uplink: which place feeds which";
    const hops = report.hops.filter((hop) => hop.dir === dir);
    const data = { columns: ["from", "place", "to", "units", "p50", "p99"],
                   rows: hops.map((hop) => [plainName(hop.from), plainName(hop.at), plainName(hop.to), hop.count,
                                            duration(1000 * hop.latency_us.p50), duration(1000 * hop.latency_us.p99)]) };
    section.append(drawingFigure(title, drawing, data));
  }
  return section;
}

function flowOf(report: Report, dir: string): SVGElement | undefined {
  const edges = edgesOf(report, dir);
  if (edges.length === 0) return undefined;
  const figuresOf = (name: string) => {
    const stay = report.queues.find((place) => place.dir === dir && place.name === name)?.stay_us;
    return stay ? `${duration(1000 * stay.p50)}, p99 ${duration(1000 * stay.p99)}` : "";
  };
  const nodes = layered(edges);
  const wide = Math.max(kLeastWide, ...nodes.map(({ name }) => 20 + Math.max(widthOf(shortened(name), kPlaceFont), widthOf(figuresOf(name), kSmallFont))));
  // Between two places there is room for the widest number.
  const across = wide + 30 + Math.max(...edges.map((edge) => amountWidth(edge)));
  const boxes = new Map(nodes.map(({ name, rank, row }): [string, PlaceBox] =>
      [name, { rank, x: kMargin + rank * across, y: kMargin + row * kDown, width: wide, height: kTall }]));
  const width = kMargin + Math.max(...[...boxes.values()].map((box) => box.x)) + wide;
  const height = kMargin + Math.max(...[...boxes.values()].map((box) => box.y)) + kDown;
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "flow",
                                 "aria-label": `${dir === "D" ? "Downlink" : "Uplink"}: ${nodes.length} places` });
  // A long pipeline is not made so small that nobody can read it: it is scrolled.
  Object.assign(drawing.style, { maxWidth: `${width}px`, minWidth: `${0.75 * width}px` });
  const most = Math.max(...edges.map((edge) => edge.count));
  drawing.append(...edges.map((edge) => arrow(edge, boxes, most)));
  for (const [name, { x, y }] of boxes)
    drawing.append(shape("rect", { x, y, width: wide, height: kTall, rx: 6, class: "node" }, shape("title", {}, `${plainName(name)} ${figuresOf(name)}`)),
                   shape("text", { x: x + wide / 2, y: y + 18, class: "place", "data-place": plainName(name) }, shortened(name)),
                   shape("text", { x: x + wide / 2, y: y + 35, class: "figures" }, figuresOf(name)));
  drawing.append(...amounts(edges, boxes));
  return drawing;
}

function edgesOf(report: Report, dir: string): Edge[] {
  const hops = report.hops.filter((hop) => hop.dir === dir && hop.count > 0);
  const edges = new Map<string, Edge>();
  const add = (from: string, to: string, units: number) => {
    const key = `${from}\n${to}`;
    const known = edges.get(key);
    if (known) known.count += units;
    else edges.set(key, { from, to, count: units });
  };
  for (const hop of hops) add(hop.at, hop.to, hop.count);
  for (const hop of hops) if (!hops.some((other) => other.at === hop.from)) add(hop.from, hop.at, hop.count);
  return [...edges.values()];
}

// A long name keeps its beginning and its end.
function shortened(name: string): string {
  const plain = plainName(name);
  return plain.length <= kMostLetters ? plain : `${plain.slice(0, kMostLetters - 16)}\u2026${plain.slice(-15)}`;
}

let measure: OffscreenCanvasRenderingContext2D | undefined;
function widthOf(text: string, font: string): number {
  measure ??= new OffscreenCanvas(1, 1).getContext("2d")!;
  measure.font = font;
  return measure.measureText(text).width;
}
const amountWidth = (edge: Edge) => widthOf(count(edge.count), kSmallFont) + 8;

// The four points of an arrow's curve. An arrow that does not lead to the next column goes below the
// places on its way.
function curveOf(edge: Edge, boxes: Map<string, PlaceBox>): [x: number, y: number][] {
  const from = boxes.get(edge.from)!, to = boxes.get(edge.to)!;
  const x1 = from.x + from.width, y1 = from.y + kTall / 2, x2 = to.x, y2 = to.y + kTall / 2;
  const bend = to.rank === from.rank + 1 ? 0 : kBend;
  return [[x1, y1], [x1 + 40, y1 + bend], [x2 - 40, y2 + bend], [x2, y2]];
}

function arrow(edge: Edge, boxes: Map<string, PlaceBox>, most: number): SVGElement {
  const [begin, ...others] = curveOf(edge, boxes).map((point) => point.join(" "));
  return shape("path", { d: `M${begin}C${others.join(" ")}`, class: "edge", "stroke-width": Math.max(1, 14 * (edge.count / most)) },
      shape("title", {}, `${plainName(edge.from)} to ${plainName(edge.to)}: ${count(edge.count)}`));
}

// The number of each arrow, on the arrow or beside it, where it covers neither a place nor another
// number.
function amounts(edges: Edge[], boxes: Map<string, PlaceBox>): SVGElement[] {
  const taken: Box[] = [...boxes.values()];
  const isFree = (box: Box) => taken.every((other) => box.x >= other.x + other.width || other.x >= box.x + box.width ||
      box.y >= other.y + other.height || other.y >= box.y + box.height);
  return edges.flatMap((edge) => {
    const curve = curveOf(edge, boxes);
    const width = amountWidth(edge);
    const places = kBesideArrow.flatMap((beside) => kPartsOfArrow.map((t): Box => {
      const weights = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
      const middle = (axis: 0 | 1) => curve.reduce((sum, point, at) => sum + weights[at] * point[axis], 0);
      return { x: middle(0) - width / 2, y: middle(1) + beside - kAmountTall / 2, width, height: kAmountTall };
    }));
    const box = places.find(isFree) ?? places[0];
    taken.push(box);
    return [shape("rect", { ...box, class: "behind" }),
            shape("text", { x: box.x + width / 2, y: box.y + 11, class: "amount" }, count(edge.count))];
  });
}

// A place stands as far to the right as the longest way to it is long. A circle is cut where it
// closes.
function layered(edges: { from: string; to: string }[]): Node[] {
  const rank = new Map<string, number>();
  const names = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const visit = (name: string, on: Set<string>): number => {
    const known = rank.get(name);
    if (known !== undefined) return known;
    if (on.has(name)) return 0;
    on.add(name);
    const before = edges.filter(({ to, from }) => to === name && !on.has(from)).map(({ from }) => visit(from, on) + 1);
    on.delete(name);
    const mine = Math.max(0, ...before);
    rank.set(name, mine);
    return mine;
  };
  for (const name of names) visit(name, new Set());
  // A point without predecessors stands right before the first one that it feeds.
  for (const name of names)
    if (!edges.some(({ to }) => to === name))
      rank.set(name, Math.max(0, Math.min(...edges.filter(({ from }) => from === name).map(({ to }) => rank.get(to)!)) - 1));
  const rows = new Map<number, number>();
  return names.map((name) => {
    const mine = rank.get(name)!;
    const row = rows.get(mine) ?? 0;
    rows.set(mine, row + 1);
    return { name, rank: mine, row };
  });
}
