// The costs of the machine itself, as `sojourn host` measured them: the profile in the trace, or
// one from a file. A trace has no curves, a file does.
import { element, headRow, replace, save } from "./dom";
import { machineCurve } from "./machine_curve";
import { CpuMatrix, Measurement, parseProfile, Profile } from "./machine_profile";
import { csv, fileName } from "./picture";
import { deviationText, quantity, Unit } from "./quantity";
import { count, plainName, plainSentence } from "./units";

// The engine's answer: the host block of the trace.
export interface TraceHost {
  name: string;
  kernel: string;
  machine: string;
  cpu_model: string;
  cpus: number;
  measured: string;  // empty: nobody measured
}

const kMostBytes = 16 << 20;
const kHowTo = "sojourn host --json > m.json";

// The file that was opened last stays when another view is shown meanwhile.
let opened: { name: string; profile: Profile } | undefined;
let refusal = "";
let showAgain: (() => void) | undefined;

// A profile is JSON; neither a trace nor a LatSeq recording begins like that.
export async function isProfile(file: Blob): Promise<boolean> {
  return /^\s*\{/.test(await file.slice(0, 512).text());
}

export async function isTrace(file: Blob): Promise<boolean> {
  const [first, second, ...rest] = new Uint8Array(await file.slice(0, 7).arrayBuffer());
  return (first === 0x1f && second === 0x8b) || String.fromCharCode(first, second, ...rest) === "SJTRACE";
}

export async function openProfile(file: File): Promise<void> {
  try {
    if (file.size > kMostBytes) throw new Error("no profile of a machine: it has more than 16 MiB");
    opened = { name: file.name, profile: parseProfile(await file.text()) };
    refusal = "";
  } catch (error) {
    refusal = `${plainName(file.name)}: ${error instanceof Error ? error.message : String(error)}`;
  }
  showAgain?.();
}

// `trace` is undefined if no trace is open.
export function machineView(trace: TraceHost | undefined): HTMLElement {
  const section = element("section", { class: "machine" });
  showAgain = () => replace(section, ...content(trace));
  showAgain();
  return section;
}

function content(trace: TraceHost | undefined): HTMLElement[] {
  return [element("h2", {}, "The machine"), chooser(trace !== undefined),
          element("p", { class: "refused", role: "alert", id: "machine-refused" }, refusal),
          ...(opened ? profileParts(opened.profile, plainName(opened.name)) : traceParts(trace))];
}

function chooser(hasTrace: boolean): HTMLElement {
  const input = element("input", { type: "file", accept: ".json,application/json", change: () => {
    const file = input.files?.[0];
    if (file) void openProfile(file);
  } });
  return element("p", { class: "options" },
      element("label", {}, "Open or drop a file of sojourn host --json ", input),
      opened && element("button", { type: "button", id: "machine-back", click: () => {
        opened = undefined;
        refusal = "";
        showAgain?.();
      } }, hasTrace ? "back to the trace's machine" : "close the file"));
}

function traceParts(trace: TraceHost | undefined): HTMLElement[] {
  if (!trace) return [element("p", { id: "machine-of" }, `No trace is open. ${kHowTo} measures a machine; open m.json here.`)];
  if (trace.measured === "") {
    const known = [trace.cpu_model, trace.cpus > 0 && `${count(trace.cpus)} processors`, `${trace.kernel} ${trace.machine}`.trim()].filter(Boolean).map((one) => plainSentence(String(one)));
    return [element("p", { id: "machine-of" },
        "The trace has no profile of its machine: record could not measure it, or the trace was imported" +
        ` or is of an older version. ${known.length > 0 ? `It only says: ${known.join(", ")}. ` : ""}${kHowTo} measures a machine; open m.json here.`)];
  }
  try {
    return profileParts(parseProfile(trace.measured), "the trace");
  } catch (error) {
    return [element("p", { id: "machine-of", class: "failed" }, `the trace: ${(error as Error).message}`)];
  }
}

function profileParts(profile: Profile, from: string): HTMLElement[] {
  const groups = [...new Set([...profile.measurements, ...profile.curves, ...profile.matrices].map(({ group }) => group))];
  const absent = profile.measurements.filter(({ measured }) => !measured);
  return [
    element("p", { id: "machine-of" }, origin(profile, from)),
    ...profile.warnings.map((warning) => element("p", { class: "disturbed" }, `disturbed: ${plainSentence(warning)}`)),
    ...(profile.facts.length > 0 ? [factsTable(profile)] : []),
    element("p", {}, "Measured is the median; mean and stdev are without the lowest and the highest tenth of the samples. ",
        element("button", { type: "button", id: "machine-csv", click: () => save(`machine-${fileName(from)}.csv`, "text/csv", csv(exactTable(profile))) }, "CSV")),
    ...groups.flatMap((group) => groupParts(profile, group)),
    ...(profile.curves.length === 0 ? [element("p", { id: "no-curves" },
        `There are no curves in it: traces have none, for size. ${kHowTo} measures them (less than 15 seconds with --quick); open m.json here.`)] : []),
    ...(absent.length > 0 ? [element("h2", {}, "Not measured"),
        element("ul", { class: "absent" }, ...absent.map(({ name, left_out: why }) => element("li", {}, `${plainSentence(name)}: ${plainSentence(why)}`)))] : []),
  ];
}

function origin(profile: Profile, from: string): string {
  const when = new Date(1000 * profile.measured_at_s);
  const parts = [`${plainName(profile.form || "unknown")} form`, `${profile.took_s.toFixed(1)} s`,
                 profile.measured_at_s > 0 && !Number.isNaN(when.getTime()) && `${when.toISOString().slice(0, 16).replace("T", " ")} UTC`,
                 profile.tool && plainName(profile.tool)];
  return `From ${from}: ${parts.filter(Boolean).join(", ")}.`;
}

function factsTable({ facts }: Profile): HTMLElement {
  return element("table", { class: "facts" }, headRow("machine", "is", "from"),
      element("tbody", {}, ...facts.map((fact) => element("tr", {},
          element("th", { scope: "row" }, plainSentence(fact.name)),
          element("td", {}, fact.value ? plainSentence(fact.value) : "not told"),
          element("td", { class: "source" }, plainSentence(fact.source))))));
}

function groupParts(profile: Profile, group: string): HTMLElement[] {
  const ofGroup = <T extends { group: string }>(list: T[]) => list.filter((one) => one.group === group);
  const measured = ofGroup(profile.measurements).filter((one) => one.measured);
  return [
    ...(measured.length > 0 ? [costsTable(plainName(group), measured)] : []),
    ...(ofGroup(profile.curves).length > 0 ? [element("div", { class: "columns" }, ...ofGroup(profile.curves).map(machineCurve))] : []),
    ...ofGroup(profile.matrices).map(matrixTable),
  ];
}

const optional = (value: number | undefined, unit: Unit) => (value === undefined ? "-" : quantity(value, unit));

// The columns are those of the command line.
function costsTable(group: string, rows: Measurement[]): HTMLElement {
  return element("table", { class: "costs" },
      headRow(group, "#hardware", "#software", "#predicted", "#measured", "#deviation", "#mean", "#stdev", "#quartiles", "#samples", "remarks"),
      element("tbody", {}, ...rows.map((one) => {
        const measured = one.measured!;
        const figures = [optional(one.hardware, one.unit), optional(one.software, one.unit), optional(one.predicted, one.unit),
                         quantity(measured.median, one.unit), deviationText(one.deviation), quantity(measured.mean, one.unit), quantity(measured.stdev, one.unit),
                         `${quantity(measured.q1, one.unit)} .. ${quantity(measured.q3, one.unit)}`, count(measured.count)];
        const how = [one.method, one.basis && `predicted from: ${one.basis}`].filter(Boolean).join("; ");
        return element("tr", { "data-id": one.id, title: how ? plainSentence(how) : undefined },
            element("th", { scope: "row" }, plainSentence(one.name)),
            ...figures.map((text) => element("td", { class: "number" }, text)),
            element("td", {}, remarks(one)));
      })));
}

function remarks(one: Measurement): string {
  return [one.unstable && `UNSTABLE: ${one.unstable}`,
          !one.reason.startsWith("the samples are not stable") && one.reason, one.note]
      .filter((text): text is string => !!text).map(plainSentence).join("; ");
}

function matrixTable(matrix: CpuMatrix): HTMLElement {
  const { cpus, values } = matrix;
  return element("figure", { class: "picture" },
      element("figcaption", {}, `${plainName(matrix.name)}, ${matrix.unit}`),
      element("table", { class: "matrix" }, headRow("from \\ to", ...cpus.map((cpu) => `#cpu ${cpu}`)),
          element("tbody", {}, ...cpus.map((cpu, row) => element("tr", {}, element("th", { scope: "row" }, `cpu ${cpu}`),
              ...cpus.map((_, column) => {
                const value = values[row * cpus.length + column];
                return element("td", { class: "number" }, value === undefined ? "-" : value.toFixed(0));
              }))))),
      matrix.note ? element("p", {}, plainSentence(matrix.note)) : undefined);
}

function exactTable({ measurements }: Profile) {
  const figure = (value: number | undefined) => value ?? "";
  return {
    columns: ["id", "unit", "hardware", "software", "predicted", "deviation", "count", "mean", "stdev", "min", "q1", "median", "q3", "max", "unstable"],
    rows: measurements.flatMap((one) => one.measured ? [[one.id, one.unit, figure(one.hardware), figure(one.software), figure(one.predicted), figure(one.deviation),
        one.measured.count, one.measured.mean, one.measured.stdev, one.measured.min, one.measured.q1, one.measured.median, one.measured.q3, one.measured.max,
        one.unstable]] : []),
  };
}
