// Queues: their depths, the waits in them, and the threads that fill and drain them.
import { barCell, element, headRow, replace } from "./dom";
import { depthLine, depthMap, fillCurve } from "./queue_plots";
import { Episode, pressureView } from "./pressure_view";
import { QueuePlace } from "./report_types";
import { queue } from "./selection";
import { count, duration, plainName, share } from "./units";

export function queuesView(places: QueuePlace[], chains: Episode[][], origin: number): HTMLElement {
  if (places.length === 0) return element("p", {}, "No queue is known in this trace.");
  const threads = (list: QueuePlace["fed_by"]) => list.map(({ thread }) => plainName(thread)).join(", ");
  const plots = element("div", { class: "columns" });
  const open = (place: QueuePlace) => replace(plots, depthLine(place, origin).root, fillCurve(place).root);
  const deepest = [...places].sort((a, b) => Number(b.depth_known) - Number(a.depth_known) || b.depth.mean - a.depth.mean)[0];
  const nameOf = ({ dir, at }: QueuePlace) => `${dir} ${at}`;
  const chosen = places.find((place) => place.over_time && nameOf(place) === queue.get()) ?? deepest;
  if (chosen.over_time) open(chosen);
  const choose = (place: QueuePlace) => {
    queue.set(nameOf(place));
    open(place);
  };
  const means = places.every((place) => place.depth_known) ? [] : [element("p", { class: "unknown-depths" },
      "* Most of this depth is of units that were never seen to leave, so it means nothing.")];
  return element("section", {}, element("h2", {}, "Queues"), depthMap(places, origin, choose).root, ...means, plots,
      element("table", { class: "bars queues" },
          headRow("queue", "#depth: mean", "#p50", "#p99", "#max", "#busy", "", "#in each s", "#wait: p50", "#p99", "#max", "fed by", "drained by"),
          element("tbody", {}, ...places.map((place) => {
            const depth = (value: number, digits = 0) => (place.depth_known ? value.toFixed(digits) : "unknown");
            const busy = Math.min(1, place.utilisation);
            return element("tr", {},
                element("th", { scope: "row" }, place.over_time
                    ? element("button", { type: "button", class: "packet", title: "Show it over time", click: () => choose(place) }, `${place.dir} ${plainName(place.at)}`)
                    : `${place.dir} ${plainName(place.at)}`),
                element("td", { class: "number" }, depth(place.depth.mean, 1)),
                element("td", { class: "number" }, depth(place.depth.p50)),
                element("td", { class: "number" }, depth(place.depth.p99)),
                element("td", { class: "number" }, depth(place.high_water.depth)),
                element("td", { class: "number" }, share(busy)),
                barCell(busy),
                element("td", { class: "number" }, count(place.arrivals_per_s)),
                ...(["p50", "p99", "max"] as const).map((key) =>
                    element("td", { class: "number" }, place.wait_ns?.count ? duration(place.wait_ns[key]) : "")),
                element("td", {}, threads(place.fed_by)),
                element("td", {}, threads(place.drained_by)));
          }))),
      pressureView(chains, origin));
}
