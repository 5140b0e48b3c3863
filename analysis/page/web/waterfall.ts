// The picture of one packet: a lane a layer, time across; or turned, as LatSeq draws it, with
// layers side by side and time downwards. A bar is a stay of the packet, or of a piece of it, from
// the event that brought it there to the event that took it on.
import { Axis, linear } from "./axes";
import { causeClass, causeLegend, causePatterns } from "./causes";
import { element, shape } from "./dom";
import { drawingFigure } from "./drawing_figure";
import { DataTable } from "./picture";
import { arranged, rowChooser } from "./row_chooser";
import { laneSets } from "./selection";
import { count, duration, identifier, plainName } from "./units";
import { Bar, Bars, colourBy, idNames, JourneyEvent, layOut, madeLane, packetName, Packet, Part, percentileText } from "./waterfall_bars";

export interface Look {
  width: number;
  isTurned: boolean;
  colour: string;  // the name of an id; empty: a colour a piece
}

export interface Waterfall {
  root: HTMLElement;
  step(by: number): void;  // to the event before or after the one that was shown last
}

const kRow = 15, kGap = 7, kPieceColours = 6, kTurnedLength = 480;

// Computes positions in a picture: `along` is time, `across` are lanes. Turning a picture swaps
// both.
class Frame {
  readonly along: Axis;
  readonly tops: number[] = [];  // where each lane begins
  readonly sizes: number[] = [];
  readonly end: number;          // where the last lane ends
  readonly thick: number;        // the thickness of a row

  constructor(readonly look: Look, bars: Bars, last: number, readonly hasCauses: boolean) {
    const { isTurned, width } = look;
    const rows = bars.rows.reduce((sum, number) => sum + Math.max(1, number), 0);
    let at = isTurned ? (hasCauses ? 156 : 70) : (hasCauses ? 64 : 30);
    this.thick = isTurned ? Math.min(64, Math.max(16, (width - at - kGap * bars.rows.length - 8) / rows)) : kRow;
    for (const number of bars.rows) {
      this.tops.push(at);
      this.sizes.push(Math.max(1, number) * this.thick + kGap);
      at += this.sizes.at(-1)!;
    }
    this.end = at;
    this.along = isTurned ? linear(0, last, 48, 48 + kTurnedLength) : linear(0, last, 130, width - 14);
  }

  get from() { return this.look.isTurned ? 48 : 130; }
  get size() {
    return this.look.isTurned ? { width: this.end + 8, height: 48 + kTurnedLength + 10 } : { width: this.look.width, height: this.end + 24 };
  }
  point(along: number, across: number) { return this.look.isTurned ? { x: across, y: along } : { x: along, y: across }; }
  box(from: number, to: number, across: number, thick: number) {
    const { x, y } = this.point(from, across);
    const long = Math.max(1.5, to - from);
    return this.look.isTurned ? { x, y, width: thick, height: long } : { x, y, width: long, height: thick };
  }
  line(along1: number, across1: number, along2: number, across2: number) {
    const a = this.point(along1, across1), b = this.point(along2, across2);
    return { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
  }
  path(...points: [number, number][]) {
    return points.map(([along, across], i) => {
      const { x, y } = this.point(along, across);
      return `${i === 0 ? "M" : "L"}${x} ${y}`;
    }).join("");
  }
  of(bar: Bar) {
    const from = this.along.at(bar.from);
    return { from, to: Math.max(this.along.at(bar.to), from + 2.5), across: this.tops[bar.lane] + bar.row * this.thick };
  }
  // Returns whether a text has room in a box.
  hasRoom(text: string, from: number, to: number, thick: number) {
    return this.look.isTurned ? thick > 6.2 * text.length + 4 && to - from > 13 : to - from > 6.4 * text.length + 8;
  }
}

export function waterfall(packet: Packet, look: Look): Waterfall {
  const { journey, parts } = packet;
  const { events } = journey;
  const last = Math.max(1, Math.max(...events.map((event) => event.t_ns)) - journey.start_ns);
  const bars = layOut(packet, (names) => arranged(names.map((name) => ({ key: name, name })), laneSets).map(({ name }) => name));
  const frame = new Frame(look, bars, last, parts.length > 0);
  const title = `Packet ${packetName(journey)}`;
  const { width, height } = frame.size;
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title,
                                 class: look.isTurned ? "waterfall turned" : "waterfall" }, definitions());
  drawing.append(...lanesOf(frame, bars), ...causesOf(frame, packet), ...blocksOf(frame, packet, bars));
  const colour = look.colour ? colourBy(journey, look.colour) : (bar: Bar) => bar.piece;
  const shapes = bars.all.map((bar) => barOf(frame, packet, bars, bar, colour(bar)));
  drawing.append(...shapes, ...returnArrows(frame, packet, bars), ...madeOf(frame, bars));
  const end = events[journey.end_event];
  if (end && journey.outcome === "complete") {
    const at = frame.along.at(end.t_ns - journey.start_ns), { x, y } = frame.point(at - 4, (frame.hasCauses ? 58 : 24));
    drawing.append(shape("line", { ...frame.line(at, frame.tops[0] - 8, at, frame.end), class: "end" }),
                   shape("text", { x: look.isTurned ? frame.end - 4 : x, y: look.isTurned ? at + 13 : y, class: "endname" },
                         `whole after ${duration(journey.latency_ns)}`));
  }
  const figure = drawingFigure(title, drawing, tableOfEvents(packet));
  if (parts.length > 0) figure.querySelector(".wide")!.before(causeLegend(parts.map(({ cause }) => cause)));
  return withSteps(packet, bars, shapes, figure);
}

// Adds the steps from event to event: the bars of an event are marked, and its words shown.
function withSteps({ journey }: Packet, bars: Bars, shapes: SVGElement[], root: HTMLElement): Waterfall {
  const told = element("p", { class: "told", "aria-live": "polite" });
  root.querySelector(".wide")!.after(told);
  let now = -1;
  return {
    root,
    step(by) {
      const { events } = journey;
      now = now < 0 ? (by > 0 ? 0 : events.length - 1) : (now + by + events.length) % events.length;
      shapes.forEach((one, i) => one.classList.toggle("now", bars.all[i].event === now && bars.all[i].other === undefined));
      const event = events[now];
      told.textContent = `${now + 1} of ${events.length}, after ${duration(event.t_ns - journey.start_ns)}: ${plainName(event.point)} ` +
          `by ${plainName(event.thread ?? `thread ${event.tid}`)}, ${fieldsOf(event)}`;
    },
  };
}

function lanesOf(frame: Frame, { lanes }: Bars): SVGElement[] {
  const { isTurned, width } = frame.look;
  const made: SVGElement[] = [];
  lanes.forEach((name, lane) => {
    const top = frame.tops[lane], thick = frame.sizes[lane];
    const { x, y } = isTurned ? { x: top + (thick - kGap) / 2, y: 34 - 13 * (lane % 2) } : { x: 122, y: top + 11 };
    made.push(
        shape("rect", { ...frame.box(isTurned ? 0 : 0, isTurned ? 48 + kTurnedLength : width, top - kGap / 2, thick), class: lane % 2 ? "lane odd" : "lane" }),
        shape("text", { x, y, class: isTurned ? "name turned" : "name" }, plainName(name)));
  });
  for (const { value, at } of frame.along.ticks()) {
    const { x, y } = isTurned ? { x: frame.tops[0] - 8, y: at + 4 } : { x: at, y: frame.end + 15 };
    made.push(shape("line", { ...frame.line(at, frame.tops[0] - 4, at, frame.end), class: "grid" }),
              shape("text", { x: frame.hasCauses && isTurned ? 56 : x, y, class: isTurned ? "tick turned" : "tick" }, duration(value)));
  }
  return made;
}

// Draws the packet's time by cause, and below each part whom the packet waited for.
function causesOf(frame: Frame, packet: Packet): SVGElement[] {
  const { parts } = packet;
  if (parts.length === 0) return [];
  const { isTurned } = frame.look;
  const at = isTurned ? 62 : 4;
  const made: SVGElement[] = [];
  let told = -Infinity;
  const stretches = parts.flatMap((part) => stretchesOf(packet, part).map((stretch) => ({ part, ...stretch })));
  for (const { part, begin, end } of stretches.sort((a, b) => a.begin - b.begin)) {
    const from = frame.along.at(begin), to = frame.along.at(end);
    const strip = shape("g", { class: "part" },
        shape("rect", { ...frame.box(from, to, at, 18), class: causeClass(part.cause) }),
        shape("title", {}, causeText(part)));
    if (!isTurned && frame.hasRoom(part.cause, from, to, 18)) strip.append(shape("text", { x: (from + to) / 2, y: at + 13, class: "inside" }, part.cause));
    made.push(strip);
    const whom = waitedFor(part);
    if (!whom) continue;
    const middle = (from + to) / 2;
    const label = whom.length > 24 ? `${whom.slice(0, 23)}…` : whom;
    const half = isTurned ? 6 : 3.2 * label.length;
    const centre = isTurned ? middle : Math.max(Math.min(middle, frame.look.width - half - 2), frame.from + half);
    if (centre - half < told) continue;
    told = centre + half + (isTurned ? 2 : 8);
    const { x, y } = isTurned ? { x: at + 32, y: middle + 4 } : { x: centre, y: at + 40 };
    made.push(shape("path", { d: frame.path([middle, at + 18], [middle, at + 28]), class: "waited", "marker-end": "url(#arrow)" }),
              shape("text", { x, y, class: isTurned ? "whom turned" : "whom" }, label, shape("title", {}, `waited for ${whom}`)));
  }
  made.push(shape("text", { x: isTurned ? at + 9 : 122, y: isTurned ? 40 : at + 13, class: isTurned ? "name turned" : "name" }, "why"));
  if (!isTurned && told > -Infinity) made.push(shape("text", { x: 122, y: at + 40, class: "name" }, "waited for"));
  return made;
}

// When a part was, after the journey's start. Its time may lie between that of other parts.
const stretchesOf = ({ journey }: Packet, { stretches }: Part) =>
    stretches.map(([begin, end]) => ({ begin: begin - journey.start_ns, end: end - journey.start_ns }));

const causeText = (part: Part) => `${part.cause}${part.at ? ` in ${plainName(part.at)}` : ""}: ${duration(part.ns)}` +
    (waitedFor(part) ? `, waited for ${waitedFor(part)}` : "");

function waitedFor(part: Part): string {
  if (part.by) return plainName(part.by);
  if (part.ahead) return `${count(part.ahead)} ahead`;
  return "";
}

// Draws a frame around the parts that became one block. Those of other packets are grey.
function blocksOf(frame: Frame, { journey, shared }: Packet, { all }: Bars): SVGElement[] {
  const made: SVGElement[] = [];
  journey.events.forEach((_, i) => {
    const parts = all.filter((bar) => bar.event === i);
    if (parts.length < 2) return;
    const boxes = parts.map((bar) => frame.of(bar));
    const from = Math.min(...boxes.map((box) => box.from)), to = Math.max(...boxes.map((box) => box.to));
    const top = Math.min(...boxes.map((box) => box.across)), bottom = Math.max(...boxes.map((box) => box.across)) + frame.thick;
    const others = new Set(parts.flatMap(({ other }) => (other === undefined ? [] : [other]))).size;
    made.push(shape("g", { class: "block" },
        shape("rect", { ...frame.box(from - 3, to + 3, top - 3, bottom - top + 3), rx: 4 }),
        shape("title", {}, `${parts.length} parts became one` + (others ? `, of them ${parts.filter(({ other }) => other !== undefined).length} of ${count(others)} other packets` : "") +
            (shared.some(({ event }) => event === i) ? `, which ${count(shared.find(({ event }) => event === i)!.others)} other packets are in` : ""))));
  });
  return made;
}

function barOf(frame: Frame, packet: Packet, { lanes }: Bars, bar: Bar, colour: number): SVGElement {
  const { from, to, across } = frame.of(bar);
  const thick = frame.thick - 3;
  const rect = { ...frame.box(from, to, across, thick), rx: 2 };
  if (bar.other !== undefined)
    return shape("g", { class: "bar other" }, shape("rect", rect), shape("title", {}, `${plainName(lanes[bar.lane])}: journey ${bar.other}, in the same block`));
  const made = shape("g", { class: `bar ${colour < 0 ? "none" : `piece${colour % kPieceColours}`}${bar.whole ? " whole" : ""}` },
      shape("rect", rect), shape("title", {}, barText(packet, bar, lanes[bar.lane])));
  if (bar.repeat > 0) {
    const { x, y } = frame.point(to + 3, across);
    made.append(shape("rect", { ...rect, fill: "url(#repeat)" }),
                shape("text", { x: frame.look.isTurned ? x + 2 : x, y: frame.look.isTurned ? y + 10 : y + 10, class: "again" }, `↻${bar.repeat}`));
  }
  // A bar on the critical path is filled by the causes of its time, as far as they are known.
  if (bar.whole)
    for (const part of packet.parts) {
      if (part.at && !part.at.endsWith(lanes[bar.lane])) continue;
      for (const stretch of stretchesOf(packet, part)) {
        const begin = Math.max(bar.from, stretch.begin), end = Math.min(bar.to, stretch.end);
        if (end > begin)
          made.append(shape("rect", { ...frame.box(frame.along.at(begin), frame.along.at(end), across + thick - 4, 3), class: `filled ${causeClass(part.cause)}` }));
      }
    }
  const rank = bar.share === null ? "" : percentileText(bar.share);
  const took = duration(bar.to - bar.from);
  const text = [rank ? `${took} ${rank}` : took, took].find((one) => frame.hasRoom(one, from, to, thick));
  const middle = frame.point((from + to) / 2, across + thick / 2);
  if (text) made.append(shape("text", { x: middle.x, y: middle.y + 3.5, class: "inside" }, text));
  return made;
}

// Draws a script's activities and markers.
function madeOf(frame: Frame, { made }: Bars): SVGElement[] {
  return made.map((bar) => {
    const { from, to, across } = frame.of(bar);
    const fields = Object.entries(bar.of.fields).filter(([name]) => name !== "dur_ns").map(([name, value]) => identifier(plainName(name), value)).join(" ");
    const took = bar.of.begin_ns === undefined ? "" : ` for ${duration(bar.of.end_ns! - bar.of.begin_ns)}`;
    return shape("g", { class: "bar made" }, shape("rect", { ...frame.box(from, to, across, frame.thick - 3), rx: 2 }),
        shape("title", {}, `${plainName(bar.of.name)}${took} by thread ${bar.of.tid}\n${fields}`));
  });
}

// Draws arrows from a transmission to its repeat.
function returnArrows(frame: Frame, { journey }: Packet, { all }: Bars): SVGElement[] {
  const made: SVGElement[] = [];
  for (const bar of all) {
    const first = journey.events[bar.event].repeat_of;
    const before = bar.repeat > 0 && first !== undefined ? all.find(({ event, other }) => event === first && other === undefined) : undefined;
    if (!before) continue;
    const from = frame.of(before), to = frame.of(bar);
    const low = Math.max(from.across, to.across) + frame.thick - 1;
    made.push(shape("path", { d: frame.path([from.to, from.across + frame.thick / 2], [from.to + 4, low], [to.from - 4, low], [to.from, to.across + frame.thick / 2]),
                              class: "return", "marker-end": "url(#arrow)" }));
  }
  return made;
}

const fieldsOf = (event: JourneyEvent) =>
    Object.entries({ ...event.ids, ...event.properties }).map(([name, value]) => identifier(plainName(name), value)).join(" ");

function barText({ journey, shared }: Packet, bar: Bar, place: string): string {
  const event = journey.events[bar.event];
  const others = shared.find(({ event: of }) => of === bar.event)?.others ?? 0;
  return `${plainName(place)}: ${duration(bar.to - bar.from)}, left ${duration(bar.to)} after the start\n` +
      (bar.share === null ? "" : `${percentileText(bar.share)} of the stays in this hop\n`) +
      `${plainName(event.point)} by ${plainName(event.thread ?? `thread ${event.tid}`)}\n${fieldsOf(event)}` +
      (others ? `\nin one block with ${count(others)} other packets` : "") +
      (bar.repeat ? `\nsent again, round ${bar.repeat}` : "");
}

function tableOfEvents({ journey }: Packet): DataTable {
  const { events } = journey;
  return {
    columns: ["after", "place", "stay", "of its hop", "point", "thread", "fields"],
    rows: events.map((event) => {
      const longest = event.parents.length === 0 ? -1
          : event.parents.reduce((best, parent, at) => (events[parent].t_ns > events[event.parents[best]].t_ns ? at : best), 0);
      const rank = longest < 0 ? null : event.at_most?.[longest] ?? null;
      return [duration(event.t_ns - journey.start_ns), plainName(event.src),
              longest < 0 ? "" : duration(event.t_ns - events[event.parents[longest]].t_ns), rank === null ? "" : percentileText(rank),
              plainName(event.point), plainName(event.thread ?? String(event.tid)), fieldsOf(event)];
    }),
  };
}

function definitions(): SVGElement {
  return shape("defs", {}, ...causePatterns(),
      shape("pattern", { id: "repeat", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
          shape("line", { x1: 0, y1: 0, x2: 0, y2: 6, stroke: "#fff", "stroke-width": 2.5, opacity: 0.65 })),
      shape("marker", { id: "arrow", viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 6, markerHeight: 6, orient: "auto" },
          shape("path", { d: "M0 0L6 3L0 6z", class: "head" })));
}

// The choice of the lanes that are shown, and of their order.
export function laneChooser({ journey }: Packet, redraw: () => void): HTMLElement {
  const made = [...(journey.activities ?? []), ...(journey.markers ?? [])].map(madeLane);
  const names = [...new Set([...journey.events.flatMap(({ src, dest, parents }) => (parents.length > 0 ? [src] : [dest])), ...made])];
  return rowChooser("lanes", names.map((name) => ({ key: name, name: plainName(name) })), laneSets, redraw);
}

// The choice of the id that the colours stand for.
export function colourChoice(packet: Packet, colour: string, choose: (name: string) => void): HTMLElement {
  const select = element("select", { id: "waterfall-colour", change: () => choose(select.value) },
      element("option", { value: "" }, "piece"), ...idNames(packet.journey).map((name) => element("option", { value: name }, plainName(name))));
  select.value = idNames(packet.journey).includes(colour) ? colour : "";
  return element("label", {}, "Colour by ", select);
}
