// The header's words about the trace that is shown: its target, how long it is, and whether a
// script or a redaction changed it.
import { element } from "./dom";
import { About } from "./report_types";
import { count, duration, plainName } from "./units";

export const subject = element("span", { class: "subject" });
export const scripted = element("span", { id: "scripted", title: "The events went through this script when the page was made: what it dropped is not here, what it added is." });
export const redacted = element("span", { class: "redacted", id: "redacted", title: "Ids, addresses and names were replaced when the page was made. Times were not." });

// The script that the events went through; empty: none.
let script = "";
export const shownScript = () => script;

// The events that a pass over each trace has counted. The headers of a damaged trace tell of more.
const counted = new Map<string, number>();
const traceOf = ({ identity, events }: About) => `${identity} ${events}`;
export function rememberEvents(about: About, events: number): void {
  counted.set(traceOf(about), events);
}

// An imported trace has no process number.
export function subjectOf(about: About): string {
  const { target: { name, pid }, duration_s: seconds } = about;
  const events = counted.get(traceOf(about)) ?? about.events;
  return [plainName(name) || "unnamed target", pid > 0 && `pid ${pid}`, duration(1e9 * seconds), `${count(events)} events`].filter(Boolean).join(", ");
}

export function showSubject(about: About): void {
  subject.textContent = subjectOf(about);
  script = about.script;
  scripted.textContent = script ? `as ${plainName(script)} has it` : "";
  redacted.textContent = about.redacted ? "redacted: ids and names are replaced" : "";
}
