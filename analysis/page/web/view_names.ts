// The views as people know them: the words of their tabs, their keys, and the command of `sojourn`
// that prints the same.
import { kViews, View } from "./selection";
import { servedTrace } from "./served_trace";

export const kNames: Record<View, string> = {
  overview: "Overview", packets: "Packets", distribution: "Distribution", arrivals: "Arrivals", queues: "Queues", causes: "Causes", flow: "Flow", timeline: "Time line", events: "Events", profile: "Profile", compare: "Two traces", machine: "Machine", live: "Live",
};

const kCommands: Record<View, string> = {
  overview: "report", packets: "journeys", distribution: "report --cdf text", arrivals: "journeys", queues: "queues", causes: "explain", flow: "report", timeline: "events", events: "events", profile: "profile", compare: "diff", machine: "report --paste", live: "live",
};
export const commandOf = (view: View) => kCommands[view];

// The keys of the views after the ninth.
const kLetters: Partial<Record<View, string>> = { profile: "P", compare: "C", machine: "M", live: "L" };

// Only a page with a server has live figures.
export const offeredViews = () => kViews.filter((name) => name !== "live" || servedTrace());

export const keyOf = (view: View) => kLetters[view] ?? String(kViews.indexOf(view) + 1);

// Returns the view that a digit or a letter, as a key's code has it, stands for.
export function viewOfDigit(digit: number): View | undefined {
  return kViews[digit - 1];
}
export function viewOfLetter(code: string): View | undefined {
  return offeredViews().find((view) => code === `Key${kLetters[view]}`);
}
