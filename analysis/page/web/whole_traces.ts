// A page of traces that were too large for it carries their summary. The traces themselves, when
// somebody gives them, take the place of the summary.
import { element, replace } from "./dom";
import { jsonInside, NamedTrace, plain, traceInside } from "./embedded";
import { Engine } from "./engine_client";
import { askAbout, engineOf, firstName, opened, progress, secondName } from "./open_traces";
import { About } from "./report_types";
import { fail, inside, refused } from "./screen";
import { view } from "./selection";
import { change, show } from "./show";
import { subjectOf } from "./subject";
import { SummarisedFile, Summary, SummaryDocument } from "./summary";
import { plainName } from "./units";

export async function openSummary(carrier: HTMLElement): Promise<void> {
  progress.set({ what: "unpacking the summary", done: 0 });
  const summarised: SummaryDocument = await jsonInside(carrier);
  const files = ["trace", "against"].slice(0, summarised.traces.length).map(fileOf);
  const summary = (opened.engine = new Summary(summarised, files, engineOf));
  progress.set(undefined);
  replace(inside, summary.told());
  inside.hidden = false;
  change(() => {
    firstName.set(files[0].name);
    secondName.set(files[1]?.name);
    if (files[1] && location.hash === "") view.set("compare");
  });
  await show();
}

function fileOf(id: string): SummarisedFile {
  const { dataset } = document.getElementById(id)!;
  return { name: dataset.name || "run.sjt", bytes: Number(dataset.bytes), isGone: dataset.gone !== undefined, windows: traceInside(id)?.trace };
}

interface OpenedTrace {
  engine: Engine;
  trace: Blob;
  name: string;
  about: About;
  number: number;  // of the summarised trace that it is; -1: of none
}

// Shows the given traces instead of their summary. Other traces are refused, with a button that
// shows them: `showOthers`.
export async function complete(summary: Summary, given: NamedTrace[], showOthers: () => void): Promise<void> {
  refused.textContent = "";
  const traces: OpenedTrace[] = [];
  const closeAllBut = (kept?: OpenedTrace) => traces.filter((each) => each !== kept).forEach(({ engine }) => engine.close());
  try {
    for (const each of given) traces.push(await identify(summary, each));
  } catch (error) {
    closeAllBut();
    return fail(error);
  }
  const wanted = summary.files.map((_, number) => traces.find((each) => each.number === number));
  if (wanted.some((each) => !each) || traces.length > wanted.length) {
    closeAllBut();
    return refuse(summary, traces.find(({ number }) => number < 0), showOthers);
  }
  closeAllBut(wanted[0]);
  summary.close();
  inside.hidden = true;
  opened.engine = wanted[0]!.engine;
  if (wanted[1]) opened.engine.compareWith(wanted[1].trace);
  await show();
}

async function identify(summary: Summary, { trace, name }: NamedTrace): Promise<OpenedTrace> {
  const bytes = await plain(trace);
  const engine = await engineOf(bytes);
  try {
    const about = await askAbout(engine, 0);
    return { engine, trace: bytes, name, about, number: summary.indexOf(about.identity) };
  } catch (error) {
    engine.close();
    throw error;
  }
}

function refuse({ files }: Summary, strange: OpenedTrace | undefined, showOthers: () => void): void {
  const words = strange ? `${plainName(strange.name)} is another trace: ${subjectOf(strange.about)}.` : "Drop both traces together.";
  replace(refused, element("span", {}, `${words} This page is of ${files.map(({ name }) => plainName(name)).join(" and ")}. `),
      strange && element("button", { type: "button", id: "show-other", click: () => {
        inside.hidden = true;
        showOthers();
      } }, `show ${plainName(strange.name)} instead`));
}
