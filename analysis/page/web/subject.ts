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

// An imported trace has no process number.
export const subjectOf = ({ target: { name, pid }, duration_s: seconds, events }: About) =>
    [plainName(name) || "unnamed target", pid > 0 && `pid ${pid}`, duration(1e9 * seconds), `${count(events)} events`].filter(Boolean).join(", ");

export function showSubject(about: About): void {
  subject.textContent = subjectOf(about);
  script = about.script;
  scripted.textContent = script ? `as ${plainName(script)} has it` : "";
  redacted.textContent = about.redacted ? "redacted: ids and names are replaced" : "";
}
