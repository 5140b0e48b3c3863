// The view of a trace that grows: latencies of the last seconds over time, and the tables of
// `sojourn live`. It follows the trace until somebody pans; then all of it stands still.
import { linear, logarithmic } from "./axes";
import { barCell, element, headRow, replace } from "./dom";
import { kBottom, kLeft, kRight, kTop } from "./heat_cells";
import { figures, Figures, Instant, past } from "./live_figures";
import { drawAxes, picture } from "./picture";
import { following } from "./selection";
import { Served } from "./served";
import { effect } from "./signal";
import { count, duration, plainName, plainSentence, share } from "./units";
import { packetName } from "./waterfall_bars";

const kSpan = 60;  // seconds in the picture
const kHeight = 240;
const kCurves = [["D", "p50", "p0"], ["D", "p99", "p4"], ["U", "p50", "p2"], ["U", "p99", "p3"]] as const;

export function liveView(served: Served): HTMLElement {
  const now = element("p", { class: "verdict", id: "live-now" });
  const tables = element("div");
  const chart = latencyChart();
  const save = element("a", { id: "save" }, "save the trace");
  let shown: number | undefined;  // the instant that the tables show
  effect(() => {
    const told = figures.get();
    const follows = following.get();
    if (!told) return;
    if (follows) shown = told.t_s;
    now.textContent = sentence(told, follows ? undefined : shown);
    save.href = `${served.url}?save`;
    save.download = plainName(served.trace.name);
    if (!follows) return;
    chart.draw();
    replace(tables, ...tablesOf(told));
  });
  return element("section", { class: "live" }, now, chart.root, tables, served.state.readonly ? undefined : controls(served),
      element("p", {}, save, " as far as it is written"));
}

function sentence(told: Figures, shown: number | undefined): string {
  if (told.problem) return `The capture has ended: ${plainSentence(told.problem)}.`;
  if (told.waiting) return "Nothing is recorded yet: the capture waits for its start.";
  const parts = [`${(told.t_s ?? 0).toFixed(1)} s`, `${count(told.events_per_s ?? 0)} events/s`, `${count(told.lost ?? 0)} lost`];
  const { target_share: target, capture_cores: capture, view_cores: view } = told.tracing ?? {};
  if (target != null) parts.push(`tracing takes ${share(target)} of the target's CPU`);
  if (capture != null) parts.push(`capture ${share(capture)} of a core`);
  if (view != null) parts.push(`figures ${share(view)}`);
  if (told.left_out) parts.push(`${count(told.left_out)} events came too late for the figures`);
  if (told.filter) parts.push(`only ${told.filter}`);
  if (told.cut) parts.push("lists are cut");
  if (!told.growing) parts.push("the capture has ended");
  else if (shown !== undefined) parts.push(`stands at ${shown.toFixed(1)} s`);
  return parts.join(", ") + ".";
}

// The chart of latencies over time. A drag and the arrow keys pan.
function latencyChart() {
  let end = 0;  // seconds; the last instant in view, while it does not follow
  let dragged: { x: number; end: number } | undefined;
  const last = () => past.at(-1)?.t_s ?? kSpan;
  const until = () => (following.get() ? Math.max(last(), kSpan) : end);
  const inView = () => past.filter(({ t_s }) => t_s >= until() - kSpan && t_s <= until());
  const made = picture({
    title: "Latency of the last seconds, by the time at which they ended",
    height: kHeight,
    table: () => ({
      columns: ["s", ...kCurves.map(([dir, name]) => `${dir} ${name}`)],
      rows: inView().map((one) => [one.t_s.toFixed(1), ...kCurves.map(([dir, name]) => duration(one[name][dir] ?? NaN))]),
    }),
    paint(drawing) {
      const { context, width, height, colour } = drawing;
      const right = width - kRight, bottom = height - kBottom;
      const shown = inView();
      const values = shown.flatMap((one) => kCurves.map(([dir, name]) => one[name][dir] ?? NaN)).filter((value) => value > 0);
      const across = linear(until() - kSpan, until(), kLeft, right);
      const up = logarithmic(Math.min(...values, 1e5) * 0.8, Math.max(...values, 1e6) * 1.25, bottom, kTop);
      context.fillStyle = colour("panel");
      context.fillRect(kLeft, kTop, right - kLeft, bottom - kTop);
      drawAxes(drawing, across, up, kLeft, kTop, right, bottom, (value) => `${value} s`, (value) => duration(value));
      kCurves.forEach(([dir, name, paint], index) => {
        context.strokeStyle = context.fillStyle = colour(paint);
        context.lineWidth = 1.5;
        context.setLineDash(name === "p99" ? [6, 3] : []);
        curve(context, shown, (one) => one[name][dir] ?? NaN, across.at, up.at);
        context.setLineDash([]);
        context.textAlign = "left";
        context.textBaseline = "top";
        if (shown.some((one) => one[name][dir] > 0)) context.fillText(`${dir} ${name}`, kLeft + 8 + 60 * index, kTop + 4);
      });
      context.lineWidth = 1;
    },
  });
  const pan = (to: number) => {
    const first = past[0]?.t_s ?? 0;
    end = Math.min(Math.max(to, Math.min(first + kSpan, last())), Math.max(last(), kSpan));
    following.set(false);
    made.draw();
  };
  const { canvas } = made;
  const perPixel = () => kSpan / Math.max(1, canvas.clientWidth - kLeft - kRight);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    dragged = { x: event.offsetX, end: until() };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged && Math.abs(event.offsetX - dragged.x) > 3) pan(dragged.end - (event.offsetX - dragged.x) * perPixel());
  });
  canvas.addEventListener("pointerup", () => {
    dragged = undefined;
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    pan(until() + (event.key === "ArrowLeft" ? -10 : 10));
    event.preventDefault();
  });
  return made;
}

function curve(context: CanvasRenderingContext2D, shown: Instant[], value: (one: Instant) => number,
               across: (value: number) => number, up: (value: number) => number): void {
  context.beginPath();
  let isDown = false;
  for (const one of shown) {
    const ns = value(one);
    if (!(ns > 0)) {
      isDown = false;
      continue;
    }
    if (isDown) context.lineTo(across(one.t_s), up(ns));
    else context.moveTo(across(one.t_s), up(ns));
    isDown = true;
  }
  context.stroke();
}

function tablesOf(told: Figures): HTMLElement[] {
  if (!told.journeys || !told.hops) return [];
  const cell = (text: string) => element("td", { class: "number" }, text);
  const times = (of: { latency_us: Record<string, number>; count: number }) =>
      ["p50", "p90", "p99", "p999", "max"].map((name) => cell(of.count > 0 ? duration(1000 * of.latency_us[name]) : ""));
  const spans = [["window", `last ${Math.round(told.window_s ?? 0)} s`], ["all", "since the start"]] as const;
  const latency = element("table", { id: "live-latency" }, element("caption", {}, "Latency"),
      headRow("", "#packets", "#in each s", "#p50", "#p90", "#p99", "#p99.9", "#max"),
      element("tbody", {}, ...Object.entries(told.journeys).flatMap(([dir, one]) => spans.map(([span, words]) =>
          element("tr", { "data-dir": dir, "data-span": span },
              element("th", { scope: "row" }, `${dir} ${plainName(one.path)}, ${words}`),
              cell(count(one[span].count)), cell(count(one[span].per_s)), ...times(one[span]))))));
  const queues = new Map((told.queues ?? []).map((queue) => [`${queue.dir} ${queue.name}`, queue]));
  const deepest = Math.max(1, ...[...queues.values()].map(({ now }) => now));
  const places = element("table", { class: "bars", id: "live-places" }, element("caption", {}, `Where packets spend it, last ${Math.round(told.window_s ?? 0)} s`),
      headRow("place", "#in each s", "#p50", "#p90", "#p99", "#p99.9", "#max", "#in it", "", "#most"),
      element("tbody", {}, ...told.hops.map(({ dir, at, window }) => {
        const queue = queues.get(`${dir} ${at}`);
        return element("tr", {}, element("th", { scope: "row" }, `${dir} ${plainName(at)}`), cell(count(window.per_s)), ...times(window),
            cell(queue ? count(queue.now) : ""), barCell((queue?.now ?? 0) / deepest), cell(queue ? count(queue.max) : ""));
      })));
  const slowest = element("section", {}, element("h2", {}, "The slowest of the last seconds, and why"),
      element("ol", { class: "slowest" }, ...(told.worst ?? []).map((packet) =>
          element("li", {}, element("b", {}, duration(1000 * packet.latency_us)), ` ${packetName(packet)}`,
              element("span", { class: "why" }, plainSentence(packet.why))))));
  return [latency, places, slowest];
}

function controls(served: Served): HTMLElement {
  const answer = element("p", { id: "control-answer", role: "status" });
  const points = element("input", { type: "text", id: "points", "aria-label": "Points", placeholder: "rlc.* or 'U *'", spellcheck: "false", autocomplete: "off" });
  const ask = async (action: string, pattern = "") => {
    answer.textContent = "...";
    try {
      answer.textContent = plainSentence(await served.control(action, pattern));
      answer.classList.remove("failed");
    } catch (error) {
      answer.textContent = error instanceof Error ? plainSentence(error.message) : String(error);
      answer.classList.add("failed");
    }
  };
  const button = (action: string, words: string, why: string) =>
      element("button", { type: "button", "data-action": action, title: why, click: () => void ask(action) }, words);
  const switches = (action: string) =>
      element("button", { type: "button", "data-action": action, click: () => void ask(action, points.value) }, action);
  return element("section", { class: "controls", "aria-label": "The capture" }, element("h2", {}, "The capture"),
      element("form", { submit: (event: Event) => event.preventDefault() }, "points ", points, switches("enable"), switches("disable")),
      element("p", {}, button("start", "start", "Begins a capture that waits for it"), button("stop", "stop", "Ends the captures of the process"),
          button("flush", "flush", "Writes what is held now"), button("dump", "dump", "A flight recorder beside this one writes what it holds")),
      answer);
}
