// SPDX-License-Identifier: BSD-2-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { dense, SeriesColumns } from "../src/columns.ts";
import type { Series, Timeline } from "../src/types.ts";

const kSize = 16384;

function timelineOf(): Timeline {
  const levels = [];
  for (let size = kSize, width = 1000; size > 256; size /= 4, width *= 4) levels.push({ width_ns: width, size });
  return { start: "", window_ns: 1000, levels, series: [], waits_left_out: 0 };
}

// One value of all, at each level.
function single(place: number, what: "sum" | "count"): Series {
  const timeline = timelineOf();
  const levels = timeline.levels.map((_, level) => {
    const values = { at: [Math.floor(place / 4 ** level)], of: [1] };
    return what === "sum" ? { sum: values } : { count: values, low: { at: values.at, of: [400000] }, high: { at: values.at, of: [400000] } };
  });
  return { name: what === "sum" ? "lost" : "latency", measure: what === "sum" ? "count" : "sample", total: 1, levels };
}

test("numbers stand at their places", () => {
  assert.deepEqual([...dense({ at: [1, 3], of: [7, 9] }, 5)], [0, 7, 0, 9, 0]);
  assert.deepEqual([...dense([1, 2], 3)], [1, 2, 0]);
  assert.deepEqual([...dense(undefined, 2)], [0, 0]);
});

test("a single event is in a column of each view that has it, whatever the width of the plot", () => {
  const place = 12345;
  const columns = new SeriesColumns(single(place, "sum"), timelineOf());
  for (const most of [100, 333, 1100, 4000]) {
    for (const length of [kSize, 4000, 97, 3]) {
      const begin = Math.max(0, place - length / 3) * 1000;
      const found = columns.columns(begin, begin + length * 1000, most);
      assert.equal(found.length, 1, `${most} columns, ${length} intervals`);
      const [column] = found;
      assert.equal(column?.sum, 1);
      assert.ok(column !== undefined && column.begin <= place * 1000 && column.end > place * 1000);
    }
  }
  assert.deepEqual(columns.columns(0, 1000, 100), []);
});

test("there are at most as many columns as asked for", () => {
  const timeline = timelineOf();
  const levels = timeline.levels.map((level) => ({ sum: new Array<number>(level.size).fill(1) }));
  const columns = new SeriesColumns({ name: "lost", measure: "count", total: 1, levels }, timeline);
  for (const most of [100, 700, 1100]) assert.ok(columns.columns(0, kSize * 1000, most).length <= most + 1);
});

test("samples keep the highest and the least", () => {
  const timeline = timelineOf();
  const levels = [{ count: [1, 2, 0, 1], low: [5, 3, 0, 9], high: [5, 8, 0, 400] }];
  const columns = new SeriesColumns({ name: "latency", measure: "sample", total: 0, levels }, { ...timeline, levels: [{ width_ns: 10, size: 4 }] });
  const [column] = columns.columns(0, 40, 1);
  assert.deepEqual(column, { begin: 0, end: 40, sum: 0, low: 3, high: 400, count: 4 });
});
