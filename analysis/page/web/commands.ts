// All commands of the page, for its palette.
import { copyCommand } from "./command_line";
import { goToFilter, showAllPackets } from "./filter_form";
import { showHelp } from "./help";
import { goToPacket, turnPacket } from "./packet_dialog";
import { Command, Palette } from "./palette";
import { changeScheme } from "./scheme";
import { box, follow, laneSets, Option, options, optionWords, rowSets, view } from "./selection";
import { keyOf, kNames, offeredViews } from "./view_names";

const changes = (name: Option) => () => {
  const words = optionWords(name);
  options[name].set(words[(words.indexOf(options[name].get()) + 1) % words.length]);
};

const showAllRows = () => [...Object.values(rowSets), ...Object.values(laneSets)].forEach((set) => set.set([]));

const commands = (): Command[] => [
  ...offeredViews().map((name) => ({ name: `View: ${kNames[name]}`, key: keyOf(name), run: () => view.set(name) })),
  { name: "Go to the filter", key: "/", run: goToFilter },
  { name: "All packets: remove the filter", key: "0", run: showAllPackets },
  { name: "The slowest packet", key: ".", run: () => goToPacket(1) },
  { name: "Remove the box of the heat map", key: "Esc", run: () => box.set("") },
  { name: "Follow no packet on the time line", run: () => follow.set(undefined) },
  { name: "Packet: time across or down", key: "T", run: turnPacket },
  { name: "Distribution: another grouping", run: changes("by") },
  { name: "Distribution: CDF or CCDF", run: changes("curve") },
  { name: "Distribution: logarithmic or linear axis", run: changes("scale") },
  { name: "Rows: show all in their own order", run: showAllRows },
  { name: "Copy the command that prints the same", run: copyCommand },
  { name: "Copy a link to what is shown", run: () => void navigator.clipboard?.writeText(location.href) },
  { name: "Compare with another trace", run: () => view.set("compare") },
  { name: "Light or dark", run: changeScheme },
  { name: "Print", run: () => window.print() },
  { name: "Keys", key: "?", run: showHelp },
];

export const palette = new Palette(commands);
