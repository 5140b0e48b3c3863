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

// Writes an instant with all of its nanoseconds, which tell neighbouring events apart: "1.169 191 022 s".
export function exactInstant(ns: number): string {
  const size = Math.abs(Math.round(ns));
  const parts = String(size % 1e9).padStart(9, "0").replace(/\d{3}(?=\d)/g, "$& ");
  return `${ns < 0 ? "-" : ""}${Math.floor(size / 1e9)}.${parts} s`;
}

// Returns the texts of instants of a stretch of time, with enough digits to tell neighbouring ticks
// apart. In a short stretch they count from a round instant before it: `origin`, empty if that is
// the start.
export function instantTexts(from: number, to: number): { text: (ns: number) => string; origin: string } {
  const span = Math.max(1, to - from);
  const round = 10 ** Math.ceil(Math.log10(span));
  const origin = to / span < 100 ? 0 : Math.floor(from / round) * round;
  const [unit, length] = span >= 1e9 ? ["s", 1e9] as const : span >= 1e6 ? ["ms", 1e6] as const : span >= 1e3 ? ["us", 1e3] as const : ["ns", 1] as const;
  const digits = span / length > 20 ? 0 : 2;
  return {
    text: (ns) => `${origin > 0 ? "+" : ""}${((ns - origin) / length).toFixed(digits)} ${unit}`,
    origin: origin > 0 ? exactInstant(origin).replace(/( 000)+ s$/, " s") : "",
  };
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
