// The dialog that shows one packet above the view: its waterfall, and the sentence why it was late.
import { element, replace } from "./dom";
import { opened, shownSide } from "./open_traces";
import { fail, refused } from "./screen";
import { colour, follow, keepNow, openPacket, options, stretches, view } from "./selection";
import { effect } from "./signal";
import { NeedsTrace } from "./summary";
import { duration, plainSentence } from "./units";
import { colourChoice, laneChooser, Waterfall, waterfall } from "./waterfall";
import { JourneyDetail, Packet, packetName } from "./waterfall_bars";

export const packetDialog = element("dialog", { "aria-labelledby": "packet-title" });
packetDialog.addEventListener("close", () => openPacket.set(undefined));

let picture: Waterfall | undefined;
let slowest: number[] = [];

// Sets the packets that the dialog goes through, from the slowest to the fastest.
export function rememberSlowest(ids: number[]): void {
  slowest = ids;
}

// Goes to another one of the slowest packets: -1 is the next slower one.
export function goToPacket(by: number): void {
  const id = openPacket.get();
  const at = id === undefined ? -1 : slowest.indexOf(id);
  if (slowest.length > 0) openPacket.set(slowest[(at < 0 ? 0 : at + by + slowest.length) % slowest.length]);
}

export const stepInPacket = (by: number) => picture?.step(by);

export const turnPacket = () => options.form.set(options.form.get() === "turned" ? "lanes" : "turned");

export function followPacket(id: number): void {
  keepNow(stretches.timeline, "");
  follow.set(id);
  openPacket.set(undefined);
  view.set("timeline");
}

async function showPacket(id: number): Promise<void> {
  if (!opened.engine) return;
  try {
    const packet = await opened.engine.ask<Packet>("reading the packet", { call: "packet", id, trace: shownSide() });
    if (openPacket.get() !== id) return;
    fill(id, packet);
    if (!packetDialog.open) packetDialog.showModal();
  } catch (error) {
    if (error instanceof NeedsTrace) refused.textContent = error.message;
    else fail(error);
    openPacket.set(undefined);
  }
}

// A latency from one host of a merged trace to another has beside it how far it may be off.
function latencyText(journey: JourneyDetail): string {
  const crosses = journey.events[journey.end_event]?.host !== journey.events[0]?.host;
  const error = crosses ? journey.latency_error_ns : undefined;
  return duration(journey.latency_ns) + (error === undefined ? "" : ` ± ${duration(error)}`);
}

function fill(id: number, packet: Packet): void {
  const { journey, why } = packet;
  const isTurned = options.form.get() === "turned";
  const holder = element("div", {});
  const draw = () => {
    picture = waterfall(packet, { width: Math.min(1360, window.innerWidth * 0.96 - 40), isTurned, colour: colour.get() });
    replace(holder, picture.root);
  };
  draw();
  const button = (key: string, words: string, click: () => void) => element("button", { type: "button", title: key, click }, words);
  replace(packetDialog,
      element("div", { class: "head" }, element("h2", { id: "packet-title" }, `Journey ${id}: ${packetName(journey)}`),
          button(",", "slower", () => goToPacket(-1)), button(".", "faster", () => goToPacket(1)),
          button("T", isTurned ? "time across" : "time down", turnPacket),
          button("F", "on the time line", () => followPacket(id)),
          button("Esc", "close", () => openPacket.set(undefined))),
      element("p", { class: "sentence", id: "why" }, plainSentence(`${latencyText(journey)}: ${why || journey.outcome}`)),
      element("p", { class: "options" }, colourChoice(packet, colour.get(), (name) => colour.set(name)),
          element("span", {}, "[ and ] go from event to event.")),
      holder, laneChooser(packet, draw));
}

// Shows the packet that the page's address names, if a trace is open and the address names one.
export function showOpenPacket(): void {
  const id = openPacket.get();
  if (id !== undefined) void showPacket(id);
}

export function keepPacketShown(): void {
  effect(() => {
    const id = openPacket.get();
    options.form.get();
    colour.get();
    if (id === undefined) packetDialog.close();
    else void showPacket(id);
  });
}
