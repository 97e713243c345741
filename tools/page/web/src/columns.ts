// SPDX-License-Identifier: BSD-2-Clause
// From the levels of a series to the columns of pixels of a plot. Extremes are kept: a column shows the least and the
// highest of all intervals that it covers.
import type { LevelValues, Series, Timeline, Values } from "./types.ts";

export interface Column {
  begin: number; // nanoseconds since the start of the axis
  end: number;
  sum: number;
  low: number;
  high: number;
  count: number;
}

/** Numbers of all intervals, each at its place. */
export function dense(values: Values | undefined, size: number): Float64Array {
  const all = new Float64Array(size);
  if (values === undefined) return all;
  if (Array.isArray(values)) {
    all.set(values.slice(0, size));
  } else {
    values.at.forEach((place, i) => (all[place] = values.of[i] ?? 0));
  }
  return all;
}

interface Level {
  width: number;
  size: number;
  sum: Float64Array;
  low: Float64Array;
  high: Float64Array;
  count: Float64Array;
}

function unpack(values: LevelValues, width: number, size: number): Level {
  const count = dense(values.count, size);
  const sum = dense(values.sum, size);
  return {
    width,
    size,
    sum,
    count,
    low: values.low === undefined ? sum : dense(values.low, size),
    high: values.high === undefined ? sum : dense(values.high, size),
  };
}

export class SeriesColumns {
  readonly measure: Series["measure"];
  private readonly levels: (Level | undefined)[] = [];

  constructor(
    readonly series: Series,
    private readonly timeline: Timeline,
  ) {
    this.measure = series.measure;
  }

  /** The columns of a part of the axis, from `begin` to `end` nanoseconds: at most `most`, and none that is empty. */
  columns(begin: number, end: number, most: number): Column[] {
    const level = this.level(this.choose(begin, end, most));
    const from = Math.max(0, Math.floor(begin / level.width));
    const to = Math.min(level.size, Math.ceil(end / level.width));
    const step = Math.max(1, Math.ceil((to - from) / most));
    const columns: Column[] = [];
    // Columns begin at multiples of their width, so that nothing flickers when the view is moved.
    for (let i = from - (from % step); i < to; i += step) {
      const column = this.join(level, i, Math.min(i + step, level.size));
      const amount = { sample: column.count, level: column.high, count: column.sum, rate: column.sum, time: column.sum }[this.measure];
      if (amount !== 0) columns.push(column);
    }
    return columns;
  }

  /** The interval from `begin` to `end` as one column. */
  whole(begin: number, end: number): Column {
    const level = this.level(0);
    return this.join(level, Math.max(0, Math.floor(begin / level.width)), Math.min(level.size, Math.ceil(end / level.width)));
  }

  private choose(begin: number, end: number, most: number): number {
    const levels = this.timeline.levels;
    for (let i = levels.length - 1; i > 0; --i) {
      const width = levels[i]?.width_ns ?? 1;
      if ((end - begin) / width >= most) return i;
    }
    return 0;
  }

  private level(index: number): Level {
    let level = this.levels[index];
    if (level === undefined) {
      const axis = this.timeline.levels[index] ?? { width_ns: 1, size: 0 };
      level = unpack(this.series.levels[index] ?? {}, axis.width_ns, axis.size);
      this.levels[index] = level;
    }
    return level;
  }

  private join(level: Level, from: number, to: number): Column {
    const column: Column = { begin: from * level.width, end: to * level.width, sum: 0, low: Infinity, high: 0, count: 0 };
    for (let i = from; i < to; ++i) {
      column.sum += level.sum[i] ?? 0;
      column.count += level.count[i] ?? 0;
      if (this.measure === "sample" && level.count[i] === 0) continue;
      column.low = Math.min(column.low, level.low[i] ?? 0);
      column.high = Math.max(column.high, level.high[i] ?? 0);
    }
    if (column.low === Infinity) column.low = 0;
    return column;
  }
}
