// What happened when, a row a thread: each event a tick, many in one pixel a bar as high as they are
// many. W and S zoom, A and D move, a drag selects a stretch, F shows the open packet.
import { linear } from "./axes";
import { element, replace } from "./dom";
import { Engine } from "./engine_client";
import { eventsView } from "./events_view";
import { line, picture } from "./picture";
import { count, plainName } from "./units";

interface Timeline {
  first_ns: number;
  last_ns: number;
  threads: { tid: number; name: string; events: number }[];
  points: string[];
  buckets: number;
  thread: Float64Array;  // of each bucket that is not empty: its row,
  bucket: Float64Array;  // where it is,
  number: Float64Array;  // how many events,
  point: Float64Array;   // and the point of the first
}

const kLeft = 150, kRight = 12, kTop = 6, kBottom = 26, kRow = 26, kColours = 6;
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
    replace(this.root, element("h2", {}, "Time line"),
        element("p", {}, "W and S zoom, A and D move, 0 shows all, a drag selects. The list below is of what is in view."),
        drawing.root, this.list);
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

  private drawing() {
    const height = kTop + kBottom + kRow * this.shown!.threads.length;
    let dragged: [number, number] | undefined;
    const axis = (width: number) => linear(this.from, this.to, kLeft, width - kRight);
    const made = picture({
      title: "Events of each thread over time",
      height,
      table: () => ({ columns: ["thread", "events in view"],
                      rows: this.shown!.threads.map((thread) => [plainName(thread.name), thread.events]) }),
      paint: ({ context, width, colour }) => {
        const shown = this.shown!;
        const across = axis(width), right = width - kRight, bottom = height - kBottom;
        context.textBaseline = "middle";
        shown.threads.forEach((thread, row) => {
          const top = kTop + row * kRow;
          context.fillStyle = row % 2 ? colour("panel") : colour("page");
          context.fillRect(0, top, width, kRow);
          context.fillStyle = colour("text");
          context.textAlign = "right";
          context.fillText(plainName(thread.name), kLeft - 10, top + kRow / 2);
        });
        const wide = Math.max(1.2, (right - kLeft) / shown.buckets);
        let most = 1;
        for (const number of shown.number) most = Math.max(most, number);
        for (let i = 0; i < shown.bucket.length; ++i) {
          const tall = (kRow - 6) * (0.35 + 0.65 * (Math.log1p(shown.number[i]) / Math.log1p(most)));
          const x = kLeft + ((right - kLeft) * shown.bucket[i]) / shown.buckets;
          context.fillStyle = colour(`p${shown.point[i] % kColours}`);
          context.fillRect(x, kTop + (shown.thread[i] + 1) * kRow - 3 - tall, wide, tall);
        }
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
      let text = shown.threads[row] ? plainName(shown.threads[row].name) : "";
      for (let i = 0; i < shown.bucket.length; ++i)
        if (shown.thread[i] === row && Math.abs(shown.bucket[i] - bucket) <= 1) {
          text += `: ${count(shown.number[i])}, first ${plainName(shown.points[shown.point[i]])}`;
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

// Enough digits to tell neighbouring ticks apart.
function tickText(value: number, span: number): string {
  const [unit, length] = span >= 1e9 ? ["s", 1e9] : span >= 1e6 ? ["ms", 1e6] : span >= 1e3 ? ["us", 1e3] : ["ns", 1];
  const digits = span / (length as number) > 20 ? 0 : 2;
  return `${(value / (length as number)).toFixed(digits)} ${unit}`;
}

