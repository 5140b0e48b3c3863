// The picture of the time line, a row a thread and a CPU. Each event is a tick above in a row; many
// in one pixel are a bar that is as tall as they are many. The strip below a row shows what the
// thread did, where the trace has the scheduler's events: it ran, or it wanted a CPU. An arrow
// leads from the thread that woke another one. The packet that is followed is drawn over the rows:
// its stays, and which thread handed it to which.
import { Axis, linear } from "./axes";
import { Drawing, drawTicks, line } from "./picture";
import { PixelLayer } from "./pixels";
import { count, duration, instantTexts, plainName } from "./units";
import { Packet } from "./waterfall_bars";

// The engine's answer. Instants are ns since the first mark. A row is a thread's number in
// `threads`, or behind these a CPU's.
export interface Timeline {
  origin_ns: number;
  first_ns: number;
  last_ns: number;
  threads: { tid: number; name: string; events: number; running_ns: number }[];
  cpus: number[];
  points: string[];
  buckets: number;
  // The buckets that are not empty.
  thread: Float64Array;  // the row
  bucket: Float64Array;
  number: Float64Array;  // of events
  point: Float64Array;   // of the first event
  // The activities and markers of a script; a marker takes no time.
  made_row: Float64Array;
  made_from: Float64Array;
  made_to: Float64Array;
  made_point: Float64Array;
  made_more: number;        // that were left out
  // The states of threads.
  slice_row: Float64Array;
  slice_from: Float64Array;
  slice_to: Float64Array;
  slice_state: Float64Array;   // index in kStates
  slice_share: Float64Array;   // of this stretch of time; 1 if the thread was in no other state
  slice_thread: Float64Array;  // the row of the thread; -1: of several
  wakeup_at: Float64Array;
  wakeup_from: Float64Array;   // rows
  wakeup_to: Float64Array;
}

export interface Row {
  key: string;    // in the address
  name: string;
  index: number;  // of the engine's rows
  isCpu: boolean;
  events: number;
  running: number;
}

// The state of the time line that is drawn.
export interface Scene {
  timeline: Timeline;
  rows: Row[];
  from: number;
  to: number;
  packet: Packet | undefined;
  marked: number | undefined;               // ns since the first mark
  dragged: [number, number] | undefined;    // pixels
}

const kStates = ["running", "wanted a CPU", "blocked"];
const kMostArrows = 400;
const kLeft = 150, kRight = 12, kTop = 6, kBottom = 26, kRow = 32, kStrip = 8, kColours = 6;

export const heightOf = (rows: Row[]) => kTop + kBottom + kRow * Math.max(1, rows.length);
export const widthOfPlot = (width: number) => width - kLeft - kRight;
export const timeAxis = (from: number, to: number, width: number): Axis => linear(from, to, kLeft, width - kRight);

export class TimelinePicture {
  private dense: PixelLayer | undefined;
  private denseOf: unknown[] = [];

  paint({ context, width, height, colour }: Drawing, scene: Scene): void {
    const { timeline, rows, packet, marked, dragged } = scene;
    const across = timeAxis(scene.from, scene.to, width), right = width - kRight, bottom = height - kBottom;
    const rowOf = new Map(rows.map(({ index }, row) => [index, row]));
    paintRows(context, rows, width, colour);
    context.save();
    context.beginPath();
    context.rect(kLeft, kTop, right - kLeft, bottom - kTop);
    context.clip();
    this.denseRows(timeline, rows, width, bottom, colour).paint(context, across.at(timeline.first_ns) - kLeft);
    paintMade(context, timeline, rowOf, across.at, colour);
    paintWakeups(context, timeline, rowOf, across.at, colour);
    if (packet) paintPacket(context, packet, scene, across.at, colour);
    context.restore();
    if (marked !== undefined && marked >= scene.from && marked <= scene.to) {
      context.strokeStyle = colour("bad");
      context.lineWidth = 1;
      line(context, across.at(marked), kTop, across.at(marked), bottom);
    }
    const { text, origin } = instantTexts(scene.from, scene.to);
    drawTicks({ context, width, colour }, across, bottom, text, origin);
    if (dragged) {
      context.fillStyle = colour("accent");
      context.globalAlpha = 0.2;
      context.fillRect(dragged[0], kTop, dragged[1] - dragged[0], bottom - kTop);
      context.globalAlpha = 1;
    }
  }

  // The events and states of the whole timeline. They are the same while a stretch is dragged, and
  // are only moved while the picture is pulled.
  private denseRows(timeline: Timeline, rows: Row[], width: number, bottom: number, colour: (name: string) => string): PixelLayer {
    const inks = Array.from({ length: kColours }, (_, i) => colour(`p${i}`));
    const of = [timeline, rows.map(({ index }) => index).join(), width, window.devicePixelRatio, ...inks, colour("good")];
    if (!this.dense || of.some((part, i) => part !== this.denseOf[i])) {
      this.dense = new PixelLayer(kLeft, kTop, widthOfPlot(width), bottom - kTop);
      this.denseOf = of;
      const rowOf = new Map(rows.map(({ index }, row) => [index, row]));
      fillEvents(this.dense, timeline, rowOf, width, inks);
      fillStates(this.dense, timeline, rowOf, timeAxis(timeline.first_ns, timeline.last_ns, width).at, inks, colour("good"));
    }
    return this.dense;
  }
}

// The words for what is below the pointer.
export function wordsAt({ timeline, rows, from, to }: Scene, x: number, y: number, width: number): string {
  const row = rows[Math.floor((y - kTop) / kRow)];
  if (!row) return "";
  const { points, threads } = timeline;
  const at = timeAxis(from, to, width).value(x), pixel = (to - from) / width;
  const bucket = Math.floor(((at - timeline.first_ns) / (timeline.last_ns - timeline.first_ns || 1)) * timeline.buckets);
  let text = row.name;
  for (let i = 0; i < timeline.bucket.length; ++i)
    if (timeline.thread[i] === row.index && Math.abs(timeline.bucket[i] - bucket) <= 1) {
      text += `: ${count(timeline.number[i])}, first ${plainName(points[timeline.point[i]])}`;
      break;
    }
  for (let i = 0; i < timeline.made_row.length; ++i)
    if (timeline.made_row[i] === row.index && timeline.made_from[i] - pixel <= at && at <= timeline.made_to[i] + pixel)
      text += `\n${plainName(points[timeline.made_point[i]])} ${duration(timeline.made_to[i] - timeline.made_from[i])}`;
  for (let i = 0; i < timeline.slice_row.length; ++i)
    if (timeline.slice_row[i] === row.index && timeline.slice_from[i] <= at && at < timeline.slice_to[i] && timeline.slice_share[i] === 1) {
      const who = row.isCpu ? ` ${plainName(threads[timeline.slice_thread[i]]?.name ?? "")}` : "";
      text += `\n${kStates[timeline.slice_state[i]]}${who} for ${duration(timeline.slice_to[i] - timeline.slice_from[i])}`;
      break;
    }
  return text;
}

function paintRows(context: CanvasRenderingContext2D, rows: Row[], width: number, colour: (name: string) => string): void {
  context.textBaseline = "middle";
  context.textAlign = "right";
  rows.forEach(({ name }, row) => {
    const top = kTop + row * kRow;
    context.fillStyle = row % 2 ? colour("panel") : colour("page");
    context.fillRect(0, top, width, kRow);
    context.fillStyle = colour("text");
    context.fillText(name, kLeft - 10, top + kRow / 2);
  });
}

function fillEvents(dense: PixelLayer, timeline: Timeline, rowOf: Map<number, number>, width: number, inks: string[]): void {
  const { buckets, bucket, number, thread, point } = timeline;
  const wide = Math.max(1.2, widthOfPlot(width) / buckets);
  let most = 1;
  for (const each of number) most = Math.max(most, each);
  for (let i = 0; i < bucket.length; ++i) {
    const row = rowOf.get(thread[i]);
    if (row === undefined) continue;
    const tall = (kRow - kStrip - 6) * (0.35 + 0.65 * (Math.log1p(number[i]) / Math.log1p(most)));
    const x = kLeft + (widthOfPlot(width) * bucket[i]) / buckets;
    dense.fill(x, kTop + (row + 1) * kRow - kStrip - 3 - tall, wide, tall, inks[point[i] % kColours]);
  }
}

// Fills the strip below each thread's row with what it did, and each CPU's row with who was on it.
function fillStates(dense: PixelLayer, shown: Timeline, rowOf: Map<number, number>, x: (value: number) => number,
                    inks: string[], good: string): void {
  for (let i = 0; i < shown.slice_row.length; ++i) {
    const row = rowOf.get(shown.slice_row[i]), state = shown.slice_state[i];
    if (row === undefined || state > 1) continue;
    const isCpu = shown.slice_row[i] >= shown.threads.length;
    const room = isCpu ? kRow - 6 : kStrip;
    // Two shares of one stretch of time stand on each other; running comes right before wanting a
    // CPU.
    const isSecond = state === 1 && i > 0 && shown.slice_state[i - 1] === 0 && shown.slice_row[i - 1] === shown.slice_row[i] &&
        shown.slice_from[i - 1] === shown.slice_from[i];
    const bottom = kTop + (row + 1) * kRow - (isCpu ? 3 : 1) - (isSecond ? room * shown.slice_share[i - 1] : 0);
    const tall = Math.max(isSecond ? 0 : 1, room * shown.slice_share[i]);
    const from = x(shown.slice_from[i]);
    const ink = isCpu && shown.slice_thread[i] >= 0 ? inks[shown.slice_thread[i] % kColours] : state === 0 ? good : inks[1];
    dense.fill(from, bottom - tall, x(shown.slice_to[i]) - from, tall, ink);
  }
}

// Draws what a script found on top of each row: activities as bars, markers as ticks.
function paintMade(context: CanvasRenderingContext2D, shown: Timeline, rowOf: Map<number, number>, x: (value: number) => number,
                   colour: (name: string) => string): void {
  for (let i = 0; i < shown.made_row.length; ++i) {
    const row = rowOf.get(shown.made_row[i]);
    if (row === undefined) continue;
    const from = x(shown.made_from[i]), isMarker = shown.made_from[i] === shown.made_to[i];
    context.fillStyle = colour(`p${shown.made_point[i] % kColours}`);
    context.fillRect(from, kTop + row * kRow + 1, Math.max(1.5, x(shown.made_to[i]) - from), isMarker ? 9 : 5);
  }
}

// Draws the arrows of wakeups, each from the thread that woke another one.
function paintWakeups(context: CanvasRenderingContext2D, shown: Timeline, rowOf: Map<number, number>, x: (value: number) => number,
                      colour: (name: string) => string): void {
  if (shown.wakeup_at.length > kMostArrows) return;
  const lines = new Path2D(), heads = new Path2D();
  for (let i = 0; i < shown.wakeup_at.length; ++i) {
    const from = rowOf.get(shown.wakeup_from[i]), to = rowOf.get(shown.wakeup_to[i]);
    if (from === undefined || to === undefined || from === to) continue;
    const at = x(shown.wakeup_at[i]), begin = kTop + (from + 1) * kRow - 1, end = kTop + (to + 1) * kRow - 1;
    const way = end > begin ? 1 : -1;
    lines.moveTo(at, begin);
    lines.lineTo(at, end);
    heads.moveTo(at, end);
    heads.lineTo(at - 3, end - 6 * way);
    heads.lineTo(at + 3, end - 6 * way);
    heads.closePath();
  }
  context.lineWidth = 1;
  context.strokeStyle = context.fillStyle = colour("accent");
  context.stroke(lines);
  context.fill(heads);
}

// Draws each stay of the packet on the row of the thread that ended it, and a dashed line from the
// thread that had it before.
function paintPacket(context: CanvasRenderingContext2D, { journey: { events } }: Packet, { timeline, rows }: Scene,
                     x: (value: number) => number, colour: (name: string) => string): void {
  const rowOf = new Map(rows.map(({ key }, row) => [key, row]));
  const since = (ns: number) => ns - timeline.origin_ns;
  const written = new Map<number, number>();  // where the last text of each row ends
  const top = (tid: number) => {
    const row = rowOf.get(`t${tid}`);
    return row === undefined ? undefined : kTop + row * kRow + 3;
  };
  events.forEach((event) => {
    const mine = top(event.tid), to = x(since(event.t_ns));
    for (const parent of event.parents) {
      const from = x(since(events[parent].t_ns)), theirs = top(events[parent].tid);
      if (mine !== undefined) {
        context.fillStyle = colour("accent");
        context.globalAlpha = 0.35;
        context.fillRect(from, mine, Math.max(1.5, to - from), 7);
        context.globalAlpha = 1;
        const text = plainName(event.src);
        const middle = (Math.max(from, kLeft) + to) / 2, half = 3.2 * text.length;
        if (to - from > 7 * text.length && middle - half > (written.get(mine) ?? 0)) {
          written.set(mine, middle + half);
          context.fillStyle = colour("text");
          context.textAlign = "center";
          context.textBaseline = "top";
          context.font = "10px system-ui, sans-serif";
          context.fillText(text, middle, mine - 2);
          context.font = "12px system-ui, sans-serif";
        }
      }
      if (mine === undefined || theirs === undefined || mine === theirs) continue;
      context.strokeStyle = colour("accent");
      context.lineWidth = 1.5;
      context.setLineDash([3, 2]);
      context.beginPath();
      context.moveTo(from, theirs + 3);
      context.lineTo(from, mine + 3);
      context.stroke();
      context.setLineDash([]);
    }
    if (mine === undefined) return;
    context.fillStyle = colour("accent");
    context.beginPath();
    context.arc(to, mine + 3, 3.5, 0, 2 * Math.PI);
    context.fill();
  });
}
