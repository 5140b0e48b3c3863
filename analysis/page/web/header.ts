// The page's header: the trace, the filter, the tabs of the views, and how far a question is.
import { palette } from "./commands";
import { element } from "./dom";
import { filterBuilder, Names } from "./filter_builder";
import { filterForm } from "./filter_form";
import { servedTools } from "./following";
import { showHelp } from "./help";
import { notesPanel } from "./notes";
import { firstName, opened, progress, secondName, shownSide } from "./open_traces";
import { changeScheme } from "./scheme";
import { inside, refused } from "./screen";
import { side, view } from "./selection";
import { servedTrace } from "./served_trace";
import { effect } from "./signal";
import { redacted, scripted, subject } from "./subject";
import { chooseSecondTrace } from "./trace_chooser";
import { plainName } from "./units";
import { kNames, offeredViews } from "./view_names";

export function header(): HTMLElement {
  const served = servedTrace();
  const names = () => opened.engine ? opened.engine.ask<Names>("reading names", { call: "names", trace: shownSide() })
      : Promise.reject(new Error("no trace is open"));
  const viewTabs = tabs(), form = filterForm(), { doing, bar } = progressBar();
  return element("header", {},
      element("div", { class: "title" }, element("h1", {}, "sojourn"), subject, doing, scripted, redacted, sideSwitch(), compareButton(), ...(served ? servedTools(served) : []),
          element("button", { type: "button", click: changeScheme }, "light/dark"),
          element("button", { type: "button", title: "Ctrl-Shift-P", click: () => palette.open() }, "commands"),
          element("button", { type: "button", title: "?", click: showHelp }, "keys")),
      form, refused, inside,
      element("div", { class: "tools" }, filterBuilder(names), notesPanel()),
      viewTabs, bar);
}

function tabs(): HTMLElement {
  const made = offeredViews().map((name) => element("button", { type: "button", role: "tab", "data-view": name, click: () => view.set(name) }, kNames[name]));
  effect(() => made.forEach((tab) => tab.setAttribute("aria-selected", String(tab.dataset.view === view.get()))));
  return element("nav", { role: "tablist", "aria-label": "Views" }, ...made);
}

// The engine's progress in words and as a bar.
function progressBar(): { doing: HTMLElement; bar: HTMLElement } {
  const done = element("span");
  const bar = element("div", { class: "progress", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 }, done);
  const doing = element("span", { class: "doing", id: "doing", "aria-hidden": "true" });
  effect(() => {
    const now = progress.get();
    bar.setAttribute("aria-valuenow", String(Math.round(100 * (now?.done ?? 0))));
    bar.setAttribute("aria-valuetext", now?.what ?? "");
    bar.title = now?.what ?? "";
    doing.textContent = now ? `${now.what}${now.done > 0 ? `, ${Math.floor(100 * now.done)} %` : ""}` : "";
    done.style.width = now ? `${2 + 98 * now.done}%` : "0";
  });
  return { doing, bar };
}

// The choice which of two traces the views show.
function sideSwitch(): HTMLElement {
  const buttons = ([0, 1] as const).map((of) => element("button", { type: "button", "data-side": of, click: () => side.set(of) }));
  const group = element("span", { class: "sides", role: "group", "aria-label": "Which trace the views show" }, ...buttons);
  effect(() => {
    group.hidden = secondName.get() === undefined;
    buttons.forEach((button, of) => {
      button.textContent = `${of === 0 ? "base" : "new"}: ${plainName([firstName.get(), secondName.get()][of] ?? "")}`;
      button.setAttribute("aria-pressed", String(of === shownSide()));
    });
  });
  return group;
}

function compareButton(): HTMLElement {
  const button = element("button", { type: "button", id: "compare-with", title: "Or drop a second trace with Shift held", click: chooseSecondTrace }, "compare with ...");
  effect(() => {
    button.hidden = firstName.get() === undefined;
  });
  return button;
}
