// The traces that are open: one, or two that are compared, and the engine that answers questions
// about them.
import workerScript from "worker-script";
import { engineModule } from "./embedded";
import { Answers, Engine, Progress, TraceSource } from "./engine_client";
import { About } from "./report_types";
import { side } from "./selection";
import { signal } from "./signal";

export const opened: {
  engine: Answers | undefined;
  isWaiting: boolean;  // for somebody to choose a trace
} = { engine: undefined, isWaiting: false };

// The name of the trace, and the name of the one that it is compared with.
export const firstName = signal<string | undefined>(undefined);
export const secondName = signal<string | undefined>(undefined);
// The work that the engine is doing; undefined if it is idle.
export const progress = signal<Progress | undefined>(undefined);

// The trace that the views show: 1 is the one that is compared with.
export const shownSide = () => (secondName.get() === undefined ? 0 : side.get());
export const shownName = () => [firstName.get(), secondName.get()][shownSide()] ?? "run.sjt";

export const askAbout = (engine: Answers, trace: 0 | 1) => engine.ask<About>("opening the trace", { call: "about", trace });

export const engineOf = async (trace: TraceSource) => new Engine(workerScript, await engineModule(), trace, (now) => progress.set(now));

export function closeEngine(): void {
  opened.engine?.close();
  opened.engine = undefined;
}

// Opens a trace in the place of those that were open before.
export async function openEngine(trace: TraceSource, name: string): Promise<void> {
  opened.isWaiting = false;
  closeEngine();
  secondName.set(undefined);
  opened.engine = await engineOf(trace);
  await askAbout(opened.engine, 0);
  firstName.set(name);
}
