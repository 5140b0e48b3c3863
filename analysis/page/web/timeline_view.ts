// The time line: its picture with a row a thread and a CPU, and a list of the events in view. W and
// S zoom, A and D move, a drag selects a stretch, a click an event. Rows can be hidden, pinned on
// top and moved.
import { digitOf } from "./digit_keys";
import { element, replace } from "./dom";
import { Answers } from "./engine_client";
import { eventsView, RawEvent } from "./events_view";
import { picture } from "./picture";
import { arranged, rowChooser } from "./row_chooser";
import { following, keepSoon, rowSets, stretches, stretchOf, stretchText, where } from "./selection";
import { heightOf, Row, Scene, timeAxis, Timeline, TimelinePicture, widthOfPlot, wordsAt } from "./timeline_picture";
import { count, duration, exactInstant, plainName } from "./units";
import { Packet, packetName } from "./waterfall_bars";

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
  private dragged: [number, number] | undefined;  // pixels
  private told = element("p", { class: "told", "aria-live": "polite" });

  // `packet`: the one to follow.
  // `bounds`: the stretch of which events are known, ns since the first mark.
  constructor(private engine: Answers, private trace: 0 | 1, private packet?: Packet, private bounds?: { from: number; to: number }) {}

  async start(): Promise<void> {
    const kept = stretchOf(stretches.timeline.get());
    await this.look(...kept ?? [0, 0]);
    if (this.packet && !kept) await this.fit();
    const hasStates = this.shown!.slice_row.length > 0, hasMade = this.shown!.made_row.length > 0;
    replace(this.root, element("h2", {}, "Time line"),
        element("p", {}, "W and S zoom, A and D move, 0 shows all, a drag selects. The list below is of what is in view.",
            hasMade && ` A thin bar on top of a row is an activity of the script, a tick a marker${this.shown!.made_more > 0 ? `; ${count(this.shown!.made_more)} more are not drawn` : ""}.`,
            hasStates && " The strip below a row: green it ran, orange it wanted a CPU; an arrow leads from who woke it.",
            this.bounds && " This page has the events around the packet only.",
            this.packet && ` Followed: journey ${this.packet.journey.id}, ${packetName(this.packet.journey)}. [ and ] go along it, F fits it.`),
        where.get() !== "" && element("p", { class: "unfiltered" }, "The time line shows all events, not only those of the filter."),
        rowChooser("rows", this.allRows(), rowSets, () => this.redraw()), this.drawing().root, this.told, this.list);
  }

  // Shows a stretch, in ns since the first mark; 0 and 0: all.
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

  // Marks an instant in the picture, and the nearest event in the list.
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
    this.told.textContent = `${exactInstant(event.time_ns)}: ${plainName(event.point)} by ${plainName(event.thread)}`;
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

  // Marks the event of the followed packet that comes before or after the one marked last.
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
    const look = new TimelinePicture();
    const made = picture({
      title: "Events of each thread over time",
      isKeyed: true,
      height: () => heightOf(this.rows()),
      table: () => ({ columns: ["thread", "events in view", "running"],
                      rows: this.rows().filter(({ isCpu }) => !isCpu).map(({ name, events, running }) => [name, events, duration(running)]) }),
      paint: (drawing) => {
        const scene = this.scene();
        made.canvas.setAttribute("aria-label", `Events of each thread over time: ${scene.rows.map(({ name }) => name).join(", ")}`);
        look.paint(drawing, scene);
      },
    });
    this.redraw = made.draw;
    this.listenToKeys(made.canvas);
    this.listenToPointer(made.canvas);
    return made;
  }

  private scene(): Scene {
    return { timeline: this.shown!, rows: this.rows(), from: this.from, to: this.to, packet: this.packet, marked: this.marked, dragged: this.dragged };
  }

  private zoom(factor: number, around: number): void {
    this.go(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  private listenToKeys(canvas: HTMLCanvasElement): void {
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const span = this.to - this.from, middle = (this.from + this.to) / 2;
      if (event.code === "KeyW") this.zoom(0.5, middle);
      else if (event.code === "KeyS") this.zoom(2, middle);
      else if (event.code === "KeyA") this.go(this.from - span / 3, this.to - span / 3);
      else if (event.code === "KeyD") this.go(this.from + span / 3, this.to + span / 3);
      else if (digitOf(event) === 0) this.showAll();
      else if (event.code === "KeyF") this.showAsAtFirst();
      else if (event.code === "BracketLeft" && this.packet) this.follow(-1);
      else if (event.code === "BracketRight" && this.packet) this.follow(1);
      else if (event.code === "Comma" || event.code === "Period") this.neighbour(event.code === "Period" ? 1 : -1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  // A drag selects a stretch, and pulls the picture with Shift; Ctrl and the wheel zoom.
  private listenToPointer(canvas: HTMLCanvasElement): void {
    let pulled: { x: number; from: number; to: number } | undefined;
    const timeAt = (x: number) => timeAxis(this.from, this.to, canvas.clientWidth).value(x);
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.5 : 1 / 1.5, timeAt(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      if (event.shiftKey) pulled = { x: event.offsetX, from: this.from, to: this.to };
      else this.dragged = [event.offsetX, event.offsetX];
    });
    canvas.addEventListener("pointermove", (event) => {
      if (pulled) {
        const by = ((pulled.x - event.offsetX) / widthOfPlot(canvas.clientWidth)) * (pulled.to - pulled.from);
        this.from = pulled.from + by;
        this.to = pulled.to + by;
        this.redraw();
      } else if (this.dragged) {
        this.dragged[1] = event.offsetX;
        this.redraw();
      } else {
        canvas.title = wordsAt(this.scene(), event.offsetX, event.offsetY, canvas.clientWidth);
      }
    });
    canvas.addEventListener("pointerup", () => {
      if (pulled) {
        pulled = undefined;
        this.go(this.from, this.to);
      }
      if (!this.dragged) return;
      const [a, b] = this.dragged.map(timeAt).sort((left, right) => left - right);
      this.dragged = undefined;
      if (b - a > (this.to - this.from) / 200) this.go(a, b);
      else this.mark(a);
    });
  }

  // Marks the event of the list that comes before or after the marked one.
  private neighbour(by: number): void {
    if (this.events.length === 0) return;
    const now = this.marked === undefined ? -1 : this.events.findIndex(({ time_ns: ns }) => ns === this.marked);
    const next = now < 0 ? (by > 0 ? 0 : this.events.length - 1) : (now + by + this.events.length) % this.events.length;
    this.mark(this.events[next].time_ns);
  }

  // Where a packet is followed, all is not what is shown at first.
  private showAll(): void {
    keepSoon(stretches.timeline, this.packet ? stretchText(0, 0) : "");
    void this.look(0, 0);
  }

  private showAsAtFirst(): void {
    keepSoon(stretches.timeline, "");
    void this.fit();
  }

  private go(from: number, to: number): void {
    following.set(false);
    const begin = Math.max(0, from), end = begin + Math.max(kShortest, to - from);
    keepSoon(stretches.timeline, stretchText(begin, end));
    void this.look(begin, end);
  }
}
