// The help: the keys and their effects.
import { element, replace } from "./dom";

const kKeys: [string, string][] = [
  ["/", "go to the filter"],
  ["Enter", "in the filter: use it"],
  ["0", "all packets: remove the filter; on arrivals and the time line: show all of the time"],
  ["1 to 9", "the views, from left to right"],
  ["P, C, M", "the profile, two traces, the machine"],
  ["L", "the live figures, where `sojourn serve` has the trace"],
  [", and .", "the packet that is slower, or faster, among the slowest; on the time line: the event before, or after"],
  ["[ and ]", "of the packet that is open, or followed on the time line: the event before, the one after"],
  ["T", "of the packet that is open: time across, or down as LatSeq draws it"],
  ["F", "the packet that is open on the time line; there: fit it"],
  ["arrows, Enter", "on a heat map: go from dot to dot, open the packet"],
  ["arrows", "on a curve of the machine: go from point to point"],
  ["drag", "on a heat map: what is different in the box"],
  ["arrows, Enter, 0", "on a flame graph: go from function to function, show it wide, show all"],
  ["W S A D", "on arrivals and the time line: zoom in and out, go left and right; Ctrl and wheel zoom too"],
  ["drag", "on arrivals and the time line: look at that stretch; with Shift: go left and right"],
  ["Esc", "close the packet; leave the filter; remove the box"],
  ["Ctrl Shift P", "all commands, by their words"],
  ["?", "this help"],
];

export const helpDialog = element("dialog", { "aria-labelledby": "help-title" });

export function showHelp(): void {
  replace(helpDialog, element("h2", { id: "help-title" }, "Keys"),
      element("table", {}, element("tbody", {}, ...kKeys.map(([key, does]) =>
          element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, does))))),
      element("button", { type: "button", click: () => helpDialog.close() }, "close"));
  helpDialog.showModal();
}
