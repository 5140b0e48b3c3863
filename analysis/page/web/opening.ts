// Opening of traces that the page carries, or that somebody gives: one, or two that are compared.
import { NamedTrace, plain } from "./embedded";
import { isProfile, isTrace, openProfile } from "./machine_view";
import { askAbout, opened, openEngine, progress, secondName } from "./open_traces";
import { askForTrace, fail } from "./screen";
import { view, View } from "./selection";
import { change, show } from "./show";
import { Summary } from "./summary";
import { complete } from "./whole_traces";

export async function open({ trace, name }: NamedTrace, against?: NamedTrace): Promise<void> {
  progress.set({ what: "unpacking the engine", done: 0 });
  let isOpen = false;
  try {
    await openEngine(await plain(trace), name);
    isOpen = true;
    if (against) return await compareWith(against);
    await show();
  } catch (error) {
    progress.set(undefined);
    fail(error);
    if (!isOpen) askForTrace();  // another one may be readable
  }
}

// A second trace that cannot be read leaves the first one as it was shown.
async function compareWith({ trace, name }: NamedTrace, inView?: View): Promise<void> {
  const { engine } = opened;
  if (!engine) return;
  if (engine instanceof Summary) return engine.compareWith(trace);
  change(() => secondName.set(undefined));
  try {
    engine.compareWith(await plain(trace));
    await askAbout(engine, 1);
  } catch (error) {
    engine.compareWith(undefined);
    void show().catch(fail);
    return fail(error);
  }
  change(() => {
    secondName.set(name);
    if (inView) view.set(inView);
  });
  await show();
}

export function compareNow(file: NamedTrace): void {
  void compareWith(file, "compare").catch(fail);
}

// Takes files that were dropped: traces, or the profile of a machine. A file that is dropped onto
// the machine's view and is no trace counts as a profile, so that its error is that of a profile.
export async function take(files: File[], isSecond: boolean): Promise<void> {
  const [one, two] = files.map((file): NamedTrace => ({ trace: file, name: file.name }));
  const { engine } = opened;
  if (engine instanceof Summary && !(await isProfile(files[0]))) {
    const given = two ? [one, two] : [one];
    return complete(engine, given, () => void open(one, two));
  }
  if (two) {
    change(() => view.set("compare"));
    return open(one, two);
  }
  if (!(await isProfile(files[0])) && (view.get() !== "machine" || await isTrace(files[0])))
    return isSecond && opened.engine ? compareNow(one) : open(one);
  await openProfile(files[0]);
  view.set("machine");
}
