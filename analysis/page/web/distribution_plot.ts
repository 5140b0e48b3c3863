// Cumulative distributions of the exact latencies, several groups laid over each other: how many
// packets took longer than a time (CCDF), or at most that time (CDF).
import { Axis, linear, logarithmic } from "./axes";
import { GroupDistributions } from "./engine_client";
import { drawAxes, picture, Picture } from "./picture";
import { count, duration } from "./units";

export interface Series {
  name: string;
  colour: string;  // the name of one of the page's colours
  dash: number[];
  of: Times;
  points: CurvePoint[];
}

// The times of a curve: all of them, or the figures that a summary has of them.
export interface Times {
  count: number;
  least: number;
  most: number;
  percentiles: number[];  // at kPercentiles
  sorted?: Float64Array;
}

// The share of packets that took longer than `ns`, and its 95 % interval.
export interface CurvePoint {
  ns: number;
  longer: number;
  low: number;
  high: number;
}

export interface Form {
  isCdf: boolean;
  isLinear: boolean;  // the axis of time
  things?: string;    // the counted things; packets if undefined
}

const kLeft = 76, kRight = 12, kTop = 8, kBottom = 26;
const kPercentiles = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

// The percentile is the nearest rank, as everywhere in sojourn.
export function percentile(sorted: Float64Array, part: number): number {
  if (sorted.length === 0) return NaN;
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))];
}

export const timesOf = (sorted: Float64Array): Times => ({
  count: sorted.length,
  least: sorted[0] ?? NaN,
  most: sorted[sorted.length - 1] ?? NaN,
  percentiles: kPercentiles.map((part) => percentile(sorted, part)),
  sorted,
});

export const timesTold = ({ count, min_ns, max_ns, percentiles_ns }: GroupDistributions["groups"][number]): Times =>
    ({ count, least: min_ns, most: max_ns, percentiles: percentiles_ns });

export const pointsTold = ({ points }: GroupDistributions["groups"][number]): CurvePoint[] =>
    points.map(([ns, longer, low, high]) => ({ ns, longer, low: low ?? NaN, high: high ?? NaN }));

export const percentileNames = (things = "packets") => [things, ...kPercentiles.map((part) => `p${Number((100 * part).toPrecision(8))}`), "max"];

export const percentileCells = ({ count, percentiles, most }: Times): (string | number)[] =>
    [count, ...percentiles.map(duration), duration(most)];

// Returns the points of a curve at the percentiles of the table, without a band.
export const pointsOf = ({ percentiles }: Times): CurvePoint[] =>
    kPercentiles.map((part, i) => ({ ns: percentiles[i], longer: 1 - part, low: NaN, high: NaN }));

export function distributionPlot(title: string, series: Series[], form: Form, height = 420): Picture {
  const used = series.filter(({ of }) => of.count > 0);
  const high = Math.max(...used.map(({ of }) => of.most), 10);
  const low = form.isLinear ? 0 : Math.min(...used.map(({ of }) => Math.max(1, of.least)), high / 10);
  const most = Math.max(10, ...used.map(({ of }) => of.count));
  return picture({
    title,
    height,
    table: () => ({ columns: ["group", ...percentileNames(form.things)], rows: used.map(({ name, of }) => [name, ...percentileCells(of)]) }),
    exact: () => ({
      columns: ["group", "ns", "longer", "longer_low_95", "longer_high_95"],
      rows: used.flatMap(({ name, points }) => points.map(({ ns, longer, low, high }) =>
          [name, ns, longer, Number.isNaN(low) ? "" : low, Number.isNaN(high) ? "" : high])),
    }),
    paint(drawing) {
      const { context, width, colour } = drawing;
      const right = width - kRight, bottom = height - kBottom;
      const across = form.isLinear ? linear(low, high, kLeft, right) : logarithmic(low, high, kLeft, right);
      const up = form.isCdf ? linear(0, 1, bottom, kTop) : logarithmic(1 / most, 1, bottom, kTop);
      context.fillStyle = colour("panel");
      context.fillRect(kLeft, kTop, right - kLeft, bottom - kTop);
      drawAxes(drawing, across, up, kLeft, kTop, right, bottom, duration,
               (value) => (form.isCdf ? `${Math.round(100 * value)} %` : value >= 0.999 ? "all" : `1 of ${count(1 / value)}`));
      context.save();
      context.beginPath();
      context.rect(kLeft, kTop, right - kLeft, bottom - kTop);
      context.clip();
      for (const one of used) band(context, one, across, up, form.isCdf, colour(one.colour));
      context.restore();
      context.lineWidth = 2;
      for (const one of used) {
        context.strokeStyle = colour(one.colour);
        context.setLineDash(one.dash);
        if (one.of.sorted) curve(context, one.of.sorted, across, up, form.isCdf);
        else curveOfPoints(context, one, across, up, form.isCdf);
      }
      context.setLineDash([]);
    },
  });
}

// Draws a curve of all times. Steps nearer than a pixel are left out, but not the last ones, which
// are the tail. The next step that is drawn is searched, as there may be millions before it.
function curve(context: CanvasRenderingContext2D, sorted: Float64Array, across: Axis, up: Axis, isCdf: boolean): void {
  context.beginPath();
  let last = -Infinity;
  const tail = sorted.length - 50;
  for (let i = 0; i < sorted.length; i = i + 1 < tail ? lowerBound(sorted, across.value(last + 0.7), i + 1, tail) : i + 1) {
    const x = across.at(Math.max(1, sorted[i]));
    const y = up.at(isCdf ? (i + 1) / sorted.length : (sorted.length - i) / sorted.length);
    if (last === -Infinity) context.moveTo(x, y);
    else context.lineTo(x, y);
    last = x;
  }
  context.stroke();
}

// Returns the index of the first time that is not below the given one, in a part of the times.
function lowerBound(sorted: Float64Array, time: number, begin: number, end: number): number {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (sorted[middle] < time) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

// Draws a curve through the points of a summary, which are dense in the tail.
function curveOfPoints(context: CanvasRenderingContext2D, { of, points }: Series, across: Axis, up: Axis, isCdf: boolean): void {
  context.beginPath();
  context.moveTo(across.at(Math.max(1, of.least)), up.at(isCdf ? 0 : 1));
  for (const { ns, longer } of points)
    context.lineTo(across.at(Math.max(1, ns)), up.at(isCdf ? 1 - longer : Math.max(longer, 1 / of.count)));
  context.stroke();
}

// Fills the band between the bounds of the share at each point.
function band(context: CanvasRenderingContext2D, { points }: Series, across: Axis, up: Axis, isCdf: boolean, ink: string): void {
  const known = points.filter(({ low }) => !Number.isNaN(low));
  if (known.length === 0) return;
  const y = (share: number) => up.at(isCdf ? 1 - share : Math.max(share, up.from / 10));
  context.fillStyle = ink;
  context.globalAlpha = 0.18;
  context.beginPath();
  for (const { ns, high } of known) context.lineTo(across.at(Math.max(1, ns)), y(high));
  for (const { ns, low } of [...known].reverse()) context.lineTo(across.at(Math.max(1, ns)), y(low));
  context.fill();
  context.globalAlpha = 1;
}
