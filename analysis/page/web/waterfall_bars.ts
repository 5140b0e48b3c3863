// Computes the bars of one packet's picture: the stays, with the lane, row and colour of each.
// Nothing is drawn here.
import { identifier, plainName } from "./units";

export interface JourneyEvent {
  point: string;
  src: string;
  dest: string;
  t_ns: number;
  tid: number;
  thread?: string;
  cpu?: number;
  ids: Record<string, number>;
  properties: Record<string, number>;
  parents: number[];
  host?: number;  // of a merged trace
  repeat_of?: number;
  at_most?: (number | null)[];  // by parent: the share of the stays in that hop that took at most as long
}

export interface JourneyDetail extends Named {
  id: number;
  start_ns: number;
  end_ns: number;
  latency_ns: number;
  latency_error_ns?: number;  // in a merged trace: how far it may be off by the hosts' clocks
  outcome: string;
  segments: number;
  retransmissions: number;
  end_event: number;
  events: JourneyEvent[];
  activities?: Made[];  // made by a script
  markers?: Made[];
}

// An activity or marker on the thread that ended a stay, during the stay; `event` ended the stay.
export interface Made {
  name: string;
  begin_ns?: number;  // a marker has an instant, t_ns, only
  end_ns?: number;
  t_ns?: number;
  tid: number;
  event: number;
  fields: Record<string, number>;
}

// A part of a packet's time, by cause.
export interface Part {
  cause: string;
  at: string;
  ns: number;
  stretches: [number, number][];  // when it was, on the trace's clock
  thread?: string;
  by?: string;     // who had the CPU, who woke the thread
  ahead?: number;  // units before it in a queue
}

export interface Packet {
  journey: JourneyDetail;
  why: string;
  parts: Part[];
  shared: { event: number; others: number }[];                       // events that other packets share
  joined: { event: number; journey: number; from_ns: number }[];     // units of other packets in the same block
}

export interface Bar {
  lane: number;
  row: number;
  from: number;  // ns since the packet's start
  to: number;
  event: number;
  piece: number;
  repeat: number;  // the round; 0: not repeated
  whole: boolean;  // on the critical path, which decided when the packet was whole
  share: number | null;
  other?: number;  // the journey of another packet that the bar belongs to
}

export interface Bars {
  lanes: string[];
  rows: number[];  // by lane
  all: Bar[];
  made: (Bar & { of: Made })[];  // activities and markers, in lanes of their names
}

// What names a packet: its first event's ids, or those that other events of it know instead of an
// address. Null is an id that was not read.
export interface Named {
  dir: string;
  ids: Record<string, number>;
  known_ids?: Record<string, number | null>;
}

export const packetName = ({ dir, ids, known_ids: known = ids }: Named) =>
    `${dir} ${Object.entries(known).map(([name, value]) => identifier(plainName(name), value)).join(" ")}`;

// Writes a percentile, never rounded up: "p99.9" does not become "p100".
export function percentileText(share: number): string {
  const percent = 100 * share;
  if (share >= 1) return "max";
  const digits = percent >= 99.9 ? 2 : percent >= 99 ? 1 : 0;
  return `p${(Math.floor(percent * 10 ** digits) / 10 ** digits).toFixed(digits)}`;
}

// `arrange` returns the lanes that are shown, from the top.
export function layOut({ journey, joined }: Packet, arrange: (lanes: string[]) => string[]): Bars {
  const lanes: string[] = [];
  const laneOf = (name: string) => {
    const found = lanes.indexOf(name);
    return found >= 0 ? found : lanes.push(name) - 1;
  };
  const all = ownBars(journey, laneOf);
  for (const { event, journey: other, from_ns } of joined)
    all.push({ lane: laneOf(journey.events[event].src), row: 0, from: Math.max(0, from_ns - journey.start_ns),
               to: journey.events[event].t_ns - journey.start_ns, event, piece: 0, repeat: 0, whole: false, share: null, other });
  const made = [...(journey.activities ?? []), ...(journey.markers ?? [])].map((of) => {
    const to = of.end_ns ?? of.t_ns!;
    return { lane: laneOf(madeLane(of)), row: 0, from: Math.max(0, (of.begin_ns ?? to) - journey.start_ns), to: to - journey.start_ns,
             event: of.event, piece: 0, repeat: 0, whole: false, share: null, of };
  });
  const wanted = arrange(lanes);
  const arranged = wanted.length > 0 ? wanted : lanes;
  const isShown = (bar: Bar) => arranged.includes(lanes[bar.lane]);
  const shown = all.filter(isShown), shownMade = made.filter(isShown);
  for (const bar of [...shown, ...shownMade]) bar.lane = arranged.indexOf(lanes[bar.lane]);
  return { lanes: arranged, rows: stack([...shown, ...shownMade], arranged.length), all: shown, made: shownMade };
}

export const madeLane = ({ name }: Made) => `A ${name}`;

function ownBars(journey: JourneyDetail, laneOf: (name: string) => number): Bar[] {
  const { events } = journey;
  const bars: Bar[] = [];
  const pieces: number[] = [];
  let next = 0;
  const children = new Map<number, number>();
  const whole = wayToEnd(journey);
  events.forEach((event, i) => {
    const parent = event.parents[0];
    // The first unit that follows from another one keeps its colour; others are new pieces.
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
    event.parents.forEach((entered, at) => {
      let round = 0;
      for (let of = event.repeat_of; of !== undefined && round < 100; of = events[of].repeat_of) ++round;
      bars.push({ lane: laneOf(event.src), row: 0, from: events[entered].t_ns - journey.start_ns,
                  to: event.t_ns - journey.start_ns, event: i, piece: pieces[event.parents.length > 1 ? entered : i],
                  repeat: round, whole: whole.has(i), share: event.at_most?.[at] ?? null });
    });
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
    // If several parents were joined, the last one to come decided the time.
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

// Returns the names of the ids by which bars can be coloured.
export function idNames({ events }: JourneyDetail): string[] {
  return [...new Set(events.flatMap(({ ids }) => Object.keys(ids)))];
}

// Returns the colour of a bar: one for each value of the id, or -1 if its event does not have the
// id.
export function colourBy({ events }: JourneyDetail, id: string): (bar: Bar) => number {
  const values = [...new Set(events.flatMap(({ ids }) => (id in ids ? [ids[id]] : [])))];
  return (bar) => values.indexOf(events[bar.event].ids[id]);
}
