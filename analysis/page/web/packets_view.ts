// The packets of the selection, a row each, by latency or by time.
import { element, replace } from "./dom";
import { JourneyTable, kDirections, kOutcomes } from "./engine_client";
import { rankedPage } from "./ranking";
import { remembered } from "./remembered";
import { openPacket } from "./selection";
import { count, duration } from "./units";

const kRows = 200;
type Order = "latency" | "start";

export function packetsView(table: JourneyTable): HTMLElement {
  const section = element("section", {});
  const show = (order: Order, from: number) => {
    const page = rankedPage(figuresOf(table, order), from, kRows);
    const head = (name: string, by?: Order) => element("th", { scope: "col", class: by && "number", "aria-sort": by === order ? (order === "latency" ? "descending" : "ascending") : undefined },
        by ? element("button", { type: "button", click: () => show(by, 0) }, name) : name);
    replace(section, element("h2", {}, `Packets (${count(table.packets ?? table.count)})`),
        table.packets !== undefined && element("p", { class: "only" }, `The slowest of each direction are in this page: ${count(table.count)}.`),
        element("table", { class: "packets" },
            element("thead", {}, element("tr", {}, head("journey"), head("direction"), head("start", "start"), head("latency", "latency"), head("outcome"))),
            element("tbody", {}, ...page.map((i) => element("tr", {},
                element("td", {}, element("button", { type: "button", class: "packet", click: () => openPacket.set(table.id[i]) }, String(table.id[i]))),
                element("td", {}, kDirections[table.direction[i]]),
                element("td", { class: "number" }, duration(table.start[i])),
                element("td", { class: "number" }, duration(table.latency[i])),
                element("td", {}, kOutcomes[table.outcome[i]]))))),
        element("p", {},
            from > 0 && element("button", { type: "button", click: () => show(order, Math.max(0, from - kRows)) }, "before"),
            ` ${count(from + 1)} to ${count(from + page.length)} `,
            from + kRows < table.count && element("button", { type: "button", click: () => show(order, from + kRows) }, "more")));
  };
  show("latency", 0);
  return section;
}

// The figures that packets are ordered by. A packet without a latency comes last.
const figuresOf = (table: JourneyTable, order: Order): Float64Array => order === "start" ? table.start
    : remembered(table, "slowness", "", () => table.latency.map((ns) => (Number.isNaN(ns) ? 1 : -ns)));
