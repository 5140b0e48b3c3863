// How many packets took longer than a time: the complementary distribution on two logarithmic axes,
// from the exact latencies, with several groups laid over each other.
import { logarithmic } from "./axes";
import { drawAxes, picture, Picture } from "./picture";
import { count, duration } from "./units";

export interface Series {
  name: string;
  colour: string;  // the name of one of the page's colours
  dash: number[];
  sorted: Float64Array;
}

const kLeft = 76, kRight = 12, kTop = 8, kBottom = 26;
const kPercentiles = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

// Nearest rank, as everywhere in sojourn.
export function percentile(sorted: Float64Array, part: number): number {
  if (sorted.length === 0) return NaN;
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))];
}

export function distributionPlot(title: string, series: Series[], height = 280): Picture {
  const used = series.filter(({ sorted }) => sorted.length > 0);
  const low = Math.min(...used.map(({ sorted }) => Math.max(1, sorted[0])), 1e9);
  const high = Math.max(...used.map(({ sorted }) => sorted[sorted.length - 1]), low * 10);
  const most = Math.max(10, ...used.map(({ sorted }) => sorted.length));
  return picture({
    title,
    height,
    table: () => ({
      columns: ["percentile", ...used.map(({ name }) => name)],
      rows: [["packets", ...used.map(({ sorted }) => sorted.length)],
             ...kPercentiles.map((part) =>
                 [`p${100 * part}`, ...used.map(({ sorted }) => duration(percentile(sorted, part)))]),
             ["max", ...used.map(({ sorted }) => duration(sorted[sorted.length - 1]))]],
    }),
    paint(drawing) {
      const { context, width, colour } = drawing;
      const right = width - kRight, bottom = height - kBottom;
      const across = logarithmic(low, high, kLeft, right);
      const up = logarithmic(1 / most, 1, bottom, kTop);
      context.fillStyle = colour("panel");
      context.fillRect(kLeft, kTop, right - kLeft, bottom - kTop);
      drawAxes(drawing, across, up, kLeft, kTop, right, bottom, duration,
               (value) => (value >= 0.999 ? "all" : `1 of ${count(1 / value)}`));
      context.lineWidth = 2;
      for (const { sorted, colour: name, dash } of used) {
        context.strokeStyle = colour(name);
        context.setLineDash(dash);
        context.beginPath();
        let lastX = -1;
        for (let i = 0; i < sorted.length; ++i) {
          const x = across.at(Math.max(1, sorted[i]));
          if (x - lastX < 0.7 && i < sorted.length - 50) continue;
          const y = up.at((sorted.length - i) / sorted.length);
          if (lastX < 0) context.moveTo(x, y);
          else context.lineTo(x, y);
          lastX = x;
        }
        context.stroke();
      }
      context.setLineDash([]);
      context.textAlign = "left";
      context.textBaseline = "middle";
      used.forEach(({ name, colour: ink, dash }, i) => {
        const y = kTop + 16 + 18 * i, x = kLeft + 14;
        context.strokeStyle = colour(ink);
        context.setLineDash(dash);
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x + 24, y);
        context.stroke();
        context.fillStyle = colour("text");
        context.fillText(name, x + 32, y);
      });
      context.setLineDash([]);
    },
  });
}

export function sortedLatencies(latency: Float64Array, keep: (index: number) => boolean): Float64Array {
  const kept = new Float64Array(latency.length);
  let number = 0;
  for (let i = 0; i < latency.length; ++i)
    if (latency[i] >= 0 && keep(i)) kept[number++] = latency[i];
  return kept.subarray(0, number).slice().sort();
}

