// The parts of the engine's answers that the page shows: `sojourn report --json`, `explain --json`
// and others.
import { JourneyTable } from "./engine_client";
import { Named } from "./waterfall_bars";

export interface Latency {
  mean: number;
  min: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
}

export interface DirectionReport {
  count: number;
  complete: number;
  censored: number;
  incomplete: number;
  dropped: number;
  ambiguous: number;
  in_pieces: number;
  repeated: number;
  latency_us?: Latency;
}

export interface Report {
  target: { pid: number; name: string };
  host: { kernel: string; cpu: string };
  events: number;
  lost: number;
  file: { whole: boolean; damaged_places: number; missing: number; ended_in_order: boolean };
  duration_s: number;
  open_ns: number;
  close_ns: number;
  redacted?: boolean;
  journeys: Record<string, DirectionReport>;
  hops: { dir: string; at: string; from: string; to: string; count: number; latency_us: Latency }[];
  activities?: { name: string; count: number; duration_us: Latency }[];  // found by a script
  markers?: { name: string; count: number }[];
  queues: { name: string; dir: string; max: number; p50: number; mean: number; stay_us: Latency | null; decisive_us: number; depth_known: boolean }[];
  points: { name: string; dir: string }[];
  unplaced?: string[];  // points of the map without a place in the program: "D a--b"
  // What tracing cost, if that was measured, and when points were off to stay within the budget; an
  // until_ns of 0 is the end of the capture.
  tracing?: { share: number | null; shed: { point: string | null; from_ns: number; until_ns: number }[] };
  tracer_cpu_ns: number;
  target_cpu_ns: number;
}

export interface Cause {
  dir: string;
  at: string;
  words: string;
  cause: string;
  packets: number;
  share: number;
  ns: number;
}

export interface WorstPacket extends Named {
  id: number;
  start_ns: number;
  latency_ns: number;
  segments: number;
  retransmissions: number;
  why: string;
  parts: { cause: string; at: string; ns: number; begin_ns: number; end_ns: number; thread?: string }[];
}

export interface Explanation {
  deadline_ns: { D?: number | null; U?: number | null; given: boolean };  // null: the direction has no packet
  complete: number;
  late: number;
  late_ns: number;
  causes: Cause[];
  missing: { what: string; option: string }[];  // what was not recorded, and the option that records it
  worst: WorstPacket[];
  dropped: { dir: string; at: string; packets: number }[];
}

// The answer to "first screen", with the packets' columns.
export interface FirstScreen extends JourneyTable {
  report: Report;
  explanation: Explanation;
}

// The answer to "about".
export interface About {
  target: { pid: number; name: string };
  events: number;
  duration_s: number;
  open_ns: number;
  identity: string;
  redacted: boolean;
  script: string;  // the script that the events went through; empty: none
}

export interface QueuePlace {
  dir: string;
  at: string;
  fed_by: { thread: string; units: number }[];
  drained_by: { thread: string; units: number }[];
  depth: { mean: number; p50: number; p99: number };
  high_water: { depth: number; ts_ns: number };
  depth_known: boolean;
  arrivals_per_s: number;
  services_per_s: number;
  utilisation: number;
  wait_ns: Latency & { count: number };
  depths?: { depth: number; ns: number }[];
  over_time?: { begin_ns: number; step_ns: number; mean: (number | null)[] };
}

// A trait that slow packets have more often than others: a part of `sojourn why-slow --json`.
export interface Trait {
  what: Record<string, string>;
  packets: number;
  slow: number;
  support: number;
  risk: number;
  risk_ratio: number | null;  // null: none of the other packets has it
  alike: number;
  where: string | null;
  p: number | null;
}

export type Differences = Partial<Record<"D" | "U", { packets: number; slow: number; blocks: number; traits: Trait[] }>>;

// `sojourn diff --json`. The first figure of a pair is the base's.
export interface Shift {
  of: string;  // "mean", "p50"
  [figure: string]: string | number;  // base, new, by, and low and high if there is an interval; names of times end in _us
}

export interface Comparison {
  dir: string;
  name: string;
  count: [number, number];
  units: [number, number];
  effective: [number, number];
  shifts: Shift[];
  p?: number | null;
  adjusted_p?: number | null;
  slowdown?: number;
  verdict?: string;
}

export interface ComparedRun {
  path: string;
  target: string;
  build_id: string;
  events: number;
  duration_s: number;
  tracing_share?: number;
  tracing_ns_per_packet?: number;
}

export interface Difference {
  level: number;
  base: ComparedRun[];
  new: ComparedRun[];
  times: Comparison[];
  depths: Comparison[];
  flow: { appeared: string[]; vanished: string[] };
}

// `sojourn profile --json` with the stacks.
export interface HotFunction {
  function: string;
  module: string;
  kernel: boolean;
  self_ns: number;
  self_samples: number;
  total_ns: number;
  total_samples: number;
}

export interface WorkPart {
  ns: number;
  samples: number;
  functions: HotFunction[];
}

export interface Profile extends WorkPart {
  period_ns: number;
  user_only: boolean;
  kernel_ns: number;
  without_stack_samples: number;
  hops: (WorkPart & { dir: string | null; at: string | null })[];
  between_units: { after: string; before: string; ns: number; samples: number }[];
  threads: (WorkPart & { tid: number; name: string })[];
  names: { function: string; module: string; kernel: boolean }[];
  stacks: { hop: number; tid: number; functions: number[]; ns: number; samples: number }[];
}
