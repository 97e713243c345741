// SPDX-License-Identifier: BSD-2-Clause
// The data of a report, as roce-analyze writes it.

/** Numbers of consecutive intervals: all, or those that are not 0 with their places. */
export type Values = number[] | { at: number[]; of: number[] };

export interface LevelValues {
  sum?: Values;
  count?: Values;
  low?: Values;
  high?: Values;
}

export interface Series {
  name: string;
  measure: "count" | "rate" | "sample" | "time" | "level";
  total: number; // of a level: the highest
  levels: LevelValues[];
}

export interface Timeline {
  start: string;
  window_ns: number;
  levels: { width_ns: number; size: number }[];
  series: Series[];
  waits_left_out?: number; // packets of requesters whose waits were not followed
}

export interface Finding {
  verdict: string;
  point?: string;
  severity: string;
  count: number;
  packets: number;
  streams: number;
  worst: { stream: number; count: number }[];
  first_frame: number | null;
  file: string | null;
  first_ns: number; // since the start of the axis
  last_ns: number;
  text: string;
  advice: string;
}

/** The fate of the packets between two capture points. */
export interface Crossing {
  from: string;
  to: string;
  packets: number;
  matched: number;
  lost: number;
  damaged: number;
  duplicated: number;
  reordered: number;
  missed: number;
  not_judged: number;
  delay_p50_ns: number | null;
}

export interface Statement {
  severity: string;
  text: string;
  cause?: string;
  facts?: Record<string, number | string>; // times since the start of the axis
}

export interface Summary {
  verdict: string;
  clean: boolean;
  statements: Statement[];
  lost: { before: number; after: number; beyond: number };
  findings: Finding[];
  hosts: number;
  connections: number;
  datagram_flows: number;
  crossings?: Crossing[]; // the worst first; only with several capture points
  capture: {
    frames: number;
    bytes: number;
    first: string | null;
    last: string | null;
    roce_packets: number;
    pause_frames: number;
    files: { file: string; frames: number }[];
    lacks: string[];
  };
}

export type Cell = number | string | null;

export interface Rows {
  columns: string[];
  rows: Cell[][];
}

export interface Streams extends Rows {
  left_out: number;
}

/** The least and the highest value in consecutive intervals. */
export interface LevelCurve {
  start_ns: number; // since the start of the axis
  width_ns: number;
  low: number[];
  high: number[];
}

/** Packets, one column for each property. */
export interface Points {
  time: number[];
  psn: number[];
  frame: number[];
  kind: number[];
  requester: number[];
  count: number[];
}

export interface PsnGraph {
  stream: number;
  ends: string;
  hosts: [string, string];
  packets: number;
  points: Points;
  breaks: [number, number, number][]; // begin, end, and how many packets are not among the points
  under_way: (LevelCurve | null)[]; // by requester
}

/** A slow message, and its packets. */
export interface SlowMessage {
  message: {
    stream: number;
    ends: string;
    message: number | null;
    type: string;
    start: string;
    first_frame: number | null;
    last_frame: number | null;
    answer_frame: number | null;
    first_psn: number;
    psn_count: number;
    bytes: number;
    resent: number;
    latency_ns: number | null;
    end: string;
    file: string | null;
  };
  hosts: [string, string];
  direction: number;
  start_ns: number;
  first_psn: number; // from the first PSN of its requester
  points: Points;
  breaks: [number, number][]; // frames, and how many packets before each are left out
}

/** The data of one direction in consecutive intervals. */
export interface CongestionCurve {
  start_ns: number; // since the start of the axis
  width_ns: number;
  bytes: number[];
  marks: number[];
  cnps: number[];
}

/** How a sender reacted to CNPs; medians, null where there are none. */
export interface RateFit {
  cnps: number;
  cnps_without_cut: number;
  cuts: number;
  late_ns: number | null; // from a CNP to the first packet of the lower rate
  left: number | null; // of the rate before
  rises: number; // without a CNP in between
  rise_since_ns: number | null;
  rise_bits_per_second: number | null;
  steps: [number, number][]; // begin since the start of the axis, bits per second; of those that are drawn
}

export interface CongestedRow {
  stream: number;
  hosts: [string, string]; // sender and receiver of the data
  congestion: {
    direction: number;
    marks: number;
    cnps: number;
    cnps_without_mark: number;
    marks_since_cnp: number;
    mark_to_cnp: Record<string, number>;
    cnp_spacing: Record<string, number>;
    reaction: Record<string, number>;
  };
  curve: CongestionCurve | null;
  fit: RateFit | null; // without a CNP there is none
}

/** Times by their shares, one curve for each kind. */
export interface Latencies {
  shares: number[];
  curves: LatencyCurve[];
}

export interface LatencyCurve {
  type: string;
  latency: Record<string, number>;
  ns: number[];
}

export interface HostPair {
  from: number;
  to: number;
  streams: number;
  bytes: number;
  goodput_bytes: number;
  lost: number;
  resent: number;
  p99_ns: number | null;
}

export interface PauseStation {
  source: string;
  host: string | null;
  frames: number;
  priorities: { priority: number | "all"; xoff: number; xon: number; xoff_to_xon_ns: number; longest_until_xon_ns: number; paused_ns: number | null }[];
}

/** Station, priority (8: all), begin and end in nanoseconds since the start of the axis. */
export type PauseSpan = [string, number, number, number];

export interface Report {
  program: string;
  live: boolean;
  summary: Summary;
  timeline: Timeline;
  streams: Streams;
  psn: { kinds: string[]; graphs: PsnGraph[] };
  slowest: SlowMessage[];
  congestion: { rows: CongestedRow[]; left_out: number; without_curve: number }; // rows that there was no room to follow
  latency: Latencies;
  hosts: { names: string[]; pairs: HostPair[] };
  pauses: { stations: PauseStation[]; spans: PauseSpan[]; left_out: number };
  tables: RunTable[];
}

/** A table to sort and filter; its columns have the form of their numbers. */
export interface RunTable extends Rows {
  id: string;
  title: string;
  hint: string;
  kinds: ("text" | "count" | "bytes" | "ns" | "bps" | "ratio" | "share" | "bad")[]; // bad: a count that should be 0
  statements?: Statement[];
}

/** What a program that sends did, as roce-gen writes it; the top and the tables of roce-conform, too. */
export interface Run {
  program: string;
  title: string;
  verdict: string;
  severity: "error" | "warning" | "note";
  statements: Statement[];
  facts: [string, string][];
  timeline: Timeline | null;
  times: Latencies & { kind: string; what: string };
  tables: RunTable[];
}
