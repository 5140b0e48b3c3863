// Shows the view that the page's state asks for, and shows it again when the state changes.
import { machineView } from "./machine_view";
import { askAbout, opened, shownSide } from "./open_traces";
import { fail, main, put, refused } from "./screen";
import { box, follow, following, options, revisited, side, view, where, work } from "./selection";
import { ServedTrace, servedTrace } from "./served_trace";
import { effect } from "./signal";
import { showSubject } from "./subject";
import { traceChooser } from "./trace_chooser";
import { makeView } from "./views";

// The question that was asked last; the answers of earlier ones are dropped.
let asked: object | undefined;
let isChanging = false;

// Changes the state without showing the view; the caller shows it later.
export function change(set: () => void): void {
  isChanging = true;
  set();
  isChanging = false;
}

// `isNews`: the view is shown again because the trace has grown.
export async function show(isNews = false): Promise<void> {
  const served = servedTrace();
  if (served && view.get() !== "live") {
    main.setAttribute("aria-busy", "true");
    await served.read();
  }
  if (served && view.get() === "live") return showLive(served);
  if (opened.isWaiting) return showWithoutTrace();
  const { engine } = opened;
  if (!engine) return;
  const mine = (asked = {});
  engine.cancel();
  refused.textContent = "";
  main.setAttribute("aria-busy", "true");
  const asks = { where: where.get(), trace: shownSide() };
  const current = view.get();
  const about = await askAbout(engine, asks.trace);
  if (asked !== mine) return;
  showSubject(about);
  const shown = await makeView(current, { engine, about, asks });
  if (asked !== mine) return;
  showSubject(about);  // the view may have counted the events
  main.removeAttribute("aria-busy");
  if (isNews && !following.get()) return;  // somebody has panned meanwhile
  put(current, shown);
}

function showLive({ live }: ServedTrace): void {
  asked = {};
  refused.textContent = "";
  put("live", live);
  main.removeAttribute("aria-busy");
}

// Only the machine's view needs no trace.
export function showWithoutTrace(): void {
  put(view.get(), view.get() === "machine" ? machineView(undefined) : traceChooser());
}

export function showWhenStateChanges(): void {
  effect(() => {
    where.get();
    view.get();
    side.get();
    work.get();
    box.get();
    follow.get();
    revisited.get();
    for (const option of Object.values(options)) option.get();
    if (!isChanging) void show().catch(fail);
  });
}
