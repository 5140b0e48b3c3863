// What happened when, a row a thread and a CPU. Above in a row each event is a tick, many in one
// pixel a bar as high as they are many. Below is what the thread did, where the trace has the
// scheduler's events: it ran, it wanted a CPU; an arrow leads from who woke it. W and S zoom, A and D
// move, a drag selects a stretch. Rows can be hidden, and pinned on top.
import { linear } from "./axes";
import { element, replace } from "./dom";
import { Engine } from "./engine_client";
import { eventsView } from "./events_view";
import { line, picture } from "./picture";
import { rowSets } from "./selection";
import { count, duration, plainName } from "./units";

interface Timeline {
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
  private list = element("div", {});
  private asked = 0;

  constructor(private engine: Engine) {}

  async start(): Promise<void> {
    await this.look(0, 0);
    const drawing = this.drawing();
    const hasStates = this.shown!.slice_row.length > 0;
    replace(this.root, element("h2", {}, "Time line"),
        element("p", {}, "W and S zoom, A and D move, 0 shows all, a drag selects. The list below is of what is in view.",
            hasStates && " The strip below a row: green it ran, orange it wanted a CPU; an arrow leads from who woke it."),
        this.chooser(), drawing.root, this.list);
    drawing.canvas.focus();
  }

  // From and to: since the first mark; 0 and 0: all.
  private async look(from: number, to: number): Promise<void> {
    const mine = ++this.asked;
    const found = await this.engine.ask<Timeline>("reading events", { call: "timeline", from_ns: Math.round(from), to_ns: Math.round(to) });
    if (mine !== this.asked) return;
    this.shown = found;
    this.from = found.first_ns;
    this.to = found.last_ns;
    this.redraw();
    const { events, more } = await this.engine.ask<any>("reading events", {
      call: "events", limit: 200, where: `time in ${Math.round(this.from)}ns..${Math.round(this.to)}ns`,
    });
    if (mine === this.asked) replace(this.list, eventsView(events, more));
  }

  private redraw = () => {};

  // Pinned ones first, without the hidden ones.
  private rows(): Row[] {
    const { hidden, pinned } = { hidden: rowSets.hide.get(), pinned: rowSets.pin.get() };
    const shown = this.allRows().filter(({ key }) => !hidden.includes(key));
    return [...shown.filter(({ key }) => pinned.includes(key)), ...shown.filter(({ key }) => !pinned.includes(key))];
  }

  private allRows(): Row[] {
    const { threads, cpus } = this.shown!;
    return [
      ...threads.map(({ tid, name, events, running_ns }, index) => ({ key: `t${tid}`, name: plainName(name), index, isCpu: false, events, running: running_ns })),
      ...cpus.map((cpu, i) => ({ key: `c${cpu}`, name: `CPU ${cpu}`, index: threads.length + i, isCpu: true, events: 0, running: NaN })),
    ];
  }

  // Which rows are shown, and which stand on top.
  private chooser(): HTMLElement {
    const toggle = (name: "hide" | "pin", key: string, has: boolean) => {
      rowSets[name].set([...rowSets[name].get().filter((one) => one !== key), ...(has ? [key] : [])]);
      this.redraw();
    };
    const box = (name: "hide" | "pin", key: string, label: string, isOn: boolean, means: boolean) => {
      const made = element("input", { type: "checkbox", change: () => toggle(name, key, made.checked === means) });
      made.checked = isOn;
      return element("label", {}, made, ` ${label}`);
    };
    return element("details", { class: "rows" }, element("summary", {}, "rows"),
        element("ul", {}, ...this.allRows().map(({ key, name }) => element("li", {},
            box("hide", key, name, !rowSets.hide.get().includes(key), false),
            box("pin", key, "on top", rowSets.pin.get().includes(key), true)))));
  }

  private drawing() {
    let dragged: [number, number] | undefined;
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
        const wide = Math.max(1.2, (right - kLeft) / shown.buckets);
        let most = 1;
        for (const number of shown.number) most = Math.max(most, number);
        for (let i = 0; i < shown.bucket.length; ++i) {
          const row = rowOf.get(shown.thread[i]);
          if (row === undefined) continue;
          const tall = (kRow - kStrip - 6) * (0.35 + 0.65 * (Math.log1p(shown.number[i]) / Math.log1p(most)));
          const x = kLeft + ((right - kLeft) * shown.bucket[i]) / shown.buckets;
          context.fillStyle = colour(`p${shown.point[i] % kColours}`);
          context.fillRect(x, kTop + (row + 1) * kRow - kStrip - 3 - tall, wide, tall);
        }
        paintStates(context, shown, rowOf, across.at, colour);
        context.strokeStyle = colour("line");
        context.fillStyle = colour("faint");
        context.textAlign = "center";
        context.textBaseline = "top";
        for (const { at, value } of across.ticks()) {
          line(context, at, bottom, at, bottom + 4);
          context.fillText(tickText(value, this.to - this.from), at, bottom + 6);
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
      dragged = [event.offsetX, event.offsetX];
    });
    canvas.addEventListener("pointermove", (event) => {
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
      for (let i = 0; i < shown.slice_row.length; ++i)
        if (shown.slice_row[i] === named?.index && shown.slice_from[i] <= at && at < shown.slice_to[i] && shown.slice_share[i] === 1) {
          const who = named.isCpu ? ` ${plainName(shown.threads[shown.slice_thread[i]]?.name ?? "")}` : "";
          text += `\n${kStates[shown.slice_state[i]]}${who} for ${duration(shown.slice_to[i] - shown.slice_from[i])}`;
          break;
        }
      canvas.title = text;
    });
    canvas.addEventListener("pointerup", () => {
      if (!dragged) return;
      const across = axis(canvas.clientWidth);
      const [a, b] = dragged.map((x) => across.value(x)).sort((left, right) => left - right);
      dragged = undefined;
      if (b - a > (this.to - this.from) / 200) this.go(a, b);
      else made.draw();
    });
    return made;
  }

  private go(from: number, to: number): void {
    const span = Math.max(kShortest, to - from);
    void this.look(Math.max(0, from), Math.max(0, from) + span);
  }
}

// Below each row, what its thread did, or who was on the CPU; and who woke whom.
function paintStates(context: CanvasRenderingContext2D, shown: Timeline, rowOf: Map<number, number>, x: (value: number) => number,
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
    context.fillStyle = isCpu && shown.slice_thread[i] >= 0 ? colour(`p${shown.slice_thread[i] % kColours}`) : inks[state];
    context.fillRect(from, bottom - tall, Math.max(0.7, x(shown.slice_to[i]) - from), tall);
  }
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
function tickText(value: number, span: number): string {
  const [unit, length] = span >= 1e9 ? ["s", 1e9] : span >= 1e6 ? ["ms", 1e6] : span >= 1e3 ? ["us", 1e3] : ["ns", 1];
  const digits = span / (length as number) > 20 ? 0 : 2;
  return `${(value / (length as number)).toFixed(digits)} ${unit}`;
}

