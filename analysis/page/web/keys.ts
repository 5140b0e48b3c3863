// What the keys do, as the help shows it.
export const kKeys: [string, string][] = [
  ["/", "go to the filter"],
  ["Enter", "in the filter: use it"],
  ["0", "all packets: remove the filter"],
  ["1 to 9", "the views, from left to right"],
  ["M", "the machine, the last view"],
  ["[ and ]", "the packet that is slower, or faster, among the slowest"],
  ["arrows, Enter", "on a heat map: go from dot to dot, open the packet"],
  ["arrows", "on a curve of the machine: go from point to point"],
  ["drag", "on a heat map: what is different in the box"],
  ["W S A D", "on arrivals and the time line: zoom in and out, go left and right; Ctrl and wheel zoom too"],
  ["Esc", "close the packet; leave the filter; remove the box"],
  ["?", "this help"],
];
