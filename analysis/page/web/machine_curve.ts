// A curve of a machine's profile, both axes logarithmic: the medians, their quartiles, and the
// knees, which are the last points before a cache ends. Arrows go from point to point.
import { Axis, doublings, logarithmic } from "./axes";
import { element, shape } from "./dom";
import { drawingFigure } from "./drawing_figure";
import { Curve } from "./machine_profile";
import { quantity, Unit } from "./quantity";
import { plainName, plainSentence } from "./units";

const kWidth = 720, kHeight = 330, kLeft = 74, kRight = 30, kBottom = 46;
const kLabelRow = 14, kLabelWidth = 110;
const kRows = 4;
// Below this ratio an axis could be without two ticks.
const kLeastRatio = 8;

// Room for the labels of the knees is above the frame.
const topOf = ({ knees }: Curve) => 10 + kLabelRow * Math.min(kRows, knees.length);

type Point = Curve["points"][number];

export function machineCurve(curve: Curve): HTMLElement {
  const title = `${plainName(curve.name)}: ${plainName(curve.y.name)} over ${plainName(curve.x.name)}`;
  const points = curve.points.filter(({ x, y }) => x > 0 && y > 0).sort((a, b) => a.x - b.x);
  if (points.length < 2) return element("p", {}, `${title}: too few points.`);
  const isKnee = ({ x }: Point) => curve.knees.some((knee) => knee.x === x);
  const across = acrossAxis(points, curve.x.unit);
  const up = upAxis(points, topOf(curve));

  const drawing = shape("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img", class: "curve",
                                 "aria-label": `${points.length} points, ${curve.knees.length} knees` });
  drawing.append(...axesOf(curve, across, up), ...kneesOf(curve, across),
      shape("path", { class: "line", d: points.map(({ x, y }, i) => `${i ? "L" : "M"}${across.at(x).toFixed(1)} ${up.at(y).toFixed(1)}`).join("") }));
  for (const point of points) {
    const x = across.at(point.x);
    if (point.q1 > 0 && point.q3 >= point.q1)
      drawing.append(shape("line", { class: "quartiles", x1: x, x2: x, y1: up.at(point.q1), y2: up.at(point.q3) }));
    drawing.append(shape("circle", { class: isKnee(point) ? "point knee" : "point", cx: x, cy: up.at(point.y), r: isKnee(point) ? 4.5 : 2.5 }));
  }
  const marker = shape("circle", { class: "marker", r: 7, visibility: "hidden" });
  drawing.append(marker);

  const columns = (units: boolean) => [curve.x, curve.y].map(({ name, unit }) => plainName(name) + (units ? `, ${unit}` : ""));
  const rows = <T,>(figure: (value: number, unit: Unit) => T) => points.map((point) =>
      [figure(point.x, curve.x.unit), figure(point.y, curve.y.unit), figure(point.q1, curve.y.unit), figure(point.q3, curve.y.unit),
       isKnee(point) ? "knee" : ""]);
  const figure = drawingFigure(title, drawing,
      { columns: [...columns(false), "lower quartile", "upper quartile", "knee"], rows: rows(quantity) },
      { columns: [...columns(true), "lower quartile", "upper quartile", "knee"], rows: rows((value) => value) });
  const told = element("p", { class: "told", "aria-live": "polite" });
  figure.querySelector("details")!.before(told, ...kneesText(curve), curve.note ? element("p", {}, plainSentence(curve.note)) : "");
  let at = -1;
  const choose = (index: number) => {
    at = index;
    const point = points[at];
    marker.setAttribute("cx", String(across.at(point.x)));
    marker.setAttribute("cy", String(up.at(point.y)));
    marker.setAttribute("visibility", "visible");
    told.textContent = pointText(curve, point) + (isKnee(point) ? ", a knee" : "");
  };
  const region = figure.querySelector<HTMLElement>(".wide")!;
  region.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    choose(event.key === "ArrowRight" ? Math.min(points.length - 1, at + 1) : Math.max(0, at - 1));
    event.preventDefault();
  });
  drawing.addEventListener("pointermove", (event) => {
    const { left, width } = drawing.getBoundingClientRect();
    const x = ((event as PointerEvent).clientX - left) * (kWidth / width);
    const away = (point: Point) => Math.abs(across.at(point.x) - x);
    choose(points.reduce((best, point, i) => (away(point) < away(points[best]) ? i : best), 0));
  });
  drawing.addEventListener("pointerleave", () => {
    at = -1;
    marker.setAttribute("visibility", "hidden");
    told.textContent = "";
  });
  return figure;
}

function acrossAxis(points: Point[], unit: Unit): Axis {
  const of = unit === "B" || unit === "count" ? doublings : logarithmic;
  return of(points[0].x, points[points.length - 1].x, kLeft + 8, kWidth - kRight - 8);
}

function upAxis(points: Point[], top: number): Axis {
  const all = points.flatMap(({ y, q1, q3 }) => [y, q1, q3]).filter((value) => value > 0);
  let low = Math.min(...all) / 1.15, high = Math.min(Math.max(...all) * 1.15, 1e300);
  if (high / low < kLeastRatio) {
    const more = Math.sqrt(kLeastRatio / (high / low));
    [low, high] = [low / more, high * more];
  }
  return logarithmic(low, high, kHeight - kBottom, top);
}

function axesOf(curve: Curve, across: Axis, up: Axis): SVGElement[] {
  const right = kWidth - kRight, top = topOf(curve), bottom = kHeight - kBottom;
  return [
    shape("rect", { class: "frame", x: kLeft, y: top, width: right - kLeft, height: bottom - top }),
    ...across.ticks().flatMap(({ value, at }) => [
      shape("line", { class: "tick", x1: at, x2: at, y1: bottom, y2: bottom + 4 }),
      shape("text", { class: "tick", x: at, y: bottom + 17 }, quantity(value, curve.x.unit))]),
    ...up.ticks().flatMap(({ value, at }) => [
      shape("line", { class: "grid", x1: kLeft, x2: right, y1: at, y2: at }),
      shape("text", { class: "tick up", x: kLeft - 6, y: at + 4 }, quantity(value, curve.y.unit))]),
    shape("text", { class: "tick", x: (kLeft + right) / 2, y: kHeight - 8 }, plainName(curve.x.name)),
  ];
}

// The labels stand above the frame, each to the left of its line and above the one before, so that
// neither line nor label lies over another.
function kneesOf(curve: Curve, across: Axis): SVGElement[] {
  return curve.knees.filter(({ x }) => x >= across.from && x <= across.to).flatMap((knee, i) => {
    const x = across.at(knee.x), y = topOf(curve) - 6 - (i % kRows) * kLabelRow;
    const isLeft = x > kLeft + kLabelWidth;
    return [
      shape("line", { class: "knee", x1: x, x2: x, y1: y - 9, y2: kHeight - kBottom }),
      shape("text", { class: isLeft ? "knee before" : "knee", x: isLeft ? x - 4 : x + 4, y }, `knee at ${quantity(knee.x, curve.x.unit)}`)];
  });
}

const kneesText = ({ knees, x, y }: Curve) => knees.map((knee) => element("p", { class: "knee" },
    `knee at ${quantity(knee.x, x.unit)}: ${quantity(knee.before, y.unit)} before, ${quantity(knee.after, y.unit)} behind`));

const pointText = ({ x, y }: Curve, point: Point) =>
    `${quantity(point.x, x.unit)}: ${quantity(point.y, y.unit)}, middle half ${quantity(point.q1, y.unit)} .. ${quantity(point.q3, y.unit)}`;
