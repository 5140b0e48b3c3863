// The functions that CPU time went to, for all of the target's work or for that of a hop or a
// thread: a flame graph, and the tables of `sojourn profile`.
import { barCell, element, headRow } from "./dom";
import { flameGraph, flameTree, labelOf } from "./flame_graph";
import { HotFunction, Profile, WorkPart } from "./report_types";
import { work } from "./selection";
import { count, duration, plainName, share } from "./units";

const kMostFunctions = 200;

interface Work {
  key: string;  // as the address has it
  label: string;
  part: WorkPart;
  isWanted: (stack: Profile["stacks"][number]) => boolean;
}

export function profileView(profile: Profile | { missing: string }): HTMLElement {
  if ("missing" in profile)
    return element("p", { id: "no-profile" }, profile.missing ? `The trace has no profile. When it was recorded: ${plainName(profile.missing)}`
        : "The trace has no profile. `sojourn record --profile 999Hz` makes one: which functions each hop spends its time in.");
  const all: Work = { key: "", label: "all work", part: profile, isWanted: () => true };
  const hops = profile.hops.map((hop, index): Work => {
    const name = hop.at === null ? "between units" : `${hop.dir} ${hop.at}`;
    return { key: `hop ${name}`, label: plainName(name), part: hop, isWanted: (stack) => stack.hop === index };
  });
  const threads = profile.threads.map((thread): Work =>
      ({ key: `thread ${thread.tid}`, label: `${plainName(thread.name)} (${thread.tid})`, part: thread, isWanted: (stack) => stack.tid === thread.tid }));
  const shown = [all, ...hops, ...threads].find(({ key }) => key === work.get()) ?? all;
  const title = `Where the CPU time of ${shown === all ? "the target" : shown.label} went`;
  return element("section", { class: "profile" },
      element("p", { id: "profile-of" }, summary(profile)),
      element("p", { class: "options" }, chooser(shown, all, hops, threads)),
      element("p", {}, "Callers stand above what they called. A click shows a function as wide as the picture; arrows go from one to the next, Enter shows it, 0 shows all. [k]: the kernel's."),
      flameGraph(flameTree(profile, shown.isWanted), title),
      element("h2", {}, "Hot functions"),
      functions(shown.part),
      element("div", { class: "columns" },
          parts("CPU time by hop", "hops", "hop", hops, profile.ns),
          parts("CPU time by thread", "threads", "thread", threads, profile.ns)),
      between(profile));
}

function summary(profile: Profile): string {
  const told = [`${count(profile.samples)} samples, one every ${duration(profile.period_ns)} of a thread's CPU time: ${duration(profile.ns)}, ` +
      `${share(profile.ns === 0 ? 0 : profile.kernel_ns / profile.ns)} of it in the kernel.`];
  if (profile.user_only) told.push("Of the target's own code only: recording had no rights to the kernel's.");
  if (profile.without_stack_samples > 0) told.push(`${count(profile.without_stack_samples)} samples have no stack.`);
  return told.join(" ");
}

function chooser(shown: Work, all: Work, hops: Work[], threads: Work[]): HTMLElement {
  const option = ({ key, label }: Work) => element("option", { value: key }, label);
  const select = element("select", { id: "option-work", change: () => work.set(select.value) }, option(all),
      element("optgroup", { label: "Hops" }, ...hops.map(option)), element("optgroup", { label: "Threads" }, ...threads.map(option)));
  select.value = shown.key;
  return element("label", {}, "Work of ", select);
}

function functions(part: WorkPart): HTMLElement {
  const of = (ns: number) => (part.ns === 0 ? 0 : ns / part.ns);
  const number = (text: string) => element("td", { class: "number" }, text);
  const name = (hot: HotFunction) => (hot.function ? labelOf({ name: hot.function, kernel: hot.kernel }) : "(no stack)");
  const rows = part.functions.slice(0, kMostFunctions);
  return element("div", {}, element("table", { class: "hot" },
      headRow("function", "#self", "#share", "", "#total", "#share", "in"),
      element("tbody", {}, ...rows.map((hot) => element("tr", {},
          element("th", { scope: "row" }, name(hot)),
          number(duration(hot.self_ns)), number(share(of(hot.self_ns))), barCell(of(hot.self_ns)),
          number(duration(hot.total_ns)), number(share(of(hot.total_ns))),
          element("td", {}, plainName(hot.module)))))),
      part.functions.length > rows.length && element("p", {}, `The ${kMostFunctions} with most time of their own, of ${count(part.functions.length)}.`));
}

function parts(title: string, id: string, word: string, list: Work[], all: number): HTMLElement {
  return element("section", {}, element("h2", {}, title), element("table", { class: id },
      headRow(word, "#in all", "#share", "", "#samples"),
      element("tbody", {}, ...list.map(({ key, label, part }) => element("tr", {},
          element("th", { scope: "row" }, element("button", { type: "button", class: "packet", click: () => work.set(key) }, label)),
          element("td", { class: "number" }, duration(part.ns)),
          element("td", { class: "number" }, share(all === 0 ? 0 : part.ns / all)),
          barCell(all === 0 ? 0 : part.ns / all),
          element("td", { class: "number" }, count(part.samples)))))));
}

function between(profile: Profile): HTMLElement | undefined {
  if (profile.between_units.length === 0) return undefined;
  return element("section", {}, element("h2", {}, "Between units"), element("table", { class: "between" },
      headRow("between a thread's event", "and its next one", "#in all", "#share", "#samples"),
      element("tbody", {}, ...profile.between_units.map(({ after, before, ns, samples }) => element("tr", {},
          element("td", {}, plainName(after) || "(none)"),
          element("td", {}, plainName(before) || "(none)"),
          element("td", { class: "number" }, duration(ns)),
          element("td", { class: "number" }, share(profile.ns === 0 ? 0 : ns / profile.ns)),
          element("td", { class: "number" }, count(samples)))))));
}
