// Conditions for the filter, chosen instead of typed: a point, a subsystem, a thread, a CPU, an id,
// a stretch of time. A choice becomes words of the filter language, which can be read and changed.
import { element, replace } from "./dom";
import { narrow } from "./selection";
import { plainName } from "./units";

export interface Names {
  points: { dir: string; name: string; src: string; dest: string; ids: string[] }[];
  threads: { tid: number; name: string }[];
  cpus: number[];
}

interface Kind {
  name: string;
  values: [string, string][];  // an expression, and how it is shown
  typed?: (text: string) => string;
  hint?: string;
}

// Quotes a name for the filter language; empty if no quote fits.
function quoted(name: string): string {
  if (/^[A-Za-z_][\w.-]*$/.test(name)) return name;
  return !name.includes("'") ? `'${name}'` : !name.includes('"') ? `"${name}"` : "";
}

// The names of subsystems: "rlc" of "rlc.tx.am". Only names that the filter language accepts as
// places are listed.
function subsystems({ points }: Names): [string, string][] {
  const places = [...new Set(points.flatMap(({ src, dest }) => [src, dest]).filter(Boolean))];
  const names = [...new Set(places.map((place) => place.split(".")[0]))].filter((name) => /^\w+$/.test(name)).sort();
  return names.map((name) => {
    const hasParts = places.some((place) => place.startsWith(`${name}.`));
    if (!hasParts) return [`hop == ${name}`, name];
    return [places.includes(name) ? `hop in {${name}, ${name}.*}` : `hop ~ ${name}.*`, name];
  });
}

function kindsOf(names: Names): Kind[] {
  const made: Kind[] = [
    { name: "direction", values: [["dir == D", "downlink"], ["dir == U", "uplink"]] },
    { name: "point", values: names.points.flatMap(({ dir, name }) => {
      const word = quoted(`${dir} ${name}`);
      return word ? [[`point == ${word}`, `${dir} ${plainName(name)}`] as [string, string]] : [];
    }) },
    { name: "subsystem", values: subsystems(names) },
    { name: "thread", values: names.threads.map(({ tid, name }) => [`tid == ${tid}`, `${plainName(name)} (${tid})`]) },
    { name: "CPU", values: names.cpus.map((cpu) => [`cpu == ${cpu}`, String(cpu)]) },
  ];
  for (const id of [...new Set(names.points.flatMap(({ ids }) => ids))].filter((name) => /^\w+$/.test(name)))
    made.push({ name: id, values: [], typed: (text) => `field(${id}) == ${text}`, hint: "a number, e.g. 0x4601" });
  made.push({ name: "time", values: [], typed: (text) => `time in ${text}`, hint: "from..to, e.g. 1.5s..1.6s" },
            { name: "latency", values: [], typed: (text) => `latency > ${text}`, hint: "longer than, e.g. 4ms" });
  return made.filter(({ values, typed }) => values.length > 0 || typed);
}

export function filterBuilder(ask: () => Promise<Names>): HTMLElement {
  const body = element("div", {});
  const details = element("details", { class: "builder" }, element("summary", {}, "conditions"), body);
  details.addEventListener("toggle", () => {
    if (details.open) ask().then((names) => replace(body, form(kindsOf(names))), (error) => replace(body, String(error.message ?? error)));
  });
  return details;
}

function form(kinds: Kind[]): HTMLElement {
  const kind = element("select", { id: "builder-kind", "aria-label": "What the condition is about" },
                       ...kinds.map(({ name }) => element("option", { value: name }, plainName(name))));
  const negated = element("select", { id: "builder-is", "aria-label": "Is or is not" }, element("option", { value: "" }, "is"), element("option", { value: "!" }, "is not"));
  const place = element("span", {});
  let expression = () => "";
  const choose = () => {
    const { values, typed, hint } = kinds[kind.selectedIndex];
    if (typed) {
      const field = element("input", { type: "text", id: "builder-value", "aria-label": `Value of ${kinds[kind.selectedIndex].name}`, placeholder: hint ?? "" });
      expression = () => (field.value.trim() ? typed(field.value.trim()) : "");
      replace(place, field);
    } else {
      const select = element("select", { id: "builder-value", "aria-label": `Value of ${kinds[kind.selectedIndex].name}` },
                             ...values.map(([value, shown]) => element("option", { value }, shown)));
      expression = () => select.value;
      replace(place, select);
    }
  };
  kind.addEventListener("change", choose);
  choose();
  return element("form", { submit: (event: Event) => {
    event.preventDefault();
    const text = expression();
    if (text) narrow(negated.value ? `!(${text})` : text);
  } }, kind, negated, place, element("button", { type: "submit" }, "add to the filter"));
}
