// The ways to give the page a trace: a field to choose a file, with words that ask for it. What
// happens with the file is not known here: a receiver is registered when the page starts.
import { element } from "./dom";
import { NamedTrace } from "./embedded";

interface Receiver {
  open(file: NamedTrace): void;
  compareWith(file: NamedTrace): void;
  take(file: File): void;
}
let receiver: Receiver;

export function giveFilesTo(taker: Receiver): void {
  receiver = taker;
}

function chooser(label: string, id: string, take: (file: File) => void): HTMLInputElement {
  const choose = element("input", { type: "file", id, "aria-label": label, change: () => {
    const file = choose.files?.[0];
    if (file) take(file);
    choose.value = "";  // the same one may be chosen again
  } });
  return choose;
}

const named = (file: File): NamedTrace => ({ trace: file, name: file.name });

export const traceChooser = () => element("div", { class: "drop" }, element("p", {}, "Drop a trace here (run.sjt) or a LatSeq recording, or choose one. It stays on this machine. Two traces that are dropped together are compared. The profile of a machine (m.json) can be dropped, too."),
    chooser("Trace file", "trace-file", (file) => receiver.open(named(file))));

export const secondTraceChooser = () => element("div", { class: "drop" }, element("p", {}, "Choose a second trace to compare this one with, or drop it here with Shift held."),
    chooser("Second trace", "second-file", (file) => receiver.compareWith(named(file))));

export const chooseSecondTrace = () => chooser("Trace to compare with", "against-file", (file) => receiver.compareWith(named(file))).click();

// Asks for the trace of a summary, with the words that say why it is needed.
export const wholeTraceChooser = (words: string, canBeGiven: boolean) => element("div", { class: "drop" }, element("p", {}, words),
    canBeGiven && chooser("The whole trace", "whole-file", (file) => receiver.take(file)));
