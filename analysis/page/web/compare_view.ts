// Two traces beside each other: their packets on one scale, their distributions laid over each
// other, and what differs, as `sojourn diff` says it.
import { distributionPlot, pointsOf, pointsTold, Series, timesOf, timesTold } from "./distribution_plot";
import { choice } from "./distribution_view";
import { element, headRow } from "./dom";
import { kDirections } from "./engine_client";
import { heatMap, slowestDots } from "./heat_map";
import { remembered } from "./remembered";
import { ComparedRun, Comparison, Difference, FirstScreen, Shift } from "./report_types";
import { openPacket, options, side, view } from "./selection";
import { count, duration, plainName, share } from "./units";

const kSides = ["base", "new"] as const;
const kFigures = ["p50", "p99", "mean"];
const kDirectionNames: Record<string, string> = { D: "Downlink", U: "Uplink" };

export interface ComparedTraces {
  names: [string, string];
  screens: [FirstScreen, FirstScreen];
  difference: Difference;
}

export function compareView(traces: ComparedTraces): HTMLElement {
  const { difference, screens } = traces;
  const directions = ["D", "U"].filter((dir) => screens.some(({ report }) => report.journeys[dir]?.complete > 0));
  return element("section", { class: "compare" },
      element("p", { class: "verdict", id: "difference" }, sentences(difference)),
      runs(traces),
      ...directions.map((dir) => maps(traces, dir)),
      element("h2", {}, "Distributions"),
      element("p", { class: "options" }, choice("curve"), choice("scale")),
      distributions(traces, directions),
      element("h2", {}, "What changed"),
      evidence(difference),
      times(difference.times),
      element("div", { class: "columns" }, depths(difference.depths), flow(difference)));
}

const shiftOf = (each: Comparison, of: string) => each.shifts.find((shift) => shift.of === of);
const base = (shift: Shift) => Number(shift.base_us ?? shift.base);
const now = (shift: Shift) => Number(shift.new_us ?? shift.new);
const by = (shift: Shift) => Number(shift.by_us ?? shift.by);
const time = (us: number) => duration(1000 * us);

// Returns the change as text, with half of the 95 % interval: "+51.2 us (+4.1 %)".
function changeText(shift: Shift, figure: (value: number) => string): string {
  const size = figure(Math.abs(by(shift)));
  const isNone = Number.parseFloat(size) === 0;
  const sign = isNone ? "" : by(shift) < 0 ? "-" : "+";
  const part = isNone || base(shift) === 0 ? "" : ` (${sign}${(100 * Math.abs(by(shift) / base(shift))).toFixed(1)} %)`;
  return `${sign}${size}${part} ±${intervalText(shift, figure)}`;
}

function intervalText(shift: Shift, figure: (value: number) => string): string {
  const low = shift.low_us ?? shift.low, high = shift.high_us ?? shift.high;
  return low === undefined || high === undefined ? "?" : figure((Number(high) - Number(low)) / 2);
}

function verdictText(each: Comparison): string {
  if (each.count[0] === 0) return "only in new";
  if (each.count[1] === 0) return "only in base";
  return typeof each.p === "number" ? `${each.verdict} (p ${probability(each.adjusted_p!)})` : each.verdict!;
}

// Rounding alone makes as much of smaller ones.
const kLeastP = 1e-9;
const probability = (p: number) => (p < kLeastP ? `< ${kLeastP}` : String(Number(p.toPrecision(2))));

function sentences({ times }: Difference): string {
  const told = times.filter(({ name, shifts }) => name === "latency" && shifts.length > 0).map((each) => {
    const half = shiftOf(each, "p50")!, slow = shiftOf(each, "p99")!;
    return `${kDirectionNames[each.dir]}: half of the packets took ${time(base(half))} or less, in the new trace ${time(now(half))}; ` +
        `the slowest 1 % more than ${time(base(slow))}, and ${time(now(slow))}. ${
          each.verdict === "changed" ? "The mean changed." : each.verdict === "same" ? "No change of the mean was seen." : "Too little data to say whether the mean changed."}`;
  });
  return told.join(" ") || "No packet was seen whole in both.";
}

function runs({ names, difference }: ComparedTraces): HTMLElement {
  const tracing = (run: ComparedRun) => (run.tracing_ns_per_packet === undefined || run.tracing_share === undefined ? "not measured"
      : `${duration(run.tracing_ns_per_packet)} a packet (${share(run.tracing_share)} of the target's CPU)`);
  return element("table", { class: "runs" }, headRow("", "trace", "target", "build", "#recorded", "#events", "#tracing took", ""),
      element("tbody", {}, ...[difference.base[0], difference.new[0]].map((run, i) => element("tr", {},
          element("th", { scope: "row" }, kSides[i]),
          element("td", {}, plainName(names[i])),
          element("td", {}, plainName(run.target)),
          element("td", {}, plainName(run.build_id.slice(0, 12))),
          element("td", { class: "number" }, duration(1e9 * run.duration_s)),
          element("td", { class: "number" }, count(run.events)),
          element("td", { class: "number" }, tracing(run)),
          element("td", {}, element("button", { type: "button", "data-alone": i, click: () => {
            side.set(i as 0 | 1);
            view.set("overview");
          } }, "look at it alone"))))));
}

// A packet of either trace is late if it is slower than the slowest hundredth of the base.
function maps({ names, screens }: ComparedTraces, dir: string): HTMLElement {
  const direction = kDirections.indexOf(dir);
  return element("div", { class: "pair" }, ...screens.map((table, i) => heatMap({
    direction,
    table,
    title: `${kDirectionNames[dir]}, ${kSides[i]}: ${plainName(names[i])}`,
    beside: screens[1 - i],
    deadline: screens[0].explanation.deadline_ns[dir as "D" | "U"] ?? undefined,
    dots: slowestDots(direction, table),
    box: undefined,
    open: (id) => {
      side.set(i as 0 | 1);
      openPacket.set(id);
    },
  }).root));
}

function distributions({ screens }: ComparedTraces, directions: string[]): HTMLElement {
  const series = directions.flatMap((dir, i) => screens.map((table, of): Series => {
    const told = table.told?.groups.find((group) => group.dir === dir);
    const times = told ? timesTold(told) : remembered(table, `times ${dir}`, "", () => timesOf(latencies(table, kDirections.indexOf(dir))));
    return { name: `${dir} ${kSides[of]}`, colour: `p${i}`, dash: of === 0 ? [7, 4] : [], of: times, points: told ? pointsTold(told).map((point) => ({ ...point, low: NaN, high: NaN })) : pointsOf(times) };
  }));
  const isCdf = options.curve.get() === "cdf";
  return element("div", {},
      element("p", {}, `${directions.map((dir, i) => `${kDirectionNames[dir]}: ${["blue", "orange"][i]}`).join(", ")}. Dashed: base. A line: new.`),
      distributionPlot(isCdf ? "How many packets took at most a time, in both" : "How many packets took longer than a time, in both", series,
                       { isCdf, isLinear: options.scale.get() === "linear" }, 320).root);
}

function latencies(table: FirstScreen, direction: number): Float64Array {
  const kept = new Float64Array(table.count);
  let size = 0;
  for (let i = 0; i < table.count; ++i)
    if (table.direction[i] === direction && table.latency[i] >= 0) kept[size++] = table.latency[i];
  return kept.slice(0, size).sort();
}

function evidence({ times }: Difference): HTMLElement {
  const told = times.filter(({ name }) => name === "latency").map((each) =>
      `${each.dir}: ${count(each.count[0])} and ${count(each.count[1])} packets, which say as much as ` +
      `${count(Math.floor(each.effective[0]))} and ${count(Math.floor(each.effective[1]))} independent ones.`);
  return element("p", {}, `${told.join(" ")} Compared are blocks of a trace that are as good as independent. ` +
      "What differs between two recordings of one build is not known from one trace a side.");
}

// Returns a place's share of its direction's latencies. The shares of all places add up to 1.
function shareOf(each: Comparison, all: Comparison[], which: 0 | 1): string {
  const latency = all.find(({ dir, name }) => dir === each.dir && name === "latency");
  const mine = shiftOf(each, "mean"), whole = latency && shiftOf(latency, "mean");
  if (!mine || !whole) return "";
  const mean = which === 0 ? base : now;
  return share((each.count[which] * mean(mine)) / (latency!.count[which] * mean(whole)));
}

function times(all: Comparison[]): HTMLElement {
  const cell = (text: string) => element("td", { class: "number" }, text);
  const group = (text: string, columns: number) => element("th", { scope: "colgroup", colspan: columns, class: "number" }, text);
  const column = (text: string) => element("th", { scope: "col", class: "number" }, text);
  return element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "What changed" }, element("table", { class: "changes" },
      element("thead", {},
          element("tr", {}, element("td", {}), element("td", {}), group("share", 2), ...kFigures.map((name) => group(name, 3)), element("td", {})),
          element("tr", {}, element("th", { scope: "col" }, "place"), element("th", { scope: "col" }, "verdict"), column("base"), column("new"),
              ...kFigures.flatMap(() => [column("base"), column("new"), column("change")]), column("slowdown"))),
      element("tbody", {}, ...all.map((each) => element("tr", { class: each.verdict === "changed" ? "changed" : undefined },
          element("th", { scope: "row" }, `${each.dir} ${plainName(each.name)}`),
          element("td", { class: "judged" }, verdictText(each)),
          ...(each.name === "latency" ? [cell(""), cell("")] : [cell(shareOf(each, all, 0)), cell(shareOf(each, all, 1))]),
          ...kFigures.flatMap((of) => {
            const shift = shiftOf(each, of);
            return shift ? [cell(time(base(shift))), cell(time(now(shift))), cell(changeText(shift, time))] : [cell(""), cell(""), cell("")];
          }),
          cell(each.slowdown === undefined ? "" : each.slowdown.toFixed(2)))))));
}

function depths(all: Comparison[]): HTMLElement {
  const figure = (value: number) => value.toFixed(2);
  const rows = all.flatMap((each) => {
    const mean = shiftOf(each, "mean");
    return mean ? [element("tr", {}, element("th", { scope: "row" }, `${each.dir} ${plainName(each.name)}`),
        ...[figure(base(mean)), figure(now(mean)), changeText(mean, figure)].map((text) => element("td", { class: "number" }, text)))] : [];
  });
  return element("section", {}, element("h2", {}, "Units in each place, on average"),
      rows.length === 0 ? element("p", {}, "Not known of packets that a filter chose.")
          : element("table", { class: "depths" }, headRow("place", "#base", "#new", "#change"), element("tbody", {}, ...rows)));
}

function flow({ flow: { appeared, vanished } }: Difference): HTMLElement {
  const list = (edges: string[], word: string) => edges.map((edge) => element("li", {}, `${word}: ${plainName(edge)}`));
  return element("section", {}, element("h2", {}, "Which point comes before which"),
      appeared.length + vanished.length === 0 ? element("p", { class: "edges" }, "The same in both.")
          : element("ul", { class: "edges" }, ...list(appeared, "appeared"), ...list(vanished, "vanished")));
}
