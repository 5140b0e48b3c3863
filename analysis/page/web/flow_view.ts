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

const kWide = 138, kTall = 44, kAcross = 194, kDown = 64, kMargin = 12;

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
  const hops = report.hops.filter((hop) => hop.dir === dir && hop.count > 0);
  if (hops.length === 0) return undefined;
  const edges = new Map<string, { from: string; to: string; count: number }>();
  const add = (from: string, to: string, units: number) => {
    const key = `${from}\n${to}`;
    const known = edges.get(key);
    if (known) known.count += units;
    else edges.set(key, { from, to, count: units });
  };
  for (const hop of hops) add(hop.at, hop.to, hop.count);
  for (const hop of hops) if (!hops.some((other) => other.at === hop.from)) add(hop.from, hop.at, hop.count);
  const nodes = layered([...edges.values()]);
  const at = new Map(nodes.map((node) => [node.name, node]));
  const most = Math.max(...[...edges.values()].map((edge) => edge.count));
  const width = kMargin * 2 + Math.max(...nodes.map(({ rank }) => rank)) * kAcross + kWide;
  const height = kMargin * 2 + Math.max(...nodes.map(({ row }) => row)) * kDown + kTall;
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "flow",
                                 "aria-label": `${dir === "D" ? "Downlink" : "Uplink"}: ${nodes.length} places` });
  // The number stands at the end where this arrow is alone.
  const joined = (name: string) => [...edges.values()].filter(({ to }) => to === name).length > 1;
  drawing.style.maxWidth = `${width}px`;
  for (const edge of edges.values()) {
    const from = at.get(edge.from)!, to = at.get(edge.to)!;
    const x1 = kMargin + from.rank * kAcross + kWide, y1 = kMargin + from.row * kDown + kTall / 2;
    const x2 = kMargin + to.rank * kAcross, y2 = kMargin + to.row * kDown + kTall / 2;
    drawing.append(
        shape("path", { d: `M${x1} ${y1}C${x1 + 40} ${y1} ${x2 - 40} ${y2} ${x2} ${y2}`, class: "edge",
                        "stroke-width": Math.max(1, 14 * (edge.count / most)) },
              shape("title", {}, `${plainName(edge.from)} to ${plainName(edge.to)}: ${count(edge.count)}`)),
                joined(edge.to) ? shape("text", { x: x1 + 6, y: y1 + 20, class: "amount" }, count(edge.count))
                        : shape("text", { x: x2 - 6, y: y2 - 10, class: "amount before" }, count(edge.count)));
  }
  for (const node of nodes) {
    const x = kMargin + node.rank * kAcross, y = kMargin + node.row * kDown;
    const stay = report.queues.find((place) => place.dir === dir && place.name === node.name)?.stay_us;
    drawing.append(shape("rect", { x, y, width: kWide, height: kTall, rx: 6, class: "node" }),
                   shape("text", { x: x + kWide / 2, y: y + 18, class: "place" }, plainName(node.name)),
                   shape("text", { x: x + kWide / 2, y: y + 35, class: "figures" },
                         stay ? `${duration(1000 * stay.p50)}, p99 ${duration(1000 * stay.p99)}` : ""));
  }
  return drawing;
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
