// One packet: a lane a layer, time across. A bar is a stay of the packet, or of a piece of it, from
// the event that brought it there to the event that took it on. What is sent again is hatched and
// numbered; the piece that made the packet whole is bold. Above it the parts of its time by cause.
import { linear } from "./axes";
import { shape } from "./dom";
import { drawingFigure } from "./drawing_figure";
import { DataTable } from "./picture";
import { duration, identifier, plainName } from "./units";

export interface JourneyEvent {
  point: string;
  src: string;
  dest: string;
  t_ns: number;
  tid: number;
  thread?: string;
  ids: Record<string, number>;
  properties: Record<string, number>;
  parents: number[];
  repeat_of?: number;
}

export interface JourneyDetail {
  id: number;
  dir: string;
  ids: Record<string, number>;
  start_ns: number;
  end_ns: number;
  latency_ns: number;
  outcome: string;
  segments: number;
  retransmissions: number;
  end_event: number;
  events: JourneyEvent[];
}

export interface Part {
  cause: string;
  at: string;
  ns: number;
  begin_ns: number;
  end_ns: number;
  thread?: string;
}

interface Bar {
  lane: number;
  row: number;
  from: number;
  to: number;
  event: number;
  piece: number;
  repeat: number;  // 0: none, else its round
  whole: boolean;
}

const kLeft = 130, kRow = 15, kGap = 7, kTop = 44, kBottom = 24, kPieceColours = 6;

export const packetName = (journey: { dir: string; ids: Record<string, number> }) =>
    `${journey.dir} ${Object.entries(journey.ids).map(([name, value]) => identifier(plainName(name), value)).join(" ")}`;

export function waterfall(journey: JourneyDetail, parts: Part[], width: number): HTMLElement {
  const { events } = journey;
  const start = journey.start_ns;
  const last = Math.max(...events.map((event) => event.t_ns)) - start;
  const lanes: string[] = [];
  const laneOf = (name: string) => {
    const found = lanes.indexOf(name);
    return found >= 0 ? found : lanes.push(name) - 1;
  };
  const bars = barsOf(journey, laneOf);
  const rowsOf = stack(bars, lanes.length);
  const tops: number[] = [];
  let height = kTop;
  for (const rows of rowsOf) {
    tops.push(height);
    height += Math.max(1, rows) * kRow + kGap;
  }
  const across = linear(0, Math.max(1, last), kLeft, width - 14);
  const title = `Packet ${packetName(journey)}`;

  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height + kBottom}`, width, height: height + kBottom,
                                 role: "img", "aria-label": title, class: "waterfall" },
      hatch());
  lanes.forEach((name, lane) => {
    const tall = Math.max(1, rowsOf[lane]) * kRow + kGap;
    drawing.append(
        shape("rect", { x: 0, y: tops[lane] - kGap / 2, width, height: tall, class: lane % 2 ? "lane odd" : "lane" }),
        shape("text", { x: kLeft - 8, y: tops[lane] + 11, class: "name" }, plainName(name)));
  });
  for (const { value, at } of across.ticks())
    drawing.append(
        shape("line", { x1: at, x2: at, y1: kTop - 4, y2: height, class: "grid" }),
        shape("text", { x: at, y: height + 15, class: "tick" }, duration(value)));
  for (const part of parts) {
    const from = across.at(part.begin_ns - start), to = across.at(part.end_ns - start);
    const label = `${part.cause}${part.at ? ` in ${plainName(part.at)}` : ""}: ${duration(part.ns)}`;
    const strip = shape("g", {},
        shape("rect", { x: from, y: 14, width: Math.max(1.5, to - from), height: 18, class: `cause ${part.cause.replace(/[^a-z]/g, "")}` }),
        shape("title", {}, label));
    if (to - from > 7 * part.cause.length + 12)
      strip.append(shape("text", { x: (from + to) / 2, y: 27, class: "inside" }, part.cause));
    drawing.append(strip);
  }
  if (parts.length > 0) drawing.append(shape("text", { x: kLeft - 8, y: 27, class: "name" }, "why"));
  for (const bar of bars) {
    const from = across.at(bar.from), to = Math.max(across.at(bar.to), from + 2.5);
    const y = tops[bar.lane] + bar.row * kRow;
    const event = events[bar.event];
    const made = shape("g", { class: `bar piece${bar.piece % kPieceColours}${bar.whole ? " whole" : ""}` },
        shape("rect", { x: from, y, width: to - from, height: kRow - 3, rx: 2 }),
        shape("title", {}, barText(journey, bar, lanes[bar.lane], event)));
    if (bar.repeat > 0)
      made.append(shape("rect", { x: from, y, width: to - from, height: kRow - 3, rx: 2, fill: "url(#repeat)" }),
                  shape("text", { x: to + 3, y: y + 10, class: "again" }, `↻${bar.repeat}`));
    const text = duration(bar.to - bar.from);
    if (to - from > 8 * text.length) made.append(shape("text", { x: (from + to) / 2, y: y + 10, class: "inside" }, text));
    drawing.append(made);
  }
  const end = events[journey.end_event];
  if (end && journey.outcome === "complete") {
    const at = across.at(end.t_ns - start);
    drawing.append(shape("line", { x1: at, x2: at, y1: kTop - 8, y2: height, class: "end" }),
                   shape("text", { x: at - 4, y: kTop - 2, class: "endname" }, `whole after ${duration(journey.latency_ns)}`));
  }
  const data: DataTable = {
    columns: ["after", "place", "stay", "point", "thread", "fields"],
    rows: events.map((event) => {
      const entered = event.parents.length === 0 ? undefined : Math.max(...event.parents.map((i) => events[i].t_ns));
      return [duration(event.t_ns - start), plainName(event.src),
              entered === undefined ? "" : duration(event.t_ns - entered),
              plainName(event.point), plainName(event.thread ?? String(event.tid)),
              Object.entries({ ...event.ids, ...event.properties }).map(([name, value]) => identifier(plainName(name), value)).join(" ")];
    }),
  };
  return drawingFigure(title, drawing, data);
}

function barsOf(journey: JourneyDetail, laneOf: (name: string) => number): Bar[] {
  const { events } = journey;
  const bars: Bar[] = [];
  const pieces: number[] = [];
  let next = 0;
  const children = new Map<number, number>();
  const whole = wayToEnd(journey);
  events.forEach((event, i) => {
    const parent = event.parents[0];
    // The first that goes on from a unit keeps its colour, others are further pieces.
    if (parent === undefined) {
      pieces[i] = next++;
    } else if (event.repeat_of !== undefined) {
      pieces[i] = pieces[event.repeat_of];
    } else {
      const before = children.get(parent) ?? 0;
      children.set(parent, before + 1);
      pieces[i] = before === 0 ? pieces[parent] : next++;
    }
    if (event.parents.length === 0) laneOf(event.dest);
    for (const entered of event.parents) {
      let round = 0;
      for (let at = event.repeat_of; at !== undefined && round < 100; at = events[at].repeat_of) ++round;
      bars.push({ lane: laneOf(event.src), row: 0, from: events[entered].t_ns - journey.start_ns,
                  to: event.t_ns - journey.start_ns, event: i, piece: pieces[event.parents.length > 1 ? entered : i],
                  repeat: round, whole: whole.has(i) });
    }
  });
  return bars;
}

function wayToEnd({ events, end_event }: JourneyDetail): Set<number> {
  const way = new Set<number>();
  const open = events[end_event] ? [end_event] : [];
  while (open.length > 0) {
    const at = open.pop()!;
    if (way.has(at)) continue;
    way.add(at);
    // Of several that were joined, the last one decided when.
    const parents = events[at].parents;
    if (parents.length > 0) open.push(parents.reduce((a, b) => (events[b].t_ns > events[a].t_ns ? b : a)));
  }
  return way;
}

// Bars of a lane that overlap lie below each other. Returns how many rows each lane has.
function stack(bars: Bar[], lanes: number): number[] {
  const ends: number[][] = Array.from({ length: lanes }, () => []);
  for (const bar of [...bars].sort((a, b) => a.from - b.from || b.to - a.to)) {
    const rows = ends[bar.lane];
    let row = rows.findIndex((end) => end <= bar.from);
    if (row < 0) row = rows.length;
    rows[row] = Math.max(bar.to, bar.from + 1);
    bar.row = row;
  }
  return ends.map((rows) => rows.length);
}

function barText(journey: JourneyDetail, bar: Bar, place: string, event: JourneyEvent): string {
  const fields = Object.entries({ ...event.ids, ...event.properties })
      .map(([name, value]) => identifier(plainName(name), value)).join(" ");
  return `${plainName(place)}: ${duration(bar.to - bar.from)}, left ${duration(bar.to)} after the start\n` +
      `${plainName(event.point)} by ${plainName(event.thread ?? `thread ${event.tid}`)}\n${fields}` +
      (bar.repeat ? `\nsent again, round ${bar.repeat}` : "");
}

function hatch(): SVGElement {
  return shape("defs", {},
      shape("pattern", { id: "repeat", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
          shape("line", { x1: 0, y1: 0, x2: 0, y2: 6, stroke: "#fff", "stroke-width": 2.5, opacity: 0.65 })));
}
