// The packets of the selection, a row each, by latency or by time. The ids of the packets that are
// listed come later: they are asked for a page of the list at a time, as gathering those of all
// packets would hold up the first screen.
import { element, replace } from "./dom";
import { Cancelled, JourneyTable, kDirections, kOutcomes } from "./engine_client";
import { rankedPage } from "./ranking";
import { remembered } from "./remembered";
import { openPacket } from "./selection";
import { count, duration, plainName } from "./units";

const kRows = 200;
type Order = "latency" | "start";

// The answer to "ids": a text for each packet that was asked for.
export type PacketIds = Record<"ue" | "bearer" | "number", string[]>;

export function packetsView(table: JourneyTable, idsOf: (packets: number[]) => Promise<PacketIds>): HTMLElement {
  const section = element("section", {});
  const show = (order: Order, from: number) => {
    const page = rankedPage(figuresOf(table, order), from, kRows);
    const head = (name: string, by?: Order) => element("th", { scope: "col", class: by && "number", "aria-sort": by === order ? (order === "latency" ? "descending" : "ascending") : undefined },
        by ? element("button", { type: "button", click: () => show(by, 0) }, name) : name);
    const ids = page.map(() => ({ ue: element("td"), bearer: element("td"), number: element("td") }));
    const list = element("table", { class: "packets", "aria-busy": "true" },
        element("thead", {}, element("tr", {}, head("journey"), head("direction"), head("UE"), head("bearer"), head("numbers"),
            head("start", "start"), head("latency", "latency"), head("outcome"))),
        element("tbody", {}, ...page.map((i, at) => element("tr", {},
            element("td", {}, element("button", { type: "button", class: "packet", click: () => openPacket.set(table.id[i]) }, String(table.id[i]))),
            element("td", {}, kDirections[table.direction[i]]),
            ids[at].ue, ids[at].bearer, ids[at].number,
            element("td", { class: "number" }, duration(table.start[i])),
            element("td", { class: "number" }, duration(table.latency[i])),
            element("td", {}, kOutcomes[table.outcome[i]])))));
    replace(section, element("h2", {}, `Packets (${count(table.packets ?? table.count)})`),
        table.packets !== undefined && element("p", { class: "only" }, `The slowest of each direction are in this page: ${count(table.count)}.`),
        list,
        element("p", {},
            from > 0 && element("button", { type: "button", click: () => show(order, Math.max(0, from - kRows)) }, "before"),
            ` ${count(from + 1)} to ${count(from + page.length)} `,
            from + kRows < table.count && element("button", { type: "button", click: () => show(order, from + kRows) }, "more")));
    void idsOf(page.map((i) => table.id[i])).then((known) => {
      ids.forEach((cells, at) => {
        for (const kind of ["ue", "bearer", "number"] as const) cells[kind].textContent = plainName(known[kind][at]);
      });
    }).catch((error) => {
      if (!(error instanceof Cancelled)) list.after(element("p", { class: "failed" }, error instanceof Error ? error.message : String(error)));
    }).finally(() => list.removeAttribute("aria-busy"));
  };
  show("latency", 0);
  return section;
}

// The figures that packets are ordered by. A packet without a latency comes last.
const figuresOf = (table: JourneyTable, order: Order): Float64Array => order === "start" ? table.start
    : remembered(table, "slowness", "", () => table.latency.map((ns) => (Number.isNaN(ns) ? 1 : -ns)));
