// Whether a trace can be trusted: what was lost, cut off or switched off, and what tracing cost. What
// a trace does not say is called unknown, not none.
import { element } from "./dom";
import { figures } from "./live_figures";
import { Report } from "./report_types";
import { count, duration, plainName, share } from "./units";

type Judgement = "good" | "warn" | "unknown";

const mark = (judgement: Judgement, figure: string, name: string, why: string) =>
    element("li", { class: judgement, title: why }, element("b", {}, figure), name && ` ${name}`);

export function health(report: Report): HTMLElement {
  const sum = (key: "ambiguous" | "censored" | "dropped" | "incomplete") =>
      Object.values(report.journeys).reduce((all, direction) => all + direction[key], 0);
  const counted = (name: "incomplete" | "ambiguous", why: string) => mark(sum(name) === 0 ? "good" : "warn", count(sum(name)), name, why);
  return element("ul", { class: "health", "aria-label": "Can the trace be trusted?" },
      mark("good", count(report.events), "events", `${duration(1e9 * report.duration_s)} were recorded`),
      losses(report),
      mark("good", count(sum("dropped")), "dropped", "Packets that a layer threw away"),
      mark("good", count(sum("censored")), "censored", "Packets cut off by the start or the end of the capture, or by lost events"),
      counted("incomplete", "Packets whose end was not seen in time"),
      counted("ambiguous", "Packets of which a step may belong to another one"),
      cost(report),
      ...off(report),
      ...unplaced(report),
      wholeness(report));
}

// A served trace that is still written is not damaged: what is missing is to come.
const isGrowing = ({ file }: Report) => !file.whole && file.damaged_places === 0 && figures.get()?.growing === true;

// An import's tracer has no ledger of what it lost, and the ledger of a damaged file may miss as well.
function losses(report: Report): HTMLElement {
  const { pid, name } = report.target;
  const isImport = pid === 0 && name !== "";  // named by its file, and of no process
  if (report.lost === 0 && (isImport || (!report.file.whole && !isGrowing(report))))
    return mark("unknown", "losses unknown", "", isImport ? "Another tracer recorded it, and did not count what it lost" : "The file is not whole");
  return mark(report.lost === 0 ? "good" : "warn", count(report.lost), "lost", "Events that the tracer could not keep");
}

function cost({ tracing }: Report): HTMLElement {
  const part = tracing?.share ?? undefined;
  if (part === undefined) return mark("unknown", "cost unknown", "", "What tracing cost the target was not measured");
  return mark(part < 0.05 ? "good" : "warn", share(part), "of the target's CPU was tracing", "What tracing cost the target");
}

const points = (number: number) => (number === 1 ? "point" : "points");
const kNamed = 8;
const named = (names: string[]) => names.slice(0, kNamed).join(", ") + (names.length > kNamed ? ` and ${count(names.length - kNamed)} more` : "");

// The times in which points were off to stay within the budget, ns since the capture's first mark.
function offSpans({ tracing, open_ns: open, close_ns: close }: Report): { point: string; from: number; to: number }[] {
  return (tracing?.shed ?? []).map(({ point, from_ns: from, until_ns: until }) =>
      ({ point: point ?? "unknown point", from: from - open, to: (until === 0 ? close : until) - open }));
}

function off(report: Report): HTMLElement[] {
  const times = new Map<string, number>();
  for (const { point, from, to } of offSpans(report)) times.set(point, (times.get(point) ?? 0) + to - from);
  if (times.size === 0) return [];
  const longest = [...times.values()].reduce((a, b) => Math.max(a, b), 0), all = report.close_ns - report.open_ns;
  const names = named([...times].map(([point, ns]) => `${plainName(point)} ${duration(ns)}`));
  return [mark("warn", count(times.size), `${points(times.size)} off for up to ${share(all > 0 ? Math.min(1, longest / all) : 0)} of the time`,
               `To stay within the budget: ${names}. The pictures are grey there: packets are missing or cut. Rates, gaps and depths are of the whole time.`)];
}

function unplaced({ unplaced: names = [] }: Report): HTMLElement[] {
  if (names.length === 0) return [];
  return [mark("warn", count(names.length), `${points(names.length)} of the map not placed`,
               `The program has no place for ${named(names.map(plainName))}: packets end before it, and begin anew behind it.`)];
}

function wholeness(report: Report): HTMLElement {
  const { file } = report;
  if (isGrowing(report)) return mark("good", "growing", "file", "The trace is still being written");
  const why = "Whether blocks of the file are missing";
  return file.whole ? mark("good", "whole", "file", why) : mark("warn", count(file.damaged_places), "damaged places", why);
}

// Returns when some points of a direction were off, in the order of time; the stretches do not
// overlap.
export function offTimes(report: Report, dir: string): [from: number, to: number][] {
  const mine = new Set(report.points.filter((point) => point.dir === dir).map(({ name }) => name));
  const joined: [number, number][] = [];
  for (const { from, to } of offSpans(report).filter(({ point }) => mine.has(point)).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
