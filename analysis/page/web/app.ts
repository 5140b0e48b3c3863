// The page: a trace, a filter, views of what it selects, and one packet opened above them. Every
// figure comes from the engine, for the same filter by the same code as on the command line.
import workerScript from "worker-script";
import { arrivalsView } from "./arrivals_view";
import { causesView } from "./causes_view";
import { compareView } from "./compare_view";
import { countsStays, distributionView, staysView } from "./distribution_view";
import { element, replace } from "./dom";
import { Answers, Cancelled, Engine, GroupDistributions, JourneyTable, PieceTable, Progress, TraceSource } from "./engine_client";
import { eventsView } from "./events_view";
import { filterBuilder, Names } from "./filter_builder";
import { flowView } from "./flow_view";
import { kKeys } from "./keys";
import { figures, link, rememberFigures } from "./live_figures";
import { liveView } from "./live_view";
import { isProfile, isTrace, machineView, openProfile, TraceHost } from "./machine_view";
import { notesPanel } from "./notes";
import { overview } from "./overview";
import { packetsView } from "./packets_view";
import { Command, Palette } from "./palette";
import { Episode } from "./pressure_view";
import { profileView } from "./profile_view";
import { queuesView } from "./queues_view";
import { About, Difference, Differences, FirstScreen, Profile, QueuePlace } from "./report_types";
import { box, colour, commandLine, follow, followAddress, following, kViews, laneSets, openPacket, Option, options, optionWords, rowSets, side, view, View, where, work } from "./selection";
import { Served } from "./served";
import { effect, signal } from "./signal";
import { NeedsTrace, SummarisedFile, Summary, SummaryDocument } from "./summary";
import { TimelineView } from "./timeline_view";
import { colourChoice, laneChooser, Waterfall, waterfall } from "./waterfall";
import { Packet, packetName } from "./waterfall_bars";
import { count, duration, plainName, plainSentence } from "./units";

const kNames: Record<View, string> = {
  overview: "Overview", packets: "Packets", distribution: "Distribution", arrivals: "Arrivals", queues: "Queues", causes: "Causes", flow: "Flow", timeline: "Time line", events: "Events", profile: "Profile", compare: "Two traces", machine: "Machine", live: "Live",
};
// The keys of views after the ninth.
const kViewKeys: Partial<Record<View, string>> = { profile: "P", compare: "C", machine: "M", live: "L" };
// What `sojourn` of the command line says the same with.
const kCommands: Record<View, string> = {
  overview: "report", packets: "journeys", distribution: "report --cdf text", arrivals: "journeys", queues: "queues", causes: "explain", flow: "report", timeline: "events", events: "events", profile: "profile", compare: "diff", machine: "report --paste", live: "live",
};

const progress = signal<Progress | undefined>(undefined);

const root = document.getElementById("page")!;
const main = element("main", { id: "main", tabindex: -1 });
const refused = element("p", { class: "refused", role: "alert", id: "refused" });
const input = element("input", { type: "text", id: "where", "aria-label": "Filter", spellcheck: "false", autocomplete: "off",
                                 placeholder: "all packets; e.g. rnti == 0x4601 && latency > 4ms" });
const subject = element("span", { class: "subject" });
const scripted = element("span", { id: "scripted", title: "The events went through this script when the page was made: what it dropped is not here, what it added is." });
let script = "";  // that the events went through
const redacted = element("span", { class: "redacted", id: "redacted", title: "Ids, addresses and names were replaced when the page was made. Times were not." });
const inside = element("p", { class: "inside", id: "inside", role: "note", hidden: true });
const dialog = element("dialog", { "aria-labelledby": "packet-title" });
const help = element("dialog", { "aria-labelledby": "help-title" });

let engine: Answers | undefined;
let slowest: number[] = [];
// The name of the trace, and of the one that it is compared with.
const first = signal<string | undefined>(undefined);
const second = signal<string | undefined>(undefined);
let isWaiting = false;  // for somebody to choose a trace
let served: Served | undefined;  // where a server has the traces
let live: HTMLElement | undefined;
let readBytes = -1;  // of the served trace, by the engine
let reading: Promise<void> | undefined;
let nextReading = 0;

function fromBase64(text: string): Uint8Array {
  const builtIn = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (builtIn) return builtIn(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

const unpacked = (packed: Blob) => new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).blob();

let compiled: Promise<WebAssembly.Module> | undefined;
const theEngine = () => compiled ??= unpacked(new Blob([fromBase64(document.getElementById("engine")!.textContent!) as BlobPart]))
    .then((bytes) => bytes.arrayBuffer()).then((bytes) => WebAssembly.compile(bytes));

// As it is, or as it was before somebody gzipped it: recordings are kept so.
async function plain(trace: Blob): Promise<Blob> {
  const [one, two] = new Uint8Array(await trace.slice(0, 2).arrayBuffer());
  return one === 0x1f && two === 0x8b ? unpacked(trace) : trace;
}

interface NamedTrace {
  trace: Blob;
  name: string;
}

const shownSide = () => (second.get() === undefined ? 0 : side.get());
const shownName = () => [first.get(), second.get()][shownSide()] ?? "run.sjt";
const askAbout = (of: Answers, trace: 0 | 1) => of.ask<About>("opening the trace", { call: "about", trace });

async function openEngine(trace: TraceSource, name: string): Promise<void> {
  isWaiting = false;
  engine?.close();
  engine = undefined;
  second.set(undefined);
  engine = await engineOf(trace);
  await askAbout(engine, 0);
  first.set(name);
}

const engineOf = async (trace: TraceSource) => new Engine(workerScript, await theEngine(), trace, (now) => progress.set(now));

async function open({ trace, name }: NamedTrace, against?: NamedTrace): Promise<void> {
  progress.set({ what: "unpacking the engine", done: 0 });
  let isOpen = false;
  try {
    await openEngine(await plain(trace), name);
    isOpen = true;
    if (against) return await compareWith(against);
    await show();
  } catch (error) {
    progress.set(undefined);
    fail(error);
    if (!isOpen) askForTrace();  // another one may be readable
  }
}

// Changes what is shown, for who shows it then.
let isChanging = false;
function change(set: () => void): void {
  isChanging = true;
  set();
  isChanging = false;
}

// A trace that cannot be read leaves what was shown.
async function compareWith({ trace, name }: NamedTrace, inView?: View): Promise<void> {
  if (!engine) return;
  if (engine instanceof Summary) return engine.compareWith(trace);
  const now = engine;
  change(() => second.set(undefined));
  try {
    now.compareWith(await plain(trace));
    await askAbout(now, 1);
  } catch (error) {
    now.compareWith(undefined);
    void show().catch(fail);
    return fail(error);
  }
  change(() => {
    second.set(name);
    if (inView) view.set(inView);
  });
  await show();
}

function fail(error: unknown): void {
  if (error instanceof Cancelled) return;
  const words = error instanceof Error ? error.message : String(error);
  // A filter that is refused leaves what is shown as it is.
  refused.textContent = words;
  main.removeAttribute("aria-busy");
  // What is shown has another filter, or is another view: it must not look like the answer.
  if (error instanceof NeedsTrace) {
    refused.textContent = "";
    shownView = view.get();
    return replace(main, askForWholeTrace(words));
  }
  if (main.childElementCount === 0 || shownView !== view.get()) replace(main, element("p", { class: "failed" }, words));
}

let asked: object | undefined;
let shownView: View | undefined;

// Reads what has come since, where the page follows; else what there is, once.
async function readServed(from: Served): Promise<void> {
  await Promise.resolve();  // what is asked for from here on is no reason to show all again
  if (box.get() || openPacket.get() !== undefined) following.set(false);
  if (reading) return reading;
  const size = from.size;
  if (size === 0) throw new Error("nothing is recorded yet");
  if (engine && (size === readBytes || !following.get())) return;
  const begun = performance.now();
  readBytes = size;
  const mine = (reading = openEngine({ url: from.url, size }, from.trace.name));
  try {
    await mine;
  } catch (error) {
    if (!(error instanceof Cancelled) && reading === mine) {
      engine?.close();
      engine = undefined;
      readBytes = -1;
    }
    throw error;
  } finally {
    if (reading === mine) reading = undefined;
  }
  // Reading all of it again and again is not worth more than a fifth of the time.
  nextReading = performance.now() + Math.max(5000, 5 * (performance.now() - begun));
  const id = openPacket.get();
  if (id !== undefined) void showPacket(id);
}

function followOn(): void {
  if (!served || !main.isConnected || view.get() === "live" || !following.get() || served.size === 0 || served.size === readBytes) return;
  if (performance.now() >= nextReading && !main.hasAttribute("aria-busy")) void show(true).catch(fail);
}

function showLive(): void {
  asked = {};
  refused.textContent = "";
  replace(main, live!);
  main.removeAttribute("aria-busy");
  shownView = "live";
}

// `isNews`: what is shown is shown again, with what has come since.
async function show(isNews = false): Promise<void> {
  if (served && view.get() !== "live") {
    main.setAttribute("aria-busy", "true");
    await readServed(served);
  }
  if (served && view.get() === "live") return showLive();
  if (isWaiting) return showWithoutTrace();
  if (!engine) return;
  const now = engine;
  const mine = (asked = {});
  now.cancel();
  refused.textContent = "";
  main.setAttribute("aria-busy", "true");
  const asks = { where: where.get(), trace: shownSide() };
  let shown: HTMLElement;
  const current = view.get();
  const about = await askAbout(now, asks.trace);
  if (asked !== mine) return;
  tellSubject(about);
  if (current === "queues") {
    const { places, pressure } = await now.ask<{ places: QueuePlace[]; pressure: Episode[][] }>("reading queues", { call: "queues", ...asks });
    shown = queuesView(places, pressure, about.open_ns);
  } else if (current === "events") {
    const { events, more } = await now.ask<any>("reading events", { call: "events", limit: 1000, ...asks });
    shown = eventsView(events, more);
  } else if (current === "machine") {
    shown = machineView(await now.ask<TraceHost>("reading the machine's profile", { call: "machine", trace: asks.trace }));
  } else if (current === "profile") {
    shown = profileView(await now.ask<Profile>("adding up samples", { call: "profile", ...asks }));
  } else if (current === "compare") {
    shown = second.get() === undefined ? chooseSecond() : await compared(now);
  } else if (current === "timeline") {
    const followed = follow.get();
    const packet = followed === undefined ? undefined : await now.ask<Packet>("reading the packet", { call: "packet", id: followed, trace: asks.trace });
    const from = now instanceof Summary ? await now.around(asks.trace, followed) : { engine: now, trace: asks.trace };
    const timeline = new TimelineView(from.engine, from.trace, packet, "bounds" in from ? from.bounds : undefined);
    await timeline.start();
    shown = timeline.root;
  } else if (current === "arrivals") {
    const table = await now.ask<PieceTable>("gathering pieces", { call: "pieces", ...asks });
    shown = arrivalsView(table);
  } else if (current === "distribution") {
    const by = options.by.get();
    shown = countsStays(by)
        ? staysView(await now.ask<GroupDistributions>("gathering stays", { call: "groups", by, ...asks }))
        : distributionView(await now.ask<JourneyTable>("gathering packets", { call: "journeys", by, ...asks }));
  } else {
    const screen = await now.ask<FirstScreen>("rebuilding packets", { call: "first screen", ...asks });
    const { report, explanation } = screen;
    slowest = explanation.worst.map(({ id }) => id);
    if (current === "flow") shown = flowView(report);
    else if (current === "packets") shown = packetsView(screen);
    else if (current === "causes") shown = causesView(explanation);
    else {
      shown = overview(report, explanation, screen, {
        file: shownName(),
        differences: (slow) => now.ask<Differences>("comparing packets", { call: "differences", slow, ...asks }),
      });
    }
  }
  if (asked !== mine) return;
  main.removeAttribute("aria-busy");
  if (isNews && !following.get()) return;  // somebody has panned meanwhile
  shownView = current;
  replace(main, shown);
}

async function compared(now: Answers): Promise<HTMLElement> {
  const filter = where.get();
  const screen = (trace: 0 | 1) => now.ask<FirstScreen>("rebuilding packets", { call: "first screen", where: filter, trace });
  const screens: [FirstScreen, FirstScreen] = [await screen(0), await screen(1)];
  const difference = await now.ask<Difference>("comparing the traces", { call: "compare", where: filter });
  return compareView({ names: [first.get()!, second.get()!], screens, difference });
}

// An import has no PID.
const subjectOf = ({ target: { name, pid }, duration_s: seconds, events }: About) =>
    [plainName(name) || "unnamed target", pid > 0 && `pid ${pid}`, duration(1e9 * seconds), `${count(events)} events`].filter(Boolean).join(", ");

function tellSubject(about: About): void {
  subject.textContent = subjectOf(about);
  script = about.script;
  scripted.textContent = script ? `as ${plainName(script)} has it` : "";
  redacted.textContent = about.redacted ? "redacted: ids and names are replaced" : "";
}

let picture: Waterfall | undefined;  // of the open packet

// Among the slowest, the next slower one for -1.
function goToPacket(by: number): void {
  const id = openPacket.get();
  const at = id === undefined ? -1 : slowest.indexOf(id);
  if (slowest.length > 0) openPacket.set(slowest[(at < 0 ? 0 : at + by + slowest.length) % slowest.length]);
}

const turn = () => options.form.set(options.form.get() === "turned" ? "lanes" : "turned");

function followPacket(id: number): void {
  follow.set(id);
  openPacket.set(undefined);
  view.set("timeline");
}

async function showPacket(id: number): Promise<void> {
  if (!engine) return;
  try {
    const packet = await engine.ask<Packet>("reading the packet", { call: "packet", id, trace: shownSide() });
    if (openPacket.get() !== id) return;
    const { journey, why } = packet;
    const isTurned = options.form.get() === "turned";
    const holder = element("div", {});
    const draw = () => {
      picture = waterfall(packet, { width: Math.min(1360, window.innerWidth * 0.96 - 40), isTurned, colour: colour.get() });
      replace(holder, picture.root);
    };
    draw();
    const button = (key: string, words: string, click: () => void) => element("button", { type: "button", title: key, click }, words);
    replace(dialog,
        element("div", { class: "head" }, element("h2", { id: "packet-title" }, `Journey ${id}: ${packetName(journey)}`),
            button(",", "slower", () => goToPacket(-1)), button(".", "faster", () => goToPacket(1)),
            button("T", isTurned ? "time across" : "time down", turn),
            button("F", "on the time line", () => followPacket(id)),
            button("Esc", "close", () => openPacket.set(undefined))),
        element("p", { class: "sentence", id: "why" }, plainSentence(`${duration(journey.latency_ns)}: ${why || journey.outcome}`)),
        element("p", { class: "options" }, colourChoice(packet, colour.get(), (name) => colour.set(name)),
            element("span", {}, "[ and ] go from event to event.")),
        holder, laneChooser(packet, draw));
    if (!dialog.open) dialog.showModal();
  } catch (error) {
    if (error instanceof NeedsTrace) refused.textContent = error.message;
    else fail(error);
    openPacket.set(undefined);
  }
}

function showHelp(): void {
  replace(help, element("h2", { id: "help-title" }, "Keys"),
      element("table", {}, element("tbody", {}, ...kKeys.map(([key, does]) =>
          element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, does))))),
      element("button", { type: "button", click: () => help.close() }, "close"));
  help.showModal();
}

const copyCommand = () => void navigator.clipboard?.writeText(
    view.get() === "compare" ? commandLine("diff", first.get() ?? "a.sjt", { "--against": second.get() ?? "b.sjt" })
        : commandLine(kCommands[view.get()], shownName(), /^(report|journeys|events)/.test(kCommands[view.get()]) ? { "--script": script } : {}));

function header(): HTMLElement {
  const tabs = kViews.filter((name) => name !== "live" || served).map((name) => element("button", { type: "button", role: "tab", "data-view": name, click: () => view.set(name) }, kNames[name]));
  effect(() => tabs.forEach((tab) => tab.setAttribute("aria-selected", String(tab.dataset.view === view.get()))));
  effect(() => {
    input.value = where.get();
  });
  const bar = element("div", { class: "progress", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 }, element("span"));
  const doing = element("span", { class: "doing", id: "doing", "aria-hidden": "true" });
  effect(() => {
    const now = progress.get();
    bar.setAttribute("aria-valuenow", String(Math.round(100 * (now?.done ?? 0))));
    bar.setAttribute("aria-valuetext", now?.what ?? "");
    bar.title = now?.what ?? "";
    doing.textContent = now ? `${now.what}${now.done > 0 ? `, ${Math.floor(100 * now.done)} %` : ""}` : "";
    (bar.firstElementChild as HTMLElement).style.width = now ? `${2 + 98 * now.done}%` : "0";
  });
  const copy = element("button", { type: "button", title: "Copy the command that prints the same", click: copyCommand }, "copy command");
  const scheme = element("button", { type: "button", click: () => {
    const dark = document.documentElement.dataset.scheme !== "dark";
    setScheme(dark);
  } }, "light/dark");
  return element("header", {},
      element("div", { class: "title" }, element("h1", {}, "sojourn"), subject, doing, scripted, redacted, sideSwitch(), compareButton(), ...(served ? servedTools(served) : []), scheme,
          element("button", { type: "button", title: "Ctrl-Shift-P", click: () => palette.open() }, "commands"),
          element("button", { type: "button", title: "?", click: showHelp }, "keys")),
      element("form", { class: "filter", submit: (event: Event) => {
        event.preventDefault();
        where.set(input.value);
      } }, input, element("button", { type: "submit" }, "filter"),
          element("button", { type: "button", title: "0", click: () => where.set("") }, "all"), copy),
      refused, inside,
      element("div", { class: "tools" },
          filterBuilder(() => engine ? engine.ask<Names>("reading names", { call: "names", trace: shownSide() }) : Promise.reject(new Error("no trace is open"))), notesPanel()), element("nav", { role: "tablist", "aria-label": "Views" }, ...tabs), bar);
}

// Which of two traces the views show.
function sideSwitch(): HTMLElement {
  const buttons = ([0, 1] as const).map((of) => element("button", { type: "button", "data-side": of, click: () => side.set(of) }));
  const group = element("span", { class: "sides", role: "group", "aria-label": "Which trace the views show" }, ...buttons);
  effect(() => {
    group.hidden = second.get() === undefined;
    buttons.forEach((button, of) => {
      button.textContent = `${of === 0 ? "base" : "new"}: ${plainName([first.get(), second.get()][of] ?? "")}`;
      button.setAttribute("aria-pressed", String(of === shownSide()));
    });
  });
  return group;
}

function traceChooser(label: string, id: string, take: (file: NamedTrace) => void): HTMLInputElement {
  const choose = element("input", { type: "file", id, "aria-label": label, change: () => {
    const file = choose.files?.[0];
    if (file) take({ trace: file, name: file.name });
    choose.value = "";  // the same one may be chosen again
  } });
  return choose;
}

function compareButton(): HTMLElement {
  const button = element("button", { type: "button", id: "compare-with", title: "Or drop a second trace with Shift held", click: () =>
      traceChooser("Trace to compare with", "against-file", compareNow).click() }, "compare with ...");
  effect(() => {
    button.hidden = first.get() === undefined;
  });
  return button;
}

function compareNow(file: NamedTrace): void {
  void compareWith(file, "compare").catch(fail);
}

function chooseSecond(): HTMLElement {
  return element("div", { class: "drop" }, element("p", {}, "Choose a second trace to compare this one with, or drop it here with Shift held."),
      traceChooser("Second trace", "second-file", compareNow));
}

function servedTools(from: Served): HTMLElement[] {
  const follow = element("button", { type: "button", id: "follow", title: "Show what comes from now on", click: () => {
    following.set(!following.get());
    nextReading = 0;
    followOn();
  } });
  effect(() => {
    follow.setAttribute("aria-pressed", String(following.get()));
    follow.textContent = following.get() ? "following" : "follow";
    follow.hidden = !from.isGrowing;
  });
  const silence = element("span", { class: "failed", role: "status", id: "link" });
  effect(() => {
    silence.textContent = link.get();
  });
  const choice = element("select", { id: "traces", "aria-label": "Trace", change: () => listenTo(from, Number(choice.value)) },
      ...from.state.traces.map(({ name }, number) => element("option", { value: number }, plainName(name))));
  choice.hidden = from.state.traces.length < 2;
  return [silence, choice, follow];
}

function listenTo(from: Served, number: number): void {
  from.listen(number);
  engine?.close();
  engine = undefined;
  reading = undefined;
  readBytes = -1;
  nextReading = 0;
  void show().catch(fail);
}

async function startServed(): Promise<void> {
  served = await Served.connect();
  rememberFigures();
  served.listen(0);
  live = liveView(served);
  effect(() => {
    const now = figures.get();
    if (now?.target && view.get() === "live") subject.textContent = `${plainName(now.target)}, ${count(now.events ?? 0)} events`;
    followOn();
  });
}

function setScheme(dark: boolean): void {
  document.documentElement.dataset.scheme = dark ? "dark" : "light";
  document.dispatchEvent(new Event("scheme"));
}

function commands(): Command[] {
  const toggled = (name: Option) => {
    const words = optionWords(name);
    return () => options[name].set(words[(words.indexOf(options[name].get()) + 1) % words.length]);
  };
  return [
    ...kViews.filter((name) => name !== "live" || served).map((name, i) => ({ name: `View: ${kNames[name]}`, key: kViewKeys[name] ?? String(i + 1), run: () => view.set(name) })),
    { name: "Go to the filter", key: "/", run: () => input.focus() },
    { name: "All packets: remove the filter", key: "0", run: () => where.set("") },
    { name: "The slowest packet", key: ".", run: () => goToPacket(1) },
    { name: "Remove the box of the heat map", key: "Esc", run: () => box.set("") },
    { name: "Follow no packet on the time line", run: () => follow.set(undefined) },
    { name: "Packet: time across or down", key: "T", run: turn },
    { name: "Distribution: another grouping", run: toggled("by") },
    { name: "Distribution: CDF or CCDF", run: toggled("curve") },
    { name: "Distribution: logarithmic or linear axis", run: toggled("scale") },
    { name: "Rows: show all in their own order", run: () => [...Object.values(rowSets), ...Object.values(laneSets)].forEach((set) => set.set([])) },
    { name: "Copy the command that prints the same", run: copyCommand },
    { name: "Copy a link to what is shown", run: () => void navigator.clipboard?.writeText(location.href) },
    { name: "Compare with another trace", run: () => view.set("compare") },
    { name: "Light or dark", run: () => setScheme(document.documentElement.dataset.scheme !== "dark") },
    { name: "Print", run: () => window.print() },
    { name: "Keys", key: "?", run: showHelp },
  ];
}
const palette = new Palette(commands);

// By the key's place: some keyboards have digits behind Shift.
function digitOf({ code, key }: KeyboardEvent): number | undefined {
  const named = /^(?:Digit|Numpad)(\d)$/.exec(code) ?? /^(\d)$/.exec(key);
  return named ? Number(named[1]) : undefined;
}

function keys(event: KeyboardEvent): void {
  if (event.ctrlKey && event.shiftKey && event.code === "KeyP") {
    event.preventDefault();
    palette.open();
    return;
  }
  if (palette.root.open) return;
  const typing = (event.target instanceof HTMLInputElement && event.target.type === "text") || event.target instanceof HTMLSelectElement;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape" && typing) return (event.target as HTMLElement).blur();
  if (event.key === "Escape" && openPacket.get() === undefined) box.set("");
  if (typing) return;
  const isOpen = openPacket.get() !== undefined;
  const digit = digitOf(event);
  if (event.key === "/" || event.code === "Slash" && !event.shiftKey) input.focus();
  else if (event.key === "?" || event.code === "Slash") showHelp();
  else if (digit === 0) where.set("");
  else if (event.code === "KeyM") view.set("machine");
  else if (event.code === "KeyP") view.set("profile");
  else if (event.code === "KeyC") view.set("compare");
  else if (event.code === "KeyL" && served) view.set("live");
  else if (event.code === "Comma") goToPacket(-1);
  else if (event.code === "Period") goToPacket(1);
  else if (event.code === "BracketLeft" || event.code === "BracketRight") {
    if (isOpen) picture?.step(event.code === "BracketRight" ? 1 : -1);
    else goToPacket(1);
  } else if (event.code === "KeyT" && isOpen) turn();
  else if (event.code === "KeyF" && isOpen) followPacket(openPacket.get()!);
  else if (digit !== undefined && kViews[digit - 1]) view.set(kViews[digit - 1]);
  else return;
  event.preventDefault();
}

// A machine's profile needs no trace; all other views do.
function showWithoutTrace(): void {
  if (view.get() === "machine") replace(main, machineView(undefined));
  else askForTrace();
  shownView = view.get();
}

// Whatever is dropped onto the view of the machine is a profile, or says why it is none; a trace is
// a trace everywhere.
async function take(files: File[], isSecond: boolean): Promise<void> {
  const [one, two] = files.map((file): NamedTrace => ({ trace: file, name: file.name }));
  if (engine instanceof Summary && !(await isProfile(files[0]))) return complete(engine, two ? [one, two] : [one]);
  if (two) {
    change(() => view.set("compare"));
    return open(one, two);
  }
  if (!(await isProfile(files[0])) && (view.get() !== "machine" || await isTrace(files[0])))
    return isSecond && engine ? compareNow(one) : open(one);
  await openProfile(files[0]);
  view.set("machine");
}

function askForTrace(): void {
  isWaiting = true;
  const choose = traceChooser("Trace file", "trace-file", (file) => void open(file));
  replace(main, element("div", { class: "drop" }, element("p", {}, "Drop a trace here (run.sjt) or a LatSeq recording, or choose one. It stays on this machine. Two traces that are dropped together are compared. The profile of a machine (m.json) can be dropped, too."), choose));
}

// Instead of the summary the traces that it is of; others are said to be others.
async function complete(summary: Summary, given: NamedTrace[]): Promise<void> {
  refused.textContent = "";
  const opened: { engine: Engine; trace: Blob; about: About; name: string; number: number }[] = [];
  try {
    for (const { trace, name } of given) {
      const bytes = await plain(trace);
      const one = await engineOf(bytes);
      opened.push({ engine: one, trace: bytes, about: undefined as never, name, number: -1 });
      const about = await askAbout(one, 0);
      Object.assign(opened[opened.length - 1], { about, number: summary.indexOf(about.identity) });
    }
  } catch (error) {
    opened.forEach((each) => each.engine.close());
    return fail(error);
  }
  const wanted = summary.files.map((_, number) => opened.find((each) => each.number === number));
  if (wanted.some((each) => !each) || opened.length > wanted.length) {
    opened.forEach((each) => each.engine.close());
    const strange = opened.find(({ number }) => number < 0);
    const words = strange ? `${plainName(strange.name)} is another trace: ${subjectOf(strange.about)}.` : "Drop both traces together.";
    replace(refused, element("span", {}, `${words} This page is of ${summary.files.map(({ name }) => plainName(name)).join(" and ")}. `),
        strange && element("button", { type: "button", id: "show-other", click: () => {
          inside.hidden = true;
          void open(given[0], given[1]);
        } }, `show ${plainName(strange.name)} instead`));
    return;
  }
  opened.filter((each) => each !== wanted[0]).forEach((each) => each.engine.close());
  summary.close();
  inside.hidden = true;
  engine = wanted[0]!.engine;
  if (wanted[1]) engine.compareWith(wanted[1].trace);
  await show();
}

function askForWholeTrace(words: string): HTMLElement {
  return element("div", { class: "drop" }, element("p", {}, words),
      engine instanceof Summary && engine.canBeCompleted && traceChooser("The whole trace", "whole-file", (file) => void take([file.trace as File], false)));
}

// A page of traces that were too large for it.
async function openSummary(packed: HTMLElement): Promise<void> {
  progress.set({ what: "unpacking the summary", done: 0 });
  const document_: SummaryDocument = JSON.parse(await (await unpacked(new Blob([fromBase64(packed.textContent!) as BlobPart]))).text());
  const files = ["trace", "against"].slice(0, document_.traces.length).map((id): SummarisedFile => {
    const carrier = document.getElementById(id)!;
    return { name: carrier.dataset.name || "run.sjt", bytes: Number(carrier.dataset.bytes), isGone: carrier.dataset.gone !== undefined, windows: traceInside(id)?.trace };
  });
  const summary = (engine = new Summary(document_, files, engineOf));
  progress.set(undefined);
  replace(inside, summary.told());
  inside.hidden = false;
  change(() => {
    first.set(files[0].name);
    second.set(files[1]?.name);
    if (files[1] && location.hash === "") view.set("compare");
  });
  await show();
}

// A trace that the page carries.
function traceInside(id: string): NamedTrace | undefined {
  const carrier = document.getElementById(id);
  const text = carrier?.textContent ?? "";
  if (text.trim() === "") return undefined;
  const trace = new Blob([fromBase64(text) as BlobPart]);
  carrier!.textContent = "";  // the text is not needed any more, and larger than the trace
  return { trace, name: carrier!.dataset.name || "run.sjt" };
}

async function start(): Promise<void> {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  setScheme(prefersDark.matches);
  if (document.getElementById("trace")!.dataset.served !== undefined) await startServed();
  prefersDark.addEventListener("change", () => setScheme(prefersDark.matches));
  // Paper is light.
  let wasDark = false;
  window.addEventListener("beforeprint", () => {
    wasDark = document.documentElement.dataset.scheme === "dark";
    setScheme(false);
  });
  window.addEventListener("afterprint", () => setScheme(wasDark));
  dialog.addEventListener("close", () => openPacket.set(undefined));
  root.append(header(), main, dialog, help, palette.root);
  document.addEventListener("keydown", keys);
  main.addEventListener("pointerdown", (event) => {
    if (event.target instanceof HTMLCanvasElement) following.set(false);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])].slice(0, 2);
    if (files.length > 0) void take(files, event.shiftKey);
  });
  const isPlain = location.hash === "";
  followAddress();
  if (isPlain && served?.isGrowing) view.set("live");
  effect(() => {
    where.get();
    view.get();
    side.get();
    work.get();
    box.get();
    follow.get();
    for (const option of Object.values(options)) option.get();
    if (!isChanging) void show().catch(fail);
  });
  effect(() => {
    const id = openPacket.get();
    options.form.get();
    colour.get();
    if (id === undefined) dialog.close();
    else void showPacket(id);
  });
  if (served) return;
  const openLinked = () => {
    const id = openPacket.get();
    if (id !== undefined) void showPacket(id);
  };
  const packed = document.getElementById("summary");
  if (packed) return openSummary(packed).then(openLinked, fail);
  const trace = traceInside("trace");
  if (!trace) {
    isWaiting = true;
    return showWithoutTrace();
  }
  const against = traceInside("against");
  // A page of two traces begins with both.
  if (against && location.hash === "") view.set("compare");
  void open(trace, against).then(openLinked);
}

void start().catch((error) => replace(root, element("p", { class: "failed" }, error instanceof Error ? error.message : String(error))));
