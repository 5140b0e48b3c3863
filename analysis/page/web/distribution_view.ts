// The distribution of latencies by direction, UE, bearer or path: a curve a group, and a table of
// the percentiles of all of them.
import { element, headRow, replace } from "./dom";
import { CurvePoint, distributionPlot, percentileCells, percentileNames, pointsTold, Series, Times, timesOf, timesTold } from "./distribution_plot";
import { GroupDistributions, JourneyTable, kDirections } from "./engine_client";
import { redrawn } from "./picture";
import { remembered } from "./remembered";
import { Option, options, optionWords } from "./selection";
import { count, plainName } from "./units";

const kColours = 6;
const kDashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const kDrawnAtFirst = 6;
const kMostGroups = 200;
const kLabels: Record<Option, string> = { by: "Groups", curve: "Curve", scale: "Axis of time", form: "Picture of a packet" };
const kWords: Record<string, string> = { ue: "UE", ccdf: "how many took longer (CCDF)", cdf: "how many took at most (CDF)", log: "logarithmic" };

// Groups by hop and layer count stays, not packets: a packet has many stays, and they overlap.
export const countsStays = (by: string) => by === "hop" || by === "layer";

export const distributionView = (table: JourneyTable) => viewOf(remembered(table, "groups", "", () => groupsOf(table)), table.told?.all, "packets");
export const staysView = (told: GroupDistributions) => viewOf(groupsTold(told), told.all, "stays");

function viewOf(groups: Group[], told: number | undefined, things: string): HTMLElement {
  const shown = groups.slice(0, kMostGroups).map((group, i): Series => ({ ...group, colour: `p${i % kColours}`, dash: kDashes[i % kDashes.length] }));
  const all = told ?? groups.length;
  const drawn = new Set(shown.slice(0, kDrawnAtFirst));
  const plot = element("div", {});
  const draw = () => {
    const isCdf = options.curve.get() === "cdf";
    const title = isCdf ? `How many ${things} took at most a time` : `How many ${things} took longer than a time`;
    replace(plot, distributionPlot(title, shown.filter((series) => drawn.has(series)), { isCdf, isLinear: options.scale.get() === "linear", things }).root);
  };
  draw();
  return element("section", { class: "distribution" },
      element("p", { class: "options" }, choice("by"), choice("curve"), choice("scale")),
      plot,
      element("p", { class: "band" }, shown.some(({ points }) => points.some(({ low }) => !Number.isNaN(low)))
          ? "The band around a curve: at each time, so large a share of packets may really take longer (95 %, by blocks of time, as packets in a row are late together)."
          : things === "stays" ? "A stay is of a unit in a place: a packet, a segment, a block. Curves of stays have no bands."
          : "No curve has a band: too little data to say how far it may be off."),
      element("table", { class: "groups" }, headRow("group", ...percentileNames(things).map((name) => `#${name}`)),
          element("tbody", {}, ...shown.map((series) => element("tr", {},
              element("th", { scope: "row" }, key(series, drawn, draw)),
              ...percentileCells(series.of).map((cell) => element("td", { class: "number" }, typeof cell === "number" ? count(cell) : cell)))))),
      all > shown.length && element("p", {}, `The ${kMostGroups} groups with most ${things}, of ${count(all)}.`));
}

interface Group {
  name: string;
  of: Times;
  points: CurvePoint[];
}

// Returns the groups of the table. Each direction of a group is a group of its own.
function groupsOf(table: JourneyTable): Group[] {
  if (table.told) return groupsTold(table.told);
  const curves = curvesOf(table);
  return [...latenciesOf(table)].sort(([left, a], [right, b]) => b.length - a.length || (left < right ? -1 : 1))
      .map(([name, latencies]) => ({ name, of: timesOf(new Float64Array(latencies).sort()), points: curves.get(name) ?? [] }));
}

// Returns the latencies by the name of the group. A name is made once for a group, not for each
// packet.
function latenciesOf({ count: packets, group: groupOf, groups, direction, latency }: JourneyTable): Map<string, number[]> {
  const named = new Map<string, number[]>();
  const known: number[][] = [];  // by group and direction
  for (let i = 0; i < packets; ++i) {
    const group = groupOf?.[i] ?? -1;
    if (group < 0 || !(latency[i] >= 0)) continue;
    const number = group * kDirections.length + direction[i];
    let latencies = known[number];
    if (!latencies) {
      const name = `${kDirections[direction[i]]} ${plainName(groups[group])}`;
      latencies = named.get(name) ?? [];
      named.set(name, latencies);
      known[number] = latencies;
    }
    latencies.push(latency[i]);
  }
  return named;
}

const groupsTold = ({ groups }: GroupDistributions): Group[] =>
    groups.map((group) => ({ name: `${group.dir} ${plainName(group.name)}`, of: timesTold(group), points: pointsTold(group) }))
        .sort((a, b) => b.of.count - a.of.count || (a.name < b.name ? -1 : 1));

function curvesOf(table: JourneyTable): Map<string, CurvePoint[]> {
  const curves = new Map<string, CurvePoint[]>();
  table.curve_ns?.forEach((ns, i) => {
    const name = `${kDirections[table.curve_direction![i]]} ${plainName(table.groups[table.curve_group![i]])}`;
    if (!curves.has(name)) curves.set(name, []);
    curves.get(name)!.push({ ns, longer: table.curve_longer![i], low: table.curve_low![i], high: table.curve_high![i] });
  });
  return curves;
}

function key(series: Series, drawn: Set<Series>, draw: () => void): HTMLElement {
  const line = element("canvas", { width: 28, height: 12, "aria-hidden": "true" });
  const paint = () => {
    const context = line.getContext("2d")!;
    context.clearRect(0, 0, 28, 12);
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${series.colour}`);
    context.lineWidth = 2;
    context.setLineDash(series.dash);
    context.beginPath();
    context.moveTo(0, 6);
    context.lineTo(28, 6);
    context.stroke();
  };
  paint();
  redrawn(line, paint);
  const box = element("input", { type: "checkbox", change: () => {
    if (box.checked) drawn.add(series);
    else drawn.delete(series);
    draw();
  } });
  box.checked = drawn.has(series);
  return element("label", {}, box, line, ` ${series.name}`);
}

export function choice(name: Option): HTMLElement {
  const select = element("select", { id: `option-${name}`, change: () => options[name].set(select.value) },
      ...optionWords(name).map((word) => element("option", { value: word }, kWords[word] ?? word)));
  select.value = options[name].get();
  return element("label", {}, `${kLabels[name]} `, select);
}
