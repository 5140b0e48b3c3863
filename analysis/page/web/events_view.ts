// The raw events of the selection, in the order of their times.
import { element, headRow } from "./dom";
import { count, exactInstant, identifier, plainName } from "./units";

export interface RawEvent {
  time_ns: number;
  point: string;
  dir: string;
  thread: string;
  values: Record<string, number>;
}

// `choose` is called when an event is clicked.
export function eventsView(events: RawEvent[], more: boolean, choose?: (index: number) => void): HTMLElement {
  return element("section", {}, element("h2", {}, more ? `The first ${count(events.length)} events` : `${count(events.length)} events`),
      element("table", {},
          headRow("#time", "direction", "point", "thread", "values"),
          element("tbody", {}, ...events.map((event, i) => element("tr", {},
              element("td", { class: "number" }, choose
                  ? element("button", { type: "button", class: "packet", click: () => choose(i) }, exactInstant(event.time_ns))
                  : exactInstant(event.time_ns)),
              element("td", {}, plainName(event.dir)),
              element("td", {}, plainName(event.point)),
              element("td", {}, plainName(event.thread)),
              element("td", {}, Object.entries(event.values).map(([name, value]) => identifier(plainName(name), value)).join(" ")))))));
}
