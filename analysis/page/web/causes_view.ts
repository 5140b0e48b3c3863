// The causes of lateness: how many packets each one made late, and how much of their time it took.
import { kCauses } from "./causes";
import { barCell, element, headRow } from "./dom";
import { slowest } from "./overview";
import { Cause, Explanation } from "./report_types";
import { count, duration, plainName, share } from "./units";

export function causesView(explanation: Explanation): HTMLElement {
  const { late, complete, causes, deadline_ns: deadline, late_ns: all } = explanation;
  const limits = (["D", "U"] as const).filter((dir) => (deadline[dir] ?? null) !== null)
      .map((dir) => `${dir} ${duration(deadline[dir]!)}`).join(", ");
  const partOfTime = (cause: Cause) => share(all > 0 ? cause.ns / all : 0);
  const main = causes.filter(({ packets }) => packets > 0);
  return element("section", {}, element("h2", {}, "Causes"),
      element("p", {}, `${count(late)} of ${count(complete)} packets were late: they took longer than ${limits}` +
          (deadline.given ? "." : ", which is what the slowest 1 % of each direction took.")),
      element("table", { class: "bars" },
          headRow("cause", "#packets", "#share", "", "#time in all", "#of the late time"),
          element("tbody", {}, ...main.map((cause) => element("tr", {},
              element("th", { scope: "row" }, plainName(cause.words)),
              element("td", { class: "number" }, count(cause.packets)),
              element("td", { class: "number" }, share(cause.share)),
              barCell(cause.share),
              element("td", { class: "number" }, duration(cause.ns)),
              element("td", { class: "number" }, partOfTime(cause)))))),
      smaller(causes.filter(({ packets }) => packets === 0), partOfTime),
      late > 0 && notFound(explanation),
      slowest(explanation));
}

// The causes that took some of the time, but never the most of a packet's.
function smaller(causes: Cause[], partOfTime: (cause: Cause) => string): HTMLElement | false {
  return causes.length > 0 && element("details", {},
      element("summary", {}, `${count(causes.length)} more took a part of the time, but of no packet the most`),
      element("table", { class: "smaller" }, headRow("cause", "#time in all", "#of the late time"),
          element("tbody", {}, ...causes.map((cause) => element("tr", {},
              element("th", { scope: "row" }, plainName(cause.words)),
              element("td", { class: "number" }, duration(cause.ns)),
              element("td", { class: "number" }, partOfTime(cause)))))));
}

// One line: which causes were looked for in vain, and which cannot be found in this trace.
function notFound({ causes, missing }: Explanation): HTMLElement | false {
  const lacks = (needs: string[]) => missing.filter(({ what }) => needs.includes(what));
  const absent = kCauses.filter(({ name }) => !causes.some(({ cause }) => cause === name));
  const names = (kind: string, some: typeof kCauses) => some.flatMap(({ name, words }, at) =>
      [at > 0 ? ", " : " ", element("span", { class: kind, "data-cause": name }, words)]);
  const looked = absent.filter(({ needs }) => lacks(needs).length === 0);
  const not = absent.filter(({ needs }) => lacks(needs).length > 0);
  const options = lacks([...new Set(not.flatMap(({ needs }) => needs))]).map(({ option }) => option).join(", ");
  return absent.length > 0 && element("p", { class: "looked" },
      ...(looked.length > 0 ? ["Looked for and not found:", ...names("absent", looked), ". "] : []),
      ...(not.length > 0 ? [`Not recorded (record ${options}), so not looked for:`, ...names("unrecorded", not), "."] : []));
}
