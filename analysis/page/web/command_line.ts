// The command of `sojourn` that prints what the page shows.
import { firstName, secondName, shownName } from "./open_traces";
import { commandLine, view } from "./selection";
import { shownScript } from "./subject";
import { commandOf } from "./view_names";

function shownCommand(): string {
  if (view.get() === "compare") return commandLine("diff", firstName.get() ?? "a.sjt", { "--against": secondName.get() ?? "b.sjt" });
  const command = commandOf(view.get());
  return commandLine(command, shownName(), /^(report|journeys|events)/.test(command) ? { "--script": shownScript() } : {});
}

export const copyCommand = () => void navigator.clipboard?.writeText(shownCommand());
