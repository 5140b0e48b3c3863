// Writes figures as the command line does: three digits and the unit that fits.

export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return "–";
  const sign = ns < 0 ? "-" : "";
  const size = Math.abs(ns);
  if (size < 1000) return `${sign}${Math.round(size)} ns`;
  for (const [unit, length] of [["us", 1e3], ["ms", 1e6], ["s", 1e9]] as const) {
    const text = threeDigits(size / length);
    if (Number(text) < 1000 || unit === "s") return `${sign}${text} ${unit}`;
  }
  return "";
}

function threeDigits(value: number): string {
  return value < 10 ? trim(value, 2) : value < 100 ? trim(value, 1) : value.toFixed(0);
}

// A figure that rounds up to the next power of ten has one digit less behind the point.
function trim(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.length > 4 ? value.toFixed(digits - 1) : text;
}

export function count(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

// Writes a file's size.
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  for (const [unit, length] of [["kB", 1e3], ["MB", 1e6], ["GB", 1e9]] as const) {
    const text = threeDigits(size / length);
    if (Number(text) < 1000 || unit === "GB") return `${text} ${unit}`;
  }
  return "";
}

export function share(part: number): string {
  const percent = 100 * part;
  if (part === 0) return "0 %";
  if (percent < 0.01) return "< 0.01 %";
  return `${percent < 1 ? percent.toFixed(2) : percent.toFixed(1)} %`;
}

// Writes a time for the filter language: in the largest unit that loses no nanosecond.
export function exactTime(ns: number): string {
  const whole = Math.max(0, Math.round(ns));
  for (const [unit, length] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]] as const)
    if (whole !== 0 && whole % length === 0) return `${whole / length}${unit}`;
  return `${whole}ns`;
}

const kHexadecimal = new Set(["rnti", "teid", "addr", "address", "tbs_addr"]);

export function identifier(name: string, value: number | string | null): string {
  if (value === null) return `${name} ?`;
  return kHexadecimal.has(name) ? `${name} 0x${Number(value).toString(16)}` : `${name} ${value}`;
}

// Names come from a trace, so they may hold anything: control and direction characters are shown
// as a box, and a name of unlikely length is cut.
export function plainName(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\u25a1");
  return clean.length > 120 ? `${clean.slice(0, 117)}...` : clean;
}

// A sentence may be long, unlike a name.
export const plainSentence = (text: string) => text.split(" ").map(plainName).join(" ");
