// A page of `sojourn serve`: it shows what has come since, as long as it follows, and its header
// has a choice of the server's traces.
import { element } from "./dom";
import { figures, link, rememberFigures } from "./live_figures";
import { fail, main } from "./screen";
import { following, forgetStretches, view } from "./selection";
import { Served } from "./served";
import { servedTrace, ServedTrace, serveFrom } from "./served_trace";
import { show } from "./show";
import { effect } from "./signal";
import { subject } from "./subject";
import { count, plainName } from "./units";

export async function startServed(): Promise<void> {
  const served = await Served.connect();
  rememberFigures();
  served.listen(0);
  serveFrom(served);
  effect(() => {
    const now = figures.get();
    if (now?.target && view.get() === "live") subject.textContent = `${plainName(now.target)}, ${count(now.events ?? 0)} events`;
    followOn();
  });
}

// Shows the view again if the trace has grown, not more often than reading it is worth.
function followOn(): void {
  const trace = servedTrace();
  if (!trace || !main.isConnected || view.get() === "live" || !following.get() || !trace.hasNews) return;
  if (trace.isDue && !main.hasAttribute("aria-busy")) void show(true).catch(fail);
}

export function servedTools(trace: ServedTrace): HTMLElement[] {
  const { served } = trace;
  const follow = element("button", { type: "button", id: "follow", title: "Show what comes from now on", click: () => {
    following.set(!following.get());
    if (following.get()) forgetStretches();
    trace.readNow();
    followOn();
  } });
  effect(() => {
    follow.setAttribute("aria-pressed", String(following.get()));
    follow.textContent = following.get() ? "following" : "follow";
    follow.hidden = !served.isGrowing;
  });
  const silence = element("span", { class: "failed", role: "status", id: "link" });
  effect(() => {
    silence.textContent = link.get();
  });
  const choice = element("select", { id: "traces", "aria-label": "Trace", change: () => {
    trace.listen(Number(choice.value));
    void show().catch(fail);
  } }, ...served.state.traces.map(({ name }, number) => element("option", { value: number }, plainName(name))));
  choice.hidden = served.state.traces.length < 2;
  return [silence, choice, follow];
}
