// The part of the page that shows a view, and the line above it that says why something was
// refused.
import { element, replace } from "./dom";
import { Cancelled } from "./engine_client";
import { opened } from "./open_traces";
import { view, View } from "./selection";
import { NeedsTrace, Summary } from "./summary";
import { traceChooser, wholeTraceChooser } from "./trace_chooser";

export const main = element("main", { id: "main", tabindex: -1 });
export const refused = element("p", { class: "refused", role: "alert", id: "refused" });
// The note that says what a page with a summary has inside.
export const inside = element("p", { class: "inside", id: "inside", role: "note", hidden: true });

let shownView: View | undefined;

// Returns the picture of the shown view that has keys to zoom and move.
export const keyedPicture = () => main.querySelector<HTMLElement>("canvas[data-keyed]");

// A picture with keys of its own gets them, unless somebody is at something else than the view.
export function put(of: View, content: HTMLElement): void {
  shownView = of;
  const at = document.activeElement;
  const isFree = !at || at === document.body || main.contains(at) || at.matches("[role=tab]");
  replace(main, content);
  if (isFree) keyedPicture()?.focus({ preventScroll: true });
}

export function askForTrace(): void {
  opened.isWaiting = true;
  replace(main, traceChooser());
}

export function fail(error: unknown): void {
  if (error instanceof Cancelled) return;
  const words = error instanceof Error ? error.message : String(error);
  // A filter that is refused leaves what is shown as it is.
  refused.textContent = words;
  main.removeAttribute("aria-busy");
  if (error instanceof NeedsTrace) {
    refused.textContent = "";
    return put(view.get(), wholeTraceChooser(words, opened.engine instanceof Summary && opened.engine.canBeCompleted));
  }
  // The picture of another view must not look like the answer.
  if (main.childElementCount === 0 || shownView !== view.get()) replace(main, element("p", { class: "failed" }, words));
}
