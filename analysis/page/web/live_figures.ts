// The figures of a trace that grows, as `sojourn live --json` has them, and their history.
import { effect, signal } from "./signal";

interface Quantiles {
  count: number;
  per_s: number;
  latency_us: { p50: number; p90: number; p99: number; p999: number; max: number };
}

export interface Figures {
  size: number;  // bytes of the trace that can be read
  growing: boolean;
  waiting: boolean;  // the capture waits for its start
  problem?: string;
  cut?: boolean;  // lists were cut, as they were too long
  t_s?: number;
  target?: string;
  filter?: string;
  window_s?: number;
  events?: number;
  events_per_s?: number;
  lost?: number;
  losses?: Record<string, number>;
  left_out?: number;
  tracing?: { target_share: number | null; capture_cores: number | null; view_cores: number | null };
  journeys?: Record<string, { path: string; complete: number; dropped: number; window: Quantiles; all: Quantiles }>;
  hops?: { dir: string; at: string; window: Quantiles; all: Quantiles }[];
  queues?: { dir: string; name: string; now: number; window_max: number; max: number }[];
  worst?: { journey: number; dir: string; ids: Record<string, number>; latency_us: number; why: string }[];
}

export const figures = signal<Figures | undefined>(undefined);
export const link = signal("");  // why no news may come; empty: news comes

// Latencies of the seconds before an instant, ns; NaN if no packet ended in them.
export interface Instant {
  t_s: number;
  p50: Record<string, number>;
  p99: Record<string, number>;
}

const kMost = 7200;  // an hour, with two instants a second
export const past: Instant[] = [];

export function rememberFigures(): void {
  effect(() => {
    const now = figures.get();
    if (now === undefined) past.length = 0;
    if (now?.t_s === undefined || !now.journeys || now.t_s <= (past.at(-1)?.t_s ?? -1)) return;
    const of = (name: "p50" | "p99") => Object.fromEntries(Object.entries(now.journeys!).map(([dir, { window }]) =>
        [dir, window.count > 0 ? 1000 * window.latency_us[name] : NaN]));
    past.push({ t_s: now.t_s, p50: of("p50"), p99: of("p99") });
    if (past.length > kMost) past.shift();
  });
}
