// The state of the page: a filter expression, the open packet, the view. All of it is in the
// address behind the #, so that a link shows the same.
import { effect, Signal, signal } from "./signal";

export const kViews = ["overview", "packets", "distribution", "arrivals", "queues", "causes", "flow", "timeline", "events", "profile", "compare", "machine", "live"] as const;
export type View = (typeof kViews)[number];

// True if the views of a growing trace are updated. Panning ends it.
export const following = signal(true);

export const where = signal("");
export const view = signal<View>("overview");
export const openPacket = signal<number | undefined>(undefined);
// The packet that the time line shows.
export const follow = signal<number | undefined>(undefined);
// The trace that all views but the comparison show, if two are open: 1 is the one that is compared
// with.
export const side = signal<0 | 1>(0);
// The work that a profile shows: "hop D pdcp.tx", "thread 4711"; empty: all.
export const work = signal("");
// The box on a heat map as text: direction, first and last start, least and greatest latency.
export const box = signal("");
// The queue whose depth is shown, "D rlc.tx.um"; empty: the deepest.
export const queue = signal("");
// The stretches of time that the time line and the arrivals of each direction show: "from,to" in ns
// since the first mark; empty: what they show at first.
export const stretches = { timeline: signal(""), D: signal(""), U: signal("") };
// Views change these themselves. It counts how often the address has brought others, so that they are
// shown again.
export const revisited = signal(0);
// The ways in which views show things. The first word holds if the address has none.
const kOptions = { by: ["direction", "ue", "bearer", "path", "hop", "layer"], curve: ["ccdf", "cdf"], scale: ["log", "linear"], form: ["lanes", "turned"] } as const;
export type Option = keyof typeof kOptions;
export const optionWords = (name: Option): readonly string[] => kOptions[name];
export const options: Record<Option, Signal<string>> = { by: signal("direction"), curve: signal("ccdf"), scale: signal("log"), form: signal("lanes") };
// The id by which the bars of a packet are coloured; empty: a colour a piece.
export const colour = signal("");

// The hidden and the pinned rows of a picture, and those that were moved, from the top.
export interface RowSets {
  hide: Signal<string[]>;
  pin: Signal<string[]>;
  order: Signal<string[]>;
}
const rowSet = (): RowSets => ({ hide: signal<string[]>([]), pin: signal<string[]>([]), order: signal<string[]>([]) });
// The rows of the time line by key: t and a thread's number, or c and a CPU's.
export const rowSets = rowSet();
// The lanes of a packet's picture by the names of places.
export const laneSets = rowSet();
// The names of the lists in the address.
const kRowLists: [string, Signal<string[]>][] = [
  ["hide", rowSets.hide], ["pin", rowSets.pin], ["order", rowSets.order],
  ["lanehide", laneSets.hide], ["lanepin", laneSets.pin], ["lanes", laneSets.order],
];

// The views' own choices by their names in the address.
const kOwn: [string, Signal<string>][] = [["queue", queue], ["span", stretches.timeline], ["spanD", stretches.D], ["spanU", stretches.U]];

// Panning changes a stretch many times a second, and browsers refuse an address that changes so
// often: it changes when the panning ends.
const kSoon = 250;  // ms
const waiting = new Map<Signal<string>, number>();
export function keepSoon(stretch: Signal<string>, text: string): void {
  clearTimeout(waiting.get(stretch));
  waiting.set(stretch, setTimeout(() => stretch.set(text), kSoon));
}
export function keepNow(own: Signal<string>, text: string): void {
  clearTimeout(waiting.get(own));
  own.set(text);
}
export const forgetStretches = () => Object.values(stretches).forEach((stretch) => keepNow(stretch, ""));

export const stretchText = (from: number, to: number) => `${Math.round(from)},${Math.round(to)}`;
export function stretchOf(text: string): [from: number, to: number] | undefined {
  const [, from, to] = /^(\d{1,19}),(\d{1,19})$/.exec(text) ?? [];
  return from !== undefined && Number(from) <= Number(to) ? [Number(from), Number(to)] : undefined;
}

// A note and the state of the page in which it was written: the address without notes.
export interface Note {
  text: string;
  of: string;
}
export const notes = signal<Note[]>([]);

// Lists are joined by commas. A comma in a place's name is escaped.
const listOf = (text: string | null) => (text ?? "").split(",").filter(Boolean).map((key) => key.replace(/%2C/g, ",").replace(/%25/g, "%"));
const textOf = (list: string[]) => list.map((key) => key.replace(/%/g, "%25").replace(/,/g, "%2C")).join();

const numberOf = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined);

function read(): void {
  const parts = new URLSearchParams(location.hash.slice(1));
  where.set(parts.get("where") ?? "");
  const named = parts.get("view") as View;
  view.set(kViews.includes(named) ? named : "overview");
  side.set(parts.get("side") === "new" ? 1 : 0);
  work.set(parts.get("work") ?? "");
  box.set(parts.get("box") ?? "");
  colour.set(parts.get("colour") ?? "");
  for (const [name, set] of kRowLists) {
    const list = listOf(parts.get(name));
    if (list.join() !== set.get().join()) set.set(list);
  }
  const news = kOwn.map(([name, own]): [Signal<string>, string] => [own, parts.get(name) ?? ""]);
  const isNew = news.some(([own, text]) => own.get() !== text);
  for (const [own, text] of news) keepNow(own, text);
  if (isNew) revisited.set(revisited.get() + 1);
  notes.set(parts.getAll("note").map(noteOf));
  for (const name of Object.keys(kOptions) as Option[]) {
    const word = parts.get(name) ?? "";
    options[name].set(optionWords(name).includes(word) ? word : optionWords(name)[0]);
  }
  openPacket.set(numberOf(parts.get("packet")));
  follow.set(numberOf(parts.get("follow")));
}

// Reads a note from "STATE TEXT". A state has no blank in it.
function noteOf(text: string): Note {
  const end = text.indexOf(" ");
  return { of: text.slice(0, Math.max(0, end)), text: text.slice(end + 1) };
}

export const addNote = (text: string) => notes.set([...notes.get(), { text, of: stateText().toString() }]);
export const dropNote = (note: Note) => notes.set(notes.get().filter((one) => one !== note));
// Restores the state in which the note was written; the notes stay.
export function goTo(note: Note): void {
  const parts = new URLSearchParams(note.of);
  for (const one of notes.get()) parts.append("note", `${one.of} ${one.text}`);
  location.hash = parts.toString();
}

export function followAddress(): void {
  read();
  window.addEventListener("hashchange", read);
  effect(() => {
    const parts = stateText();
    for (const note of notes.get()) parts.append("note", `${note.of} ${note.text}`);
    const hash = parts.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  });
}

function stateText(): URLSearchParams {
  const parts = new URLSearchParams();
  if (where.get()) parts.set("where", where.get());
  if (view.get() !== "overview") parts.set("view", view.get());
  for (const name of Object.keys(kOptions) as Option[])
    if (options[name].get() !== optionWords(name)[0]) parts.set(name, options[name].get());
  if (side.get() === 1) parts.set("side", "new");
  if (work.get()) parts.set("work", work.get());
  if (box.get()) parts.set("box", box.get());
  if (openPacket.get() !== undefined) parts.set("packet", String(openPacket.get()));
  if (follow.get() !== undefined) parts.set("follow", String(follow.get()));
  if (colour.get()) parts.set("colour", colour.get());
  for (const [name, own] of kOwn)
    if (own.get()) parts.set(name, own.get());
  for (const [name, set] of kRowLists)
    if (set.get().length > 0) parts.set(name, textOf(set.get()));
  return parts;
}

// Adds a condition to the filter: both must hold.
export function narrow(expression: string): void {
  const before = where.get().trim();
  where.set(before ? `(${before}) && ${expression}` : expression);
}

// Returns a command line with the filter, quoted for a shell.
export const commandLine = (command: string, file: string, options: Record<string, string | undefined> = {}) => {
  const quoted = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`);
  const all = Object.entries({ ...options, "--where": where.get() }).filter(([, value]) => value);
  return [`sojourn ${command} ${quoted(file)}`, ...all.map(([name, value]) => `${name} ${quoted(value!)}`)].join(" ");
};
