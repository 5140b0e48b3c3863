// The depth of queues over time: all of them as rows of a heat map, and one as a line, with the
// share of time in which it had at least each depth.
import { linear, logarithmic } from "./axes";
import { drawAxes, drawTicks, picture, Picture } from "./picture";
import { PixelLayer } from "./pixels";
import { QueuePlace } from "./report_types";
import { duration, plainName, share } from "./units";

const kLeft = 130, kRight = 12, kTop = 6, kBottom = 26, kRow = 18;
// A star: most of the depth is of units that were never seen to leave (queues_view.ts says so).
const nameOf = (place: QueuePlace) => `${place.dir} ${plainName(place.at)}${place.depth_known ? "" : " *"}`;

export function depthMap(places: QueuePlace[], origin: number, open: (place: QueuePlace) => void): Picture {
  const known = places.filter(({ over_time: series }) => series && series.mean.length > 0);
  const first = Math.min(...known.map(({ over_time: series }) => series!.begin_ns)) - origin;
  const last = Math.max(...known.map(({ over_time: series }) => series!.begin_ns + series!.step_ns * series!.mean.length)) - origin;
  const height = kTop + known.length * kRow + kBottom;
  const made = picture({
    title: "Depth of queues over time, each beside its own max",
    height,
    table: () => ({
      columns: ["queue", "mean", "max", "at"],
      rows: known.map((place) => [nameOf(place), place.depth.mean.toFixed(1), place.high_water.depth,
                                  duration(place.high_water.ts_ns - origin)]),
    }),
    paint(drawing) {
      const { context, width, colour } = drawing;
      const right = width - kRight, bottom = height - kBottom;
      const across = linear(first, last, kLeft, right);
      const dense = new PixelLayer(kLeft, kTop, right - kLeft, bottom - kTop);
      context.textBaseline = "middle";
      known.forEach((place, row) => {
        const top = kTop + row * kRow;
        context.fillStyle = colour("text");
        context.textAlign = "right";
        context.fillText(nameOf(place), kLeft - 8, top + kRow / 2);
        context.fillStyle = colour("panel");
        context.fillRect(kLeft, top + 1, right - kLeft, kRow - 2);
        fillDepths(dense, place, top + 1, (ns) => across.at(ns - origin), colour("heat"));
      });
      dense.paint(context);
      drawTicks(drawing, across, bottom, duration);
    },
  });
  made.canvas.addEventListener("click", (event) => {
    const place = known[Math.floor((event.offsetY - kTop) / kRow)];
    if (place) open(place);
  });
  return made;
}

// Fills the row of a queue. The deepest stretches of time are filled last, so that a pixel shows
// the deepest one in it.
function fillDepths(dense: PixelLayer, place: QueuePlace, top: number, at: (ns: number) => number, ink: string): void {
  const { begin_ns: begin, step_ns: step, mean } = place.over_time!;
  const depths = mean.map((depth) => depth ?? 0);
  const most = depths.reduce((a, b) => Math.max(a, b), 1);
  const byDepth = [...depths.keys()].filter((i) => depths[i] > 0).sort((a, b) => depths[a] - depths[b]);
  for (const i of byDepth) {
    const from = at(begin + i * step);
    dense.fill(from, top, at(begin + (i + 1) * step) - from, kRow - 2, ink, 0.08 + 0.92 * (depths[i] / most));
  }
}

export function depthLine(place: QueuePlace, origin: number): Picture {
  const { begin_ns: begin, step_ns: step, mean } = place.over_time!;
  const most = Math.max(1, place.high_water.depth);
  const height = 180;
  return picture({
    title: `Depth of ${nameOf(place)} over time`,
    height,
    table: () => ({ columns: ["from", "mean depth"],
                    rows: mean.map((depth, i) => [duration(begin - origin + i * step), depth === null ? "unknown" : depth.toFixed(2)]) }),
    paint(drawing) {
      const { context, width, colour } = drawing;
      const right = width - kRight, bottom = height - kBottom;
      const across = linear(begin - origin, begin - origin + step * mean.length, 64, right);
      const up = linear(0, most, bottom, kTop);
      drawAxes(drawing, across, up, 64, kTop, right, bottom, duration, (value) => String(value));
      context.strokeStyle = colour("heat");
      context.lineWidth = 1.5;
      context.beginPath();
      mean.forEach((depth, i) => {
        if (depth === null) return;
        const y = up.at(depth);
        context.lineTo(across.at(begin - origin + i * step), y);
        context.lineTo(across.at(begin - origin + (i + 1) * step), y);
      });
      context.stroke();
      const deepest = across.at(place.high_water.ts_ns - origin);
      context.fillStyle = colour("bad");
      context.beginPath();
      context.arc(deepest, up.at(place.high_water.depth), 4, 0, 2 * Math.PI);
      context.fill();
    },
  });
}

// A curve of the share of time in which the queue held at least each number of items.
export function fillCurve(place: QueuePlace): Picture {
  const depths = (place.depths ?? []).filter(({ depth }) => depth > 0);
  const busy = depths.reduce((sum, { ns }) => sum + ns, 0);
  let left = busy;
  const points = depths.map(({ depth, ns }) => {
    const part = left / busy;
    left -= ns;
    return { depth, part, ns };
  });
  const height = 180;
  return picture({
    title: `Share of its busy time in which ${nameOf(place)} held at least so many`,
    height,
    table: () => ({
      columns: ["depth", "time at it", "of the busy time", "at least so deep"],
      rows: points.map(({ depth, part, ns }) => [depth, duration(ns), share(ns / busy), share(part)]),
    }),
    paint(drawing) {
      const { context, width, colour } = drawing;
      const right = width - kRight, bottom = height - kBottom;
      const across = linear(0, Math.max(1, ...points.map(({ depth }) => depth)), 64, right);
      const up = logarithmic(Math.min(0.1, ...points.map(({ part }) => Math.max(part, 1e-6))), 1, bottom, kTop);
      drawAxes(drawing, across, up, 64, kTop, right, bottom, String, (value) => share(value));
      context.strokeStyle = colour("heat");
      context.lineWidth = 2;
      context.beginPath();
      for (const { depth, part } of points) context.lineTo(across.at(depth), up.at(Math.max(part, 1e-6)));
      context.stroke();
    },
  });
}
