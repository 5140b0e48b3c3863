// The causes of lateness by their names in `explain`, and how pictures show each: in a colour of its
// own (page.css), and most with a texture, as colours alone do not tell them apart for everybody.
import { element, shape } from "./dom";

type Texture = "" | "up" | "down" | "across" | "columns" | "dots" | "cross";

// `explain` finds some only where the kernel's events were recorded: `needs` has the words of
// `record --context`.
export const kCauses: { name: string; words: string; needs: string[]; texture: Texture }[] = [
  { name: "queue", words: "packets ahead in a queue", needs: [], texture: "" },
  { name: "slot", words: "the next slot or a grant (by the field slot)", needs: [], texture: "columns" },
  { name: "order", words: "a later packet of the flow that had to go first", needs: [], texture: "dots" },
  { name: "pieces", words: "pieces that came later", needs: [], texture: "down" },
  { name: "again", words: "retransmissions", needs: [], texture: "up" },
  { name: "work", words: "work of a stage", needs: ["sched"], texture: "" },
  { name: "cpu", words: "a CPU that another thread had", needs: ["sched"], texture: "" },
  { name: "blocked", words: "a sleep, a lock or a device", needs: ["sched"], texture: "across" },
  { name: "handover", words: "a hand-over between threads", needs: ["sched"], texture: "cross" },
  { name: "held", words: "a thread that waited for more", needs: ["sched"], texture: "down" },
  { name: "interrupted", words: "interrupts", needs: ["sched", "irq"], texture: "across" },
];
const kUnknown: { name: string; words: string; texture: Texture } = { name: "unknown", words: "not known", texture: "" };
const shownCauses = [...kCauses, kUnknown];

export const causeWords = (cause: string) => (shownCauses.find(({ name }) => name === cause) ?? kUnknown).words;

// A cause that this page does not know looks like the unknown one.
export const causeClass = (cause: string) => `cause ${shownCauses.some(({ name }) => name === cause) ? cause : kUnknown.name}`;

const kTextures: Record<Texture, string> = {
  "": "", up: "M-1 1L1 -1M0 6L6 0M5 7L7 5", down: "M-1 5L1 7M0 0L6 6M5 -1L7 1", across: "M0 3H6", columns: "M3 0V6",
  dots: "M0.5 1.5h2M3.5 4.5h2", cross: "M0 0L6 6M0 6L6 0",
};

// Returns what fills the shapes of causes; page.css refers to it.
export const causePatterns = (): SVGElement[] => shownCauses.map(({ name, texture }) =>
    shape("pattern", { id: `cause-${name}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
        shape("rect", { width: 6, height: 6, class: `ground ${name}` }), shape("path", { d: kTextures[texture], class: "texture" })));

// Returns the names of the causes that are drawn, each beside its colour.
export function causeLegend(drawn: string[]): HTMLElement {
  return element("ul", { class: "legend", "aria-label": "Causes" }, ...shownCauses.filter(({ name }) => drawn.includes(name)).map(({ name, words }) =>
      element("li", { title: words, "data-cause": name },
          shape("svg", { width: 24, height: 12, "aria-hidden": "true" }, shape("rect", { width: 24, height: 12, class: causeClass(name) })), name)));
}
