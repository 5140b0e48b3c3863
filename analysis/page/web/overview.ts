// The first screen: the verdict in a sentence, whether the trace can be trusted, latency over
// arrival time, the places where packets spend their time, and the slowest packets.
import { causeWords } from "./causes";
import { differencesPanel } from "./differences_view";
import { barCell, element, headRow } from "./dom";
import { JourneyTable } from "./engine_client";
import { health, offTimes } from "./health";
import { boxOf, boxText, heatMap, slowestDots } from "./heat_map";
import { Cause, Differences, Explanation, Latency, Report } from "./report_types";
import { box, openPacket } from "./selection";
import { packetName } from "./waterfall_bars";
import { count, duration, plainName, plainSentence, share } from "./units";

export interface Asker {
  file: string;
  differences(slow: string): Promise<Differences>;
}

export function overview(report: Report, explanation: Explanation, table: JourneyTable, asker: Asker): HTMLElement {
  return element("section", { class: "overview" },
      element("p", { class: "verdict", id: "verdict" }, verdict(report, explanation)),
      health(report),
      ...["D", "U"].filter((dir) => report.journeys[dir]?.complete > 0).map((dir) => mapOf(dir, report, explanation, table, asker)),
      element("div", { class: "columns" }, hops(report, explanation), slowest(explanation)),
      ...made(report));
}

// The tables of a script's activities and markers.
function made({ activities = [], markers = [] }: Report): HTMLElement[] {
  const figure = (text: string) => element("td", { class: "number" }, text);
  const tables: HTMLElement[] = [];
  if (activities.length > 0)
    tables.push(element("table", { class: "activities" }, headRow("activity", "#count", "#mean", "#p50", "#p90", "#p99", "#max"),
        element("tbody", {}, ...activities.map(({ name, count: number, duration_us: took }) => element("tr", {},
            element("th", { scope: "row" }, plainName(name)), figure(count(number)),
            ...(["mean", "p50", "p90", "p99", "max"] as const).map((key) => figure(number > 0 ? duration(1000 * took[key]) : "")))))));
  if (markers.length > 0)
    tables.push(element("table", { class: "markers" }, headRow("marker", "#count"),
        element("tbody", {}, ...markers.map(({ name, count: number }) => element("tr", {},
            element("th", { scope: "row" }, plainName(name)), figure(count(number)))))));
  return tables.length === 0 ? [] : [element("section", { id: "made" }, element("h2", {}, "What the script found"), ...tables)];
}

function latencyWords(packets: number, { p50, p99 }: Latency): string {
  if (packets === 1) return `1 packet took ${duration(1000 * p50)}.`;
  return `half of ${count(packets)} packets took ${duration(1000 * p50)} or less, the slowest 1 % more than ${duration(1000 * p99)}.`;
}

// Returns the cause of most late packets. Rows tell threads and CPUs apart: those of one kind and
// direction count together here, and the largest of them is named.
function commonestCause(causes: Cause[]): { packets: number; words: string } | undefined {
  const groups = new Map<string, Cause[]>();
  for (const cause of causes) {
    const key = `${cause.dir} ${cause.cause}`;
    groups.set(key, [...(groups.get(key) ?? []), cause]);
  }
  const sums = [...groups.values()].map((rows) => ({ rows, packets: rows.reduce((sum, { packets }) => sum + packets, 0) }));
  const largest = sums.sort((a, b) => b.packets - a.packets)[0];
  if (!largest || largest.packets === 0) return undefined;
  const { rows: [first, ...others], packets } = largest;
  const words = plainName(first.words), kind = causeWords(first.cause);
  if (!others.some((row) => row.packets > 0)) return { packets, words };
  return { packets, words: `${kind}, most often ${words.startsWith(kind) ? `in ${first.dir} ${plainName(first.at)}` : words}` };
}

export function verdict(report: Report, explanation: Explanation): string {
  const { causes, late } = explanation;
  const parts = ["D", "U"].flatMap((dir) => {
    const { complete, latency_us: latency } = report.journeys[dir] ?? {};
    return latency && complete > 0 ? [`${dir === "D" ? "Downlink" : "Uplink"}: ${latencyWords(complete, latency)}`] : [];
  });
  if (parts.length === 0) return "No packet was seen whole.";
  const commonest = commonestCause(causes);
  if (late > 0 && commonest) parts.push(`Commonest cause of lateness (${share(commonest.packets / late)} of the late ones): ${commonest.words}.`);
  return parts.join(" ");
}

function mapOf(dir: string, report: Report, explanation: Explanation, table: JourneyTable, asker: Asker): HTMLElement {
  const direction = dir === "D" ? 0 : 1;
  const chosen = boxOf(box.get());
  const mine = chosen?.direction === direction ? chosen : undefined;
  const { root } = heatMap({
    direction,
    table,
    deadline: explanation.deadline_ns[dir as "D" | "U"] ?? undefined,
    dots: slowestDots(direction, table),
    off: offTimes(report, dir),
    open: (id) => openPacket.set(id),
    box: mine,
    select: (dragged) => box.set(boxText(dragged)),
  });
  if (!mine) return root;
  return element("div", { class: "map" }, root, differencesPanel(mine, asker.file, asker.differences, () => box.set("")));
}

// Returns the share of late packets' time that they spent in each place.
function lateShares(dir: string, { causes }: Explanation): Map<string, number> {
  const times = new Map<string, number>();
  for (const cause of causes)
    if (cause.dir === dir) times.set(cause.at, (times.get(cause.at) ?? 0) + cause.ns);
  const all = [...times.values()].reduce((sum, ns) => sum + ns, 0);
  return new Map([...times].map(([place, ns]) => [place, ns / all]));
}

function hops(report: Report, explanation: Explanation): HTMLElement {
  const section = element("section", {}, element("h2", {}, "Where packets spend their time"));
  for (const dir of ["D", "U"]) {
    const places = report.queues.filter((place) => place.dir === dir && place.decisive_us > 0);
    const all = places.reduce((sum, place) => sum + place.decisive_us, 0);
    if (all === 0) continue;
    const late = lateShares(dir, explanation);
    section.append(element("table", { class: "bars" },
        element("caption", {}, dir === "D" ? "Downlink" : "Uplink"),
        headRow("place", "#share", "", "#of late ones", "", "#p50", "#p99", "#max"),
        element("tbody", {}, ...places.map((place) => {
          const part = place.decisive_us / all;
          const stay = place.stay_us;
          return element("tr", {},
              element("th", { scope: "row" }, plainName(place.name)),
              element("td", { class: "number" }, share(part)),
              barCell(part),
              element("td", { class: "number" }, late.size > 0 ? share(late.get(place.name) ?? 0) : ""),
              barCell(late.get(place.name) ?? 0, "late"),
              ...(["p50", "p99", "max"] as const).map((key) =>
                  element("td", { class: "number" }, stay ? duration(1000 * stay[key]) : "")));
        }))));
  }
  return section;
}

export function slowest(explanation: Explanation): HTMLElement {
  return element("section", {}, element("h2", {}, "The slowest packets, and why"),
      element("ol", { class: "slowest" }, ...explanation.worst.map((packet) =>
          element("li", {}, element("button", { type: "button", class: "packet", "data-id": packet.id, click: () => openPacket.set(packet.id) },
              element("b", {}, duration(packet.latency_ns)), ` ${packetName(packet)}`),
              element("span", { class: "why" }, plainSentence(packet.why))))));
}
