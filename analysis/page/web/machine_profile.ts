// Reads a machine's profile from the JSON of `sojourn host --json`, which a trace or a file has.
// Any other text is refused in one line, in the words of host_json.cpp.
import { kUnits, Unit } from "./quantity";
import { plainName } from "./units";

export interface Fact {
  name: string;
  value: string;  // empty: not told
  source: string;
}

export interface Summary {
  count: number;
  mean: number;
  stdev: number;
  min: number;
  q1: number;
  median: number;
  q3: number;
  max: number;
}

export interface Measurement {
  id: string;
  group: string;
  name: string;
  method: string;
  basis: string;
  unit: Unit;
  hardware?: number;
  software?: number;
  predicted?: number;
  deviation?: number;
  measured?: Summary;  // none: see left_out
  reason: string;
  unstable: string;
  note: string;
  left_out: string;
}

export interface Curve {
  group: string;
  name: string;
  x: { name: string; unit: Unit };
  y: { name: string; unit: Unit };
  points: { x: number; y: number; q1: number; q3: number }[];
  knees: { x: number; before: number; after: number }[];
  note: string;
}

export interface CpuMatrix {
  group: string;
  name: string;
  unit: Unit;
  cpus: number[];
  values: (number | undefined)[];  // row by row
  note: string;
}

export interface Profile {
  tool: string;
  form: string;
  measured_at_s: number;
  took_s: number;
  facts: Fact[];
  measurements: Measurement[];
  curves: Curve[];
  matrices: CpuMatrix[];
  warnings: string[];
}

const kMostEntries = 100_000;

function refuse(why: string): never {
  throw new Error(`no profile of a machine: ${why}`);
}

// Reads the members of one object. A missing member, or null, counts as empty.
class Members {
  private members: Record<string, unknown>;

  constructor(value: unknown, what: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(`"${what}" is not an object`);
    this.members = value as Record<string, unknown>;
  }

  has(key: string): boolean {
    return (this.members[key] ?? undefined) !== undefined;
  }
  text(key: string): string {
    const value = this.members[key] ?? "";
    return typeof value === "string" ? value : refuse(`"${key}" is not text`);
  }
  number(key: string): number | undefined {
    const value = this.members[key] ?? undefined;
    if (value === undefined) return undefined;
    return typeof value === "number" && Number.isFinite(value) ? value : refuse(`"${key}" is not a number`);
  }
  figure(key: string): number {
    return this.number(key) ?? 0;
  }
  whole(key: string): number {
    const value = this.figure(key);
    return Number.isInteger(value) && value >= 0 ? value : refuse(`"${key}" is not a whole number`);
  }
  unit(key: string): Unit {
    const word = this.text(key);
    return kUnits.find((unit) => unit === word) ?? refuse(`"${plainName(word)}" is no unit`);
  }
  object(key: string): Members {
    return new Members(this.members[key] ?? {}, key);
  }
  list(key: string): unknown[] {
    const value = this.members[key] ?? [];
    return Array.isArray(value) && value.length <= kMostEntries ? value : refuse(`"${key}" is not a list`);
  }
  objects(key: string): Members[] {
    return this.list(key).map((one) => new Members(one, key));
  }
}

export function parseProfile(text: string): Profile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("this is no JSON");
  }
  const all = new Members(value, "?");
  const head = { tool: all.text("tool"), form: all.text("form"), measured_at_s: all.whole("measured_at_s"), took_s: all.figure("took_s") };
  if (!all.has("measurements")) refuse("there are no measurements in it");
  return {
    ...head,
    facts: all.objects("machine").map((fact) => ({ name: fact.text("name"), value: fact.text("value"), source: fact.text("source") })),
    measurements: all.objects("measurements").map(measurementOf),
    curves: all.objects("curves").map(curveOf),
    matrices: all.objects("matrices").map(matrixOf),
    warnings: all.list("warnings").filter((one) => typeof one === "string"),
  };
}

function measurementOf(of: Members): Measurement {
  const measured = of.has("measured") ? summaryOf(of.object("measured")) : undefined;
  return {
    id: of.text("id") || refuse("a measurement has no id"),
    group: of.text("group"),
    name: of.text("name"),
    method: of.text("method"),
    basis: of.text("basis"),
    unit: of.unit("unit"),
    hardware: of.number("hardware"),
    software: of.number("software"),
    predicted: of.number("predicted"),
    deviation: of.number("deviation"),
    measured: measured?.count ? measured : undefined,
    reason: of.text("reason"),
    unstable: of.text("unstable"),
    note: of.text("note"),
    left_out: of.text("left_out"),
  };
}

function summaryOf(of: Members): Summary {
  return {
    count: of.whole("count"),
    mean: of.figure("mean"),
    stdev: of.figure("stdev"),
    min: of.figure("min"),
    q1: of.figure("q1"),
    median: of.figure("median"),
    q3: of.figure("q3"),
    max: of.figure("max"),
  };
}

function curveOf(of: Members): Curve {
  const axis = (key: string) => {
    const one = of.object(key);
    return { name: one.text("name"), unit: one.unit("unit") };
  };
  return {
    group: of.text("group"),
    name: of.text("name"),
    x: axis("x"),
    y: axis("y"),
    points: of.objects("points").map((one) => ({ x: one.figure("x"), y: one.figure("y"), q1: one.figure("q1"), q3: one.figure("q3") })),
    knees: of.objects("knees").map((one) => ({ x: one.figure("x"), before: one.figure("before"), after: one.figure("after") })),
    note: of.text("note"),
  };
}

function matrixOf(of: Members): CpuMatrix {
  const cpus = of.list("cpus").map((cpu) => (typeof cpu === "number" && Number.isInteger(cpu) && cpu >= 0 ? cpu : refuse("a CPU is no number")));
  const values = of.list("values").map((value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined));
  if (values.length !== cpus.length ** 2) refuse(`"${plainName(of.text("id"))}" has ${values.length} values for ${cpus.length} CPUs`);
  return { group: of.text("group"), name: of.text("name"), unit: of.unit("unit"), cpus, values, note: of.text("note") };
}
