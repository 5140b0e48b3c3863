// The causes of lateness: how many packets each one made late, and how much of their time it took.
import { barCell, element, headRow } from "./dom";
import { slowest } from "./overview";
import { Explanation } from "./report_types";
import { count, duration, plainName, share } from "./units";

export function causesView(explanation: Explanation): HTMLElement {
  const { late, complete, causes, deadline_ns: deadline, late_ns: all } = explanation;
  const limits = (["D", "U"] as const).filter((dir) => deadline[dir] !== undefined)
      .map((dir) => `${dir} ${duration(deadline[dir]!)}`).join(", ");
  return element("section", {}, element("h2", {}, "Causes"),
      element("p", {}, `${count(late)} of ${count(complete)} packets were late: they took longer than ${limits}` +
          (deadline.given ? "." : ", which is what the slowest 1 % of each direction took.")),
      element("table", { class: "bars" },
          headRow("cause", "#packets", "#share", "", "#time in all", "#of the late time"),
          element("tbody", {}, ...causes.map((cause) => element("tr", {},
              element("th", { scope: "row" }, plainName(cause.words)),
              element("td", { class: "number" }, count(cause.packets)),
              element("td", { class: "number" }, share(cause.share)),
              barCell(cause.share),
              element("td", { class: "number" }, duration(cause.ns)),
              element("td", { class: "number" }, share(all > 0 ? cause.ns / all : 0)))))),
      slowest(explanation));
}
