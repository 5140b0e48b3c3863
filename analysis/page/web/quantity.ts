// Figures of a machine's profile in the words of `sojourn host` (quantity() of
// present/host/host_text.h): three digits, in the largest unit that leaves one before the point.

export const kUnits = ["ns", "B/s", "B", "Hz", "%", "count"] as const;
export type Unit = (typeof kUnits)[number];

const kTimes: [string, number][] = [["s", 1e9], ["ms", 1e6], ["us", 1e3]];
const kSteps: Partial<Record<Unit, [number, string[]]>> = {
  "B/s": [1000, ["B/s", "kB/s", "MB/s", "GB/s"]],
  "B": [1024, ["B", "KiB", "MiB", "GiB"]],
  "Hz": [1000, ["Hz", "kHz", "MHz", "GHz"]],
};

export function quantity(value: number, unit: Unit): string {
  if (unit === "ns") {
    const [name, length] = kTimes.find(([, least]) => Math.abs(value) >= 0.9995 * least) ?? ["ns", 1];
    return `${threeDigits(value / length)} ${name}`;
  }
  if (unit === "%") return `${fixed(value, 2)} %`;
  if (unit === "count") return general(value);
  const [step, names] = kSteps[unit]!;
  let at = 0;
  while (at + 1 < names.length && Math.abs(value) >= 0.9995 * step) {
    value /= step;
    ++at;
  }
  return `${threeDigits(value)} ${names[at]}`;
}

// Returns by how much the measured value is above the predicted one.
export function deviationText(deviation: number | undefined): string {
  if (deviation === undefined) return "-";
  if (deviation >= 9.995) return `x${fixed(deviation + 1, 0)}`;
  return `${deviation >= 0 ? "+" : ""}${fixed(100 * deviation, 0)} %`;
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

// Rounds as printf does: a half goes to the even digit. toFixed() rounds it up.
function fixed(value: number, decimals: number): string {
  const isHalf = Math.abs((value * 2 ** (decimals + 1)) % 2) === 1;
  if (!isHalf) return value.toFixed(decimals);
  const below = Math.floor(Math.abs(value) * 10 ** decimals);
  return (value < 0 ? "-" : "") + ((below + (below % 2)) / 10 ** decimals).toFixed(decimals);
}

// Writes a number as printf's %.4g does.
function general(value: number): string {
  const power = Number(value.toExponential(3).split("e")[1]);
  if (power >= -4 && power <= 3) return String(Number(fixed(value, 3 - power)));
  const digits = Number(fixed(value / 10 ** (power - 3), 0)) / 1000;
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
