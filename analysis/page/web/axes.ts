// The positions of values on a picture, and the ticks of its axes.

export interface Axis {
  at(value: number): number;
  value(at: number): number;
  ticks(): { value: number; at: number; main: boolean }[];
  readonly from: number;
  readonly to: number;
}

export function linear(from: number, to: number, first: number, last: number): Axis {
  const span = to - from || 1;
  return {
    from,
    to,
    at: (value) => first + ((value - from) / span) * (last - first),
    value: (at) => from + ((at - first) / (last - first)) * span,
    ticks() {
      const wanted = Math.max(2, Math.abs(last - first) / 90);
      const step = roundStep(span / wanted);
      const ticks = [];
      for (let value = Math.ceil(from / step) * step; value <= to + step * 1e-9; value += step)
        ticks.push({ value, at: this.at(value), main: true });
      return ticks;
    },
  };
}

// Returns the next larger step that is 1, 2 or 5 times a power of ten.
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const digit = step / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

export function logarithmic(from: number, to: number, first: number, last: number): Axis {
  const low = Math.log10(Math.max(from, 1e-12));
  const high = Math.max(Math.log10(Math.max(to, 1e-12)), low + 0.1);
  return {
    from,
    to,
    at: (value) => first + ((Math.log10(Math.max(value, 1e-12)) - low) / (high - low)) * (last - first),
    value: (at) => 10 ** (low + ((at - first) / (last - first)) * (high - low)),
    ticks() {
      const ticks = [];
      const room = Math.abs(last - first) / (high - low);
      const digits = room > 140 ? [1, 2, 5] : [1];
      for (let power = Math.floor(low); power <= Math.ceil(high); ++power)
        for (const digit of digits) {
          const value = digit * 10 ** power;
          const log = Math.log10(value);
          if (log >= low - 1e-9 && log <= high + 1e-9)
            ticks.push({ value, at: this.at(value), main: digit === 1 });
        }
      return ticks;
    },
  };
}

// A logarithmic axis with ticks at powers of two, for sizes in memory.
export function doublings(from: number, to: number, first: number, last: number): Axis {
  const axis = logarithmic(from, to, first, last);
  return {
    ...axis,
    ticks() {
      const low = Math.ceil(Math.log2(from) - 1e-9), high = Math.floor(Math.log2(to) + 1e-9);
      const wanted = Math.max(2, Math.abs(last - first) / 90);
      const step = [1, 2, 4, 8].find((powers) => (high - low) / powers <= wanted) ?? 16;
      const ticks = [];
      for (let power = Math.ceil(low / step) * step; power <= high; power += step)
        ticks.push({ value: 2 ** power, at: axis.at(2 ** power), main: true });
      return ticks;
    },
  };
}
