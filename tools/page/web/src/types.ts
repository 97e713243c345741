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
  total: number;
  levels: LevelValues[];
}

export interface Timeline {
  start: string;
  window_ns: number;
  levels: { width_ns: number; size: number }[];
  series: Series[];
}

export interface Finding {
  verdict: string;
  point?: string;
  severity: string;
  count: number;
  packets: number;
  streams: number;
  worst: { stream: number; count: number }[];
  text: string;
  advice: string;
}

export interface Summary {
  verdict: string;
  clean: boolean;
  statements: { severity: string; text: string }[];
  lost: { before: number; after: number; beyond: number };
  findings: Finding[];
  hosts: number;
  connections: number;
  datagram_flows: number;
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

export interface Streams {
  columns: string[];
  rows: Cell[][];
  left_out: number;
}

export interface Report {
  program: string;
  summary: Summary;
  timeline: Timeline;
  streams: Streams;
}
