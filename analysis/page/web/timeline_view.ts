// What happened when, a row a thread and a CPU. Above in a row each event is a tick, many in one
// pixel a bar as high as they are many. Below is what the thread did, where the trace has the
// scheduler's events: it ran, it wanted a CPU; an arrow leads from who woke it. W and S zoom, A and D
// move, a drag selects a stretch, a click an event. Rows can be hidden, pinned on top and moved. A
// packet that is followed is drawn over the rows: its stays, and who handed it to whom.
import { linear } from "./axes";
import { element, replace } from "./dom";
import { Answers } from "./engine_client";
import { eventsView, RawEvent } from "./events_view";
import { line, picture, tickText } from "./picture";
import { PixelLayer } from "./pixels";
import { arranged, rowChooser } from "./row_chooser";
import { following, rowSets } from "./selection";
import { count, duration, plainName } from "./units";
import { Packet, packetName } from "./waterfall_bars";

interface Timeline {
  origin_ns: number;
  first_ns: number;
  last_ns: number;
  threads: { tid: number; name: string; events: number; running_ns: number }[];
  cpus: number[];  // their rows follow those of the threads
  points: string[];
  buckets: number;
  thread: Float64Array;  // of each bucket that is not empty: its row,
  bucket: Float64Array;  // where it is,
  number: Float64Array;  // how many events,
  point: Float64Array;   // and the point of the first
  made_row: Float64Array;   // an activity of a script, or a marker, which takes no time
  made_from: Float64Array;
  made_to: Float64Array;
  made_point: Float64Array;
  made_more: number;        // so many are not told
  slice_row: Float64Array;     // a stay in a state: whose,
  slice_from: Float64Array;    // ns since the first mark
  slice_to: Float64Array;
  slice_state: Float64Array;   // index in kStates
  slice_share: Float64Array;   // below 1: of so much of this time, where there are many
  slice_thread: Float64Array;  // the row of the thread; -1: of several
  wakeup_at: Float64Array;
  wakeup_from: Float64Array;   // rows
  wakeup_to: Float64Array;
}

interface Row {
  key: string;    // in the address
  name: string;
  index: number;  // of the engine's rows
  isCpu: boolean;
  events: number;
  running: number;
}

const kStates = ["running", "wanted a CPU", "blocked"];
const kMostArrows = 400;

const kLeft = 150, kRight = 12, kTop = 6, kBottom = 26, kRow = 32, kStrip = 8, kColours = 6;
const kShortest = 100;  // ns

export class TimelineView {
  readonly root = element("section", { class: "timeline" });
  private from = 0;
  private to = 0;
  private shown: Timeline | undefined;
  private list = element("div", { class: "list", tabindex: 0, role: "region", "aria-label": "Events in view" });
  private asked = 0;
  private events: RawEvent[] = [];
  private marked: number | undefined;  // ns since the first mark
  private at = -1;                     // the event of the followed packet that was shown last
  private told = element("p", { class: "told", "aria-live": "polite" });

  // `packet`: the one to follow.
  // `bounds`: of what is known, ns since the first mark.
  constructor(private engine: Answers, private trace: 0 | 1, private packet?: Packet, private bounds?: { from: number; to: number }) {}

  async start(): Promise<void> {
    await this.look(0, 0);
    if (this.packet) await this.fit();
    const drawing = this.drawing();
    const hasStates = this.shown!.slice_row.length > 0, hasMade = this.shown!.made_row.length > 0;
    replace(this.root, element("h2", {}, "Time line"),
        element("p", {}, "W and S zoom, A and D move, 0 shows all, a drag selects. The list below is of what is in view.",
            hasMade && ` A thin bar on top of a row is an activity of the script, a tick a marker${this.shown!.made_more > 0 ? `; ${count(this.shown!.made_more)} more are not drawn` : ""}.`,
            hasStates && " The strip below a row: green it ran, orange it wanted a CPU; an arrow leads from who woke it.",
            this.bounds && " This page has the events around the packet only.",
            this.packet && ` Followed: journey ${this.packet.journey.id}, ${packetName(this.packet.journey)}. [ and ] go along it, F fits it.`),
        rowChooser("rows", this.allRows(), rowSets, () => this.redraw()), drawing.root, this.told, this.list);
    drawing.canvas.focus();
  }

  // From and to: since the first mark; 0 and 0: all.
  private async look(from: number, to: number): Promise<void> {
    const mine = ++this.asked;
    if (this.bounds) {
      const { bounds } = this;
      if (to === 0) [from, to] = [bounds.from, bounds.to];
      to = Math.min(to, bounds.to);
      from = Math.min(Math.max(from, bounds.from), Math.max(bounds.from, to - kShortest));
      to = Math.max(to, from + 1);
    }
    const found = await this.engine.ask<Timeline>("reading events", { call: "timeline", trace: this.trace, from_ns: Math.round(from), to_ns: Math.round(to) });
    if (mine !== this.asked) return;
    this.shown = found;
    this.from = found.first_ns;
    this.to = found.last_ns;
    this.redraw();
    const { events, more } = await this.engine.ask<any>("reading events", {
      call: "events", trace: this.trace, limit: 200, where: `time in ${Math.round(this.from)}ns..${Math.round(this.to)}ns`,
    });
    if (mine !== this.asked) return;
    this.events = events;
    replace(this.list, eventsView(events, more, (i) => this.mark(this.events[i].time_ns)));
    this.showMarked();
  }

  // An instant: in the picture, and the nearest event in the list.
  private mark(ns: number): void {
    this.marked = ns;
    const span = this.to - this.from;
    if (ns < this.from || ns > this.to) this.go(ns - span / 2, ns + span / 2);
    else this.redraw();
    this.showMarked();
  }

  private showMarked(): void {
    const rows = this.list.querySelectorAll("tbody tr");
    rows.forEach((row) => row.removeAttribute("aria-current"));
    if (this.marked === undefined || this.events.length === 0) return;
    let nearest = 0;
    this.events.forEach(({ time_ns: ns }, i) => {
      if (Math.abs(ns - this.marked!) < Math.abs(this.events[nearest].time_ns - this.marked!)) nearest = i;
    });
    rows[nearest]?.setAttribute("aria-current", "true");
    const row = rows[nearest] as HTMLElement | undefined;
    if (row) this.list.scrollTop = row.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
    const event = this.events[nearest];
    this.told.textContent = `${duration(event.time_ns)}: ${plainName(event.point)} by ${plainName(event.thread)}`;
  }

  private since(ns: number): number {
    return ns - this.shown!.origin_ns;
  }

  private async fit(): Promise<void> {
    if (!this.packet) return this.look(0, 0);
    const times = this.packet.journey.events.map(({ t_ns }) => this.since(t_ns));
    const from = Math.min(...times), to = Math.max(...times);
    const room = Math.max((to - from) / 10, kShortest);
    await this.look(Math.max(1, from - room), to + room);
  }

  // To an event of the followed packet, before or after the last one.
  private follow(by: number): void {
    const events = this.packet?.journey.events;
    if (!events) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : events.length - 1) : (this.at + by + events.length) % events.length;
    this.mark(this.since(events[this.at].t_ns));
    const event = events[this.at];
    this.told.textContent = `${this.at + 1} of ${events.length}: ${plainName(event.point)} by ${plainName(event.thread ?? `thread ${event.tid}`)}`;
  }

  private redraw = () => {};

  private rows(): Row[] {
    return arranged(this.allRows(), rowSets);
  }

  private allRows(): Row[] {
    const { threads, cpus } = this.shown!;
    return [
      ...threads.map(({ tid, name, events, running_ns }, index) => ({ key: `t${tid}`, name: plainName(name), index, isCpu: false, events, running: running_ns })),
      ...cpus.map((cpu, i) => ({ key: `c${cpu}`, name: `CPU ${cpu}`, index: threads.length + i, isCpu: true, events: 0, running: NaN })),
    ];
  }

  private drawing() {
    let dragged: [number, number] | undefined;
    let pulled: { x: number; from: number; to: number } | undefined;  // with Shift
    const axis = (width: number) => linear(this.from, this.to, kLeft, width - kRight);
    const made = picture({
      title: "Events of each thread over time",
      height: () => kTop + kBottom + kRow * Math.max(1, this.rows().length),
      table: () => ({ columns: ["thread", "events in view", "running"],
                      rows: this.rows().filter(({ isCpu }) => !isCpu).map(({ name, events, running }) => [name, events, duration(running)]) }),
      paint: ({ context, width, height, colour }) => {
        const shown = this.shown!;
        const across = axis(width), right = width - kRight, bottom = height - kBottom;
        context.textBaseline = "middle";
        const rows = this.rows();
        const rowOf = new Map(rows.map(({ index }, row) => [index, row]));
        made.canvas.setAttribute("aria-label", `Events of each thread over time: ${rows.map(({ name }) => name).join(", ")}`);
        rows.forEach(({ name }, row) => {
          const top = kTop + row * kRow;
          context.fillStyle = row % 2 ? colour("panel") : colour("page");
          context.fillRect(0, top, width, kRow);
          context.fillStyle = colour("text");
          context.textAlign = "right";
          context.fillText(name, kLeft - 10, top + kRow / 2);
        });
        const dense = new PixelLayer(kLeft, kTop, right - kLeft, bottom - kTop);
        const wide = Math.max(1.2, (right - kLeft) / shown.buckets);
        let most = 1;
        for (const number of shown.number) most = Math.max(most, number);
        for (let i = 0; i < shown.bucket.length; ++i) {
          const row = rowOf.get(shown.thread[i]);
          if (row === undefined) continue;
          const tall = (kRow - kStrip - 6) * (0.35 + 0.65 * (Math.log1p(shown.number[i]) / Math.log1p(most)));
          const x = kLeft + ((right - kLeft) * shown.bucket[i]) / shown.buckets;
          dense.fill(x, kTop + (row + 1) * kRow - kStrip - 3 - tall, wide, tall, colour(`p${shown.point[i] % kColours}`));
        }
          fillStates(dense, shown, rowOf, across.at, colour);
          dense.paint(context);
          paintMade(context, shown, rowOf, across.at, colour);
          paintWakeups(context, shown, rowOf, across.at, colour);
        if (this.packet) this.paintPacket(context, rows, across.at, colour);
        if (this.marked !== undefined && this.marked >= this.from && this.marked <= this.to) {
          context.strokeStyle = colour("bad");
          line(context, across.at(this.marked), kTop, across.at(this.marked), bottom);
        }
        context.strokeStyle = colour("line");
        context.fillStyle = colour("faint");
        context.textAlign = "center";
        context.textBaseline = "top";
        for (const { at, value } of across.ticks()) {
          line(context, at, bottom, at, bottom + 4);
          tickText(context, exactTick(value, this.to - this.from), at, bottom + 6, width);
        }
        if (dragged) {
          context.fillStyle = colour("accent");
          context.globalAlpha = 0.2;
          context.fillRect(dragged[0], kTop, dragged[1] - dragged[0], bottom - kTop);
          context.globalAlpha = 1;
        }
      },
    });
    this.redraw = made.draw;
    const { canvas } = made;
    const zoom = (factor: number, around: number) =>
        this.go(around - (around - this.from) * factor, around + (this.to - around) * factor);
    canvas.addEventListener("keydown", (event) => {
      const span = this.to - this.from, middle = (this.from + this.to) / 2;
      if (event.code === "KeyW") zoom(0.5, middle);
      else if (event.code === "KeyS") zoom(2, middle);
      else if (event.code === "KeyA") this.go(this.from - span / 3, this.to - span / 3);
      else if (event.code === "KeyD") this.go(this.from + span / 3, this.to + span / 3);
      else if (event.key === "0") void this.look(0, 0);
      else if (event.code === "KeyF") void this.fit();
      else if (event.code === "BracketLeft" && this.packet) this.follow(-1);
      else if (event.code === "BracketRight" && this.packet) this.follow(1);
      else if (event.code === "Comma" || event.code === "Period") this.neighbour(event.code === "Period" ? 1 : -1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.5 : 1 / 1.5, axis(canvas.clientWidth).value(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      if (event.shiftKey) pulled = { x: event.offsetX, from: this.from, to: this.to };
      else dragged = [event.offsetX, event.offsetX];
    });
    canvas.addEventListener("pointermove", (event) => {
      if (pulled) {
        const by = ((pulled.x - event.offsetX) / (canvas.clientWidth - kLeft - kRight)) * (pulled.to - pulled.from);
        this.from = pulled.from + by;
        this.to = pulled.to + by;
        made.draw();
        return;
      }
      if (dragged) {
        dragged[1] = event.offsetX;
        made.draw();
        return;
      }
      const shown = this.shown!;
      const row = Math.floor((event.offsetY - kTop) / kRow);
      const bucket = Math.floor(((event.offsetX - kLeft) / (canvas.clientWidth - kLeft - kRight)) * shown.buckets);
      const named = this.rows()[row];
      let text = named?.name ?? "";
      for (let i = 0; i < shown.bucket.length; ++i)
        if (shown.thread[i] === named?.index && Math.abs(shown.bucket[i] - bucket) <= 1) {
          text += `: ${count(shown.number[i])}, first ${plainName(shown.points[shown.point[i]])}`;
          break;
        }
      const at = axis(canvas.clientWidth).value(event.offsetX);
      const pixel = (this.to - this.from) / canvas.clientWidth;
      for (let i = 0; i < shown.made_row.length; ++i)
        if (shown.made_row[i] === named?.index && shown.made_from[i] - pixel <= at && at <= shown.made_to[i] + pixel)
          text += `\n${plainName(shown.points[shown.made_point[i]])} ${duration(shown.made_to[i] - shown.made_from[i])}`;
      for (let i = 0; i < shown.slice_row.length; ++i)
        if (shown.slice_row[i] === named?.index && shown.slice_from[i] <= at && at < shown.slice_to[i] && shown.slice_share[i] === 1) {
          const who = named.isCpu ? ` ${plainName(shown.threads[shown.slice_thread[i]]?.name ?? "")}` : "";
          text += `\n${kStates[shown.slice_state[i]]}${who} for ${duration(shown.slice_to[i] - shown.slice_from[i])}`;
          break;
        }
      canvas.title = text;
    });
    canvas.addEventListener("pointerup", () => {
      if (pulled) {
        pulled = undefined;
        this.go(this.from, this.to);
      }
      if (!dragged) return;
      const across = axis(canvas.clientWidth);
      const [a, b] = dragged.map((x) => across.value(x)).sort((left, right) => left - right);
      dragged = undefined;
      if (b - a > (this.to - this.from) / 200) this.go(a, b);
      else this.mark(a);
    });
    return made;
  }

  // The event of the list before or after the one that is marked.
  private neighbour(by: number): void {
    if (this.events.length === 0) return;
    const now = this.marked === undefined ? -1 : this.events.findIndex(({ time_ns: ns }) => ns === this.marked);
    const next = now < 0 ? (by > 0 ? 0 : this.events.length - 1) : (now + by + this.events.length) % this.events.length;
    this.mark(this.events[next].time_ns);
  }

  // Each stay on the row of the thread that ended it, and a line from who had it before.
  private paintPacket(context: CanvasRenderingContext2D, rows: Row[], x: (value: number) => number, colour: (name: string) => string): void {
    const { events } = this.packet!.journey;
    const rowOf = new Map(rows.map(({ key }, row) => [key, row]));
    context.save();
    context.beginPath();
    context.rect(kLeft, kTop, context.canvas.clientWidth - kLeft - kRight, kRow * rows.length);
    context.clip();
    const written = new Map<number, number>();  // where the last text of a row ends
    const top = (tid: number) => {
      const row = rowOf.get(`t${tid}`);
      return row === undefined ? undefined : kTop + row * kRow + 3;
    };
    events.forEach((event) => {
      const mine = top(event.tid), to = x(this.since(event.t_ns));
      for (const parent of event.parents) {
        const from = x(this.since(events[parent].t_ns)), theirs = top(events[parent].tid);
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
    context.restore();
  }

  private go(from: number, to: number): void {
    following.set(false);
    const span = Math.max(kShortest, to - from);
    void this.look(Math.max(0, from), Math.max(0, from) + span);
  }
}

// On top of a row what a script found: activities as bars, markers as ticks.
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

// Below each row, what its thread did, or who was on the CPU.
function fillStates(dense: PixelLayer, shown: Timeline, rowOf: Map<number, number>, x: (value: number) => number,
                    colour: (name: string) => string): void {
  const inks = [colour("good"), colour("p1")];
  for (let i = 0; i < shown.slice_row.length; ++i) {
    const row = rowOf.get(shown.slice_row[i]), state = shown.slice_state[i];
    if (row === undefined || state > 1) continue;
    const isCpu = shown.slice_row[i] >= shown.threads.length;
    const room = isCpu ? kRow - 6 : kStrip;
    // Shares of one stretch of time stand on each other: running comes right before wanting a CPU.
    const isSecond = state === 1 && i > 0 && shown.slice_state[i - 1] === 0 && shown.slice_row[i - 1] === shown.slice_row[i] &&
        shown.slice_from[i - 1] === shown.slice_from[i];
    const bottom = kTop + (row + 1) * kRow - (isCpu ? 3 : 1) - (isSecond ? room * shown.slice_share[i - 1] : 0);
    const tall = Math.max(isSecond ? 0 : 1, room * shown.slice_share[i]);
    const from = x(shown.slice_from[i]);
    const ink = isCpu && shown.slice_thread[i] >= 0 ? colour(`p${shown.slice_thread[i] % kColours}`) : inks[state];
    dense.fill(from, bottom - tall, x(shown.slice_to[i]) - from, tall, ink);
  }
}

// Who woke whom.
function paintWakeups(context: CanvasRenderingContext2D, shown: Timeline, rowOf: Map<number, number>, x: (value: number) => number,
                      colour: (name: string) => string): void {
  if (shown.wakeup_at.length > kMostArrows) return;
  context.strokeStyle = colour("accent");
  context.fillStyle = colour("accent");
  context.lineWidth = 1;
  for (let i = 0; i < shown.wakeup_at.length; ++i) {
    const from = rowOf.get(shown.wakeup_from[i]), to = rowOf.get(shown.wakeup_to[i]);
    if (from === undefined || to === undefined || from === to) continue;
    const at = x(shown.wakeup_at[i]), begin = kTop + (from + 1) * kRow - 1, end = kTop + (to + 1) * kRow - 1;
    const way = end > begin ? 1 : -1;
    context.beginPath();
    context.moveTo(at, begin);
    context.lineTo(at, end);
    context.stroke();
    context.beginPath();
    context.moveTo(at, end);
    context.lineTo(at - 3, end - 6 * way);
    context.lineTo(at + 3, end - 6 * way);
    context.fill();
  }
}

// Enough digits to tell neighbouring ticks apart.
function exactTick(value: number, span: number): string {
  const [unit, length] = span >= 1e9 ? ["s", 1e9] : span >= 1e6 ? ["ms", 1e6] : span >= 1e3 ? ["us", 1e3] : ["ns", 1];
  const digits = span / (length as number) > 20 ? 0 : 2;
  return `${(value / (length as number)).toFixed(digits)} ${unit}`;
}

