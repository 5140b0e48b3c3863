// What the keys do, as the help shows it.
export const kKeys: [string, string][] = [
  ["/", "go to the filter"],
  ["Enter", "in the filter: use it"],
  ["0", "all packets: remove the filter"],
  ["1 to 8", "the views, from left to right"],
  ["[ and ]", "the packet that is slower, or faster, among the slowest"],
  ["arrows, Enter", "on a heat map: go from dot to dot, open the packet"],
  ["drag", "on a heat map: what is different in the box"],
  ["Esc", "close the packet; leave the filter; remove the box"],
  ["?", "this help"],
];
