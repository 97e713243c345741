// SPDX-License-Identifier: BSD-2-Clause
// The parts of the band of waits, without a document.
import { SeriesColumns } from "./columns.ts";
import type { Series, Timeline } from "./types.ts";

export type Fill = "solid" | "hatched" | "dotted" | "barred";

export interface WaitInfo {
  name: string;
  title: string;
  colour: string; // a variable of the style sheet
  fill: Fill; // those of one fill have colours that are told apart
  isTrouble: boolean; // drawn however short it was
}

/** From the bottom of the band to its top. */
export const kWaits: WaitInfo[] = [
  { name: "nothing", title: "sends", colour: "--goodput", fill: "solid", isTrouble: false },
  { name: "link", title: "its link is busy", colour: "--goodput", fill: "hatched", isTrouble: false },
  { name: "answers", title: "answers", colour: "--resent", fill: "hatched", isTrouble: false },
  { name: "application", title: "its application", colour: "--line", fill: "solid", isTrouble: false },
  { name: "host", title: "its host", colour: "--faint", fill: "hatched", isTrouble: false },
  { name: "rate", title: "CNPs", colour: "--ce", fill: "dotted", isTrouble: false },
  { name: "credits", title: "credits", colour: "--rnr", fill: "dotted", isTrouble: true },
  { name: "receiver", title: "RNR", colour: "--nak", fill: "barred", isTrouble: true },
  { name: "losses", title: "losses", colour: "--lost", fill: "solid", isTrouble: true },
  { name: "pauses", title: "pauses", colour: "--pause", fill: "barred", isTrouble: true },
];

/** The time of requesters in an interval, by what they waited for, in the order of `kWaits`. */
export interface WaitColumn {
  begin: number; // nanoseconds since the start of the axis
  end: number;
  times: number[];
  all: number;
}

export class WaitColumns {
  private readonly series: (SeriesColumns | undefined)[];
  /** The whole time by wait, and of all. */
  readonly totals: number[];
  readonly total: number;

  constructor(all: Series[], timeline: Timeline) {
    const found = kWaits.map((wait) => all.find((series) => series.name === `wait_${wait.name}`));
    this.series = found.map((series) => (series === undefined ? undefined : new SeriesColumns(series, timeline)));
    this.totals = found.map((series) => series?.total ?? 0);
    this.total = this.totals.reduce((sum, each) => sum + each, 0);
  }

  /** The columns of a part of the axis: at most `most`, and none in which no requester had anything to do. */
  columns(begin: number, end: number, most: number): WaitColumn[] {
    const places = new Map<number, WaitColumn>();
    this.series.forEach((series, wait) => {
      for (const column of series?.columns(begin, end, most) ?? []) {
        let place = places.get(column.begin);
        if (place === undefined) {
          place = { begin: column.begin, end: column.end, times: new Array<number>(kWaits.length).fill(0), all: 0 };
          places.set(column.begin, place);
        }
        place.times[wait] = column.sum;
        place.all += column.sum;
      }
    });
    return [...places.values()].sort((a, b) => a.begin - b.begin);
  }
}

/** The sum of columns, by wait. */
export function sums(columns: WaitColumn[]): number[] {
  return kWaits.map((_, wait) => columns.reduce((sum, column) => sum + (column.times[wait] ?? 0), 0));
}

/**
 * The edges of the parts of a column in whole pixels from its bottom: one more than there are waits. A part of trouble
 * has at least `least` pixels.
 */
export function edges(column: WaitColumn, height: number, least: number): number[] {
  const heights = column.times.map((time) => (column.all === 0 ? 0 : (time / column.all) * height));
  const raised = heights.map((each, wait) => (kWaits[wait]?.isTrouble === true && (column.times[wait] ?? 0) !== 0 ? Math.max(least, each) : each));
  const fixed = raised.reduce((sum, each, wait) => (each === heights[wait] ? sum : sum + each), 0);
  const free = heights.reduce((sum, each, wait) => (each === raised[wait] ? sum + each : sum), 0);
  const shrink = free === 0 ? 1 : Math.max(0, height - fixed) / free;
  const places = [0];
  let sum = 0;
  raised.forEach((each, wait) => {
    sum += each === heights[wait] ? each * shrink : each;
    places.push(Math.round(sum));
  });
  return places;
}
