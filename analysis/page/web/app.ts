// The page: a trace, a filter, views of what it selects, and one packet opened above them. Every
// figure comes from the engine, for the same filter by the same code as on the command line. This
// file puts the parts together and opens what the page carries.
import { palette } from "./commands";
import { element, replace } from "./dom";
import { engineModule, traceInside } from "./embedded";
import { startServed } from "./following";
import { header } from "./header";
import { helpDialog } from "./help";
import { listenToKeys } from "./keyboard";
import { opened } from "./open_traces";
import { compareNow, open, take } from "./opening";
import { keepPacketShown, packetDialog, showOpenPacket } from "./packet_dialog";
import { followSystemScheme } from "./scheme";
import { fail, main } from "./screen";
import { followAddress, following, view } from "./selection";
import { servedTrace } from "./served_trace";
import { showWhenStateChanges, showWithoutTrace } from "./show";
import { giveFilesTo } from "./trace_chooser";
import { openSummary } from "./whole_traces";

const root = document.getElementById("page")!;

async function start(): Promise<void> {
  followSystemScheme();
  // The engine is compiled while the trace is unpacked. A summary needs it later, if at all; an
  // error is shown by whoever uses the engine.
  if (!document.getElementById("summary")) void engineModule().catch(() => undefined);
  giveFilesTo({ open: (file) => void open(file), compareWith: compareNow, take: (file) => void take([file], false) });
  if (document.getElementById("trace")!.dataset.served !== undefined) await startServed();
  root.append(header(), main, packetDialog, helpDialog, palette.root);
  listenToKeys();
  listenToPointer();
  const isPlain = location.hash === "";
  followAddress();
  if (isPlain && servedTrace()?.served.isGrowing) view.set("live");
  showWhenStateChanges();
  keepPacketShown();
  if (!servedTrace()) await openCarried();
}

function listenToPointer(): void {
  // A picture that somebody points at stands still.
  main.addEventListener("pointerdown", (event) => {
    if (event.target instanceof HTMLCanvasElement) following.set(false);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])].slice(0, 2);
    if (files.length > 0) void take(files, event.shiftKey);
  });
}

async function openCarried(): Promise<void> {
  const summary = document.getElementById("summary");
  if (summary) return openSummary(summary).then(showOpenPacket, fail);
  const trace = traceInside("trace");
  if (!trace) {
    opened.isWaiting = true;
    return showWithoutTrace();
  }
  const against = traceInside("against");
  // A page of two traces begins with both.
  if (against && location.hash === "") view.set("compare");
  void open(trace, against).then(showOpenPacket);
}

void start().catch((error) => replace(root, element("p", { class: "failed" }, error instanceof Error ? error.message : String(error))));
