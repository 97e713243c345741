// SPDX-License-Identifier: BSD-2-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../src/format.ts";
import { limited, parseRange, rangeText, View, zoomed } from "../src/view.ts";

test("a view stays inside the whole", () => {
  assert.deepEqual(limited({ begin: -50, end: 150 }, 1000), { begin: 0, end: 200 });
  assert.deepEqual(limited({ begin: 900, end: 1200 }, 1000), { begin: 700, end: 1000 });
  assert.deepEqual(limited({ begin: -5000, end: 5000 }, 1000), { begin: 0, end: 1000 });
  assert.deepEqual(limited({ begin: 7, end: 7 }, 1000), { begin: 0, end: 1000 });
  assert.deepEqual(limited({ begin: NaN, end: 3 }, 1000), { begin: 0, end: 1000 });
});

test("zooming keeps its place", () => {
  assert.deepEqual(zoomed({ begin: 0, end: 100 }, 0.5, 20), { begin: 10, end: 60 });
});

test("all that listen follow, and the fragment brings the view back", () => {
  const view = new View(60e9);
  let told = 0;
  view.onChange(() => ++told);
  view.onChange(() => ++told);
  view.show({ begin: 1.5e9, end: 2.25e9 });
  assert.equal(told, 2);
  view.keep("filter", "a&b=<c>");
  const other = new View(60e9);
  other.read(`#${view.fragment()}`);
  assert.deepEqual(other.range, view.range);
  assert.equal(other.value("filter"), "a&b=<c>");
  other.read("#t=nonsense");
  assert.ok(other.isWhole);
});

test("a range survives as text to the nanosecond", () => {
  const range = { begin: 3599_000000001, end: 3599_000000999 };
  assert.equal(rangeText(range), "3599.000000001-3599.000000999");
  const back = parseRange(rangeText(range));
  assert.ok(back !== undefined && Math.abs(back.begin - range.begin) < 1 && Math.abs(back.end - range.end) < 1);
});

test("quantities have three digits and a unit", () => {
  assert.equal(format.bitRate(12_345_000_000), "12.3 Gbit/s");
  assert.equal(format.bytes(39_014), "38.1 KiB");
  assert.equal(format.duration(999), "999 ns");
  assert.equal(format.duration(1_234_567), "1.23 ms");
  assert.equal(format.count(1234567), "1,234,567");
  assert.equal(format.shortCount(999), "999");
  assert.equal(format.shortCount(12_000), "12.0 k");
  assert.equal(format.counted(1, "packet", "packets"), "1 packet");
  assert.equal(format.seconds(0.5, 0.01), "0.50");
  assert.equal(format.seconds(0.0225, 0.0025), "0.0225");
  assert.equal(format.seconds(0.022, 0.002), "0.022");
});

test("what is on the screen is told first, and the rest once, after it", () => {
  const waiting: FrameRequestCallback[] = [];
  const frame = () => waiting.splice(0).forEach((each) => each(0));
  globalThis.requestAnimationFrame = (each) => waiting.push(each);
  const view = new View(60e9);
  const told: string[] = [];
  let isSeen = false;
  view.onChange(() => told.push("far"), () => isSeen);
  view.onChange(() => told.push("near"));
  view.show({ begin: 0, end: 1e9 });
  view.show({ begin: 0, end: 2e9 });
  assert.deepEqual(told, ["near", "near"]);
  frame();
  assert.deepEqual(told, ["near", "near"]);
  frame();
  assert.deepEqual(told, ["near", "near", "far"]);
  frame();
  assert.equal(told.length, 3);
  isSeen = true;
  view.showAll();
  assert.deepEqual(told.slice(3), ["far", "near"]);
  frame();
  frame();
  assert.equal(told.length, 5);
});
