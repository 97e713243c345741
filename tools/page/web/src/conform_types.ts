// SPDX-License-Identifier: BSD-2-Clause
// The data of the page of roce-conform, as it writes it.
import type { Run } from "./types.ts";

/** Numbers of instances by area and verdict. */
export interface Areas {
  verdicts: string[];
  rows: { area: string; cases: number; counts: number[] }[];
  all: number[];
}

/** Nanoseconds since the first frame, whether the device sent it, its kind (of a ladder), its text, the line of its step. */
export type StepFrame = [number, boolean, string, string, number];

/** An instance that failed, or that passed although the device is known to fail. */
export interface Deviation {
  instance: string;
  verdict: string;
  level: string;
  title: string;
  why: string;
  rules: [string, string][]; // with what it says, as far as that is known
  place: string;
  line: number; // of the step that showed it; 0: none did
  message: string;
  fields: { field: string; expected: string; seen: string; right: boolean }[];
  damage: string;
  tries: string[];
  alone: string; // the command
  frames: StepFrame[] | null; // null: left out
  more_frames: number; // of its ladder, that are left out
}

export interface Conformance {
  run: Run;
  areas: Areas;
  deviations: Deviation[];
  left_out: { instances: number; deviations: number; frames: number }; // for want of room
}
