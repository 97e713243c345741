// SPDX-License-Identifier: BSD-2-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { rates, reactionText, steps, undrawnText } from "../src/congestion.ts";
import { packetsOfMessage, storyText } from "../src/slowest.ts";
import type { CongestedRow, RateFit, Series, SlowMessage, Timeline } from "../src/types.ts";
import { intervals } from "../src/under_way.ts";
import { edges, kWaits, sums, WaitColumns } from "../src/waits.ts";

const series = (name: string, sum: number[]): Series => ({ name: `wait_${name}`, measure: "time", total: sum.reduce((a, b) => a + b, 0), levels: [{ sum }] });
const all = [series("nothing", [600, 0, 0, 250]), series("losses", [0, 0, 1000, 750]), { ...series("losses", [9]), name: "lost" }];
const timeline: Timeline = { start: "", window_ns: 1000, levels: [{ width_ns: 1000, size: 4 }], series: all, waits_left_out: 0 };
const losses = kWaits.findIndex((wait) => wait.name === "losses");

test("a column of the band has the time of all waits, and none is where no requester was", () => {
  const band = new WaitColumns(all, timeline);
  assert.equal(band.total, 2600);
  const columns = band.columns(0, 4000, 100);
  assert.deepEqual(columns.map((column) => [column.begin, column.all, column.times[0], column.times[losses]]), [
    [0, 600, 600, 0],
    [2000, 1000, 0, 1000],
    [3000, 1000, 250, 750],
  ]);
  const joined = band.columns(0, 4000, 1);
  assert.equal(joined.length, 1);
  assert.deepEqual(sums(joined), sums(columns));
});

test("the parts of a column fill it, and trouble is seen however short it was", () => {
  for (const height of [10, 111, 300]) {
    for (const lost of [0, 1, 500, 1_000_000]) {
      const times = kWaits.map((_, wait) => (wait === 0 ? 1_000_000 : wait === losses ? lost : 0));
      const places = edges({ begin: 0, end: 1, times, all: 1_000_000 + lost }, height, 2);
      assert.equal(places[0], 0);
      assert.equal(places[places.length - 1], height);
      for (let i = 1; i < places.length; ++i) assert.ok((places[i] ?? 0) >= (places[i - 1] ?? 0));
      const seen = (places[losses + 1] ?? 0) - (places[losses] ?? 0);
      assert.ok(lost === 0 ? seen === 0 : seen >= 2, `${lost} of a million in ${height} pixels: ${seen}`);
    }
  }
});

test("a curve has the intervals of the view in which anything was under way", () => {
  const curve = { start_ns: 100, width_ns: 10, low: [0, 2, 0, 1], high: [3, 4, 0, 1] };
  assert.deepEqual(intervals(curve, { begin: 0, end: 1000 }).map((each) => [each.begin, each.low, each.high]), [
    [100, 0, 3],
    [110, 2, 4],
    [130, 1, 1],
  ]);
  assert.deepEqual(intervals(curve, { begin: 115, end: 125 }).map((each) => each.begin), [110]);
  assert.deepEqual(intervals(null, { begin: 0, end: 1000 }), []);
});

test("a curve of congestion has rates, marks and CNPs of the view", () => {
  const curve = { start_ns: 1000, width_ns: 500, bytes: [1000, 0, 500, 0], marks: [1, 0, 0, 0], cnps: [0, 0, 0, 2] };
  assert.deepEqual(rates(curve, { begin: 0, end: 1e9 }), [
    { begin: 1000, end: 1500, rate: 16e9, marks: 1, cnps: 0 },
    { begin: 2000, end: 2500, rate: 8e9, marks: 0, cnps: 0 },
    { begin: 2500, end: 3000, rate: 0, marks: 0, cnps: 2 },
  ]);
  assert.deepEqual(rates(curve, { begin: 1500, end: 2000 }), []);
  assert.deepEqual(rates(null, { begin: 0, end: 1e9 }), []);
});

test("the story of a message is told of its own packets and of all answers", () => {
  const kinds = ["sent", "sent_again", "late", "copy", "answered", "nak"];
  const slow = {
    message: { type: "WRITE", bytes: 2048, latency_ns: 77_900_000, psn_count: 2 },
    hosts: ["a", "b"],
    direction: 0,
    first_psn: 5,
    points: { time: [1, 2, 3, 4, 5, 6], psn: [5, 6, 7, 5, 5, 6], frame: [1, 2, 3, 4, 5, 6], kind: [0, 0, 0, 5, 1, 4], requester: [0, 0, 0, 0, 0, 0], count: [1, 1, 1, 1, 1, 1] },
    left_out: 0,
  } as unknown as SlowMessage;
  const { packets, isOwn } = packetsOfMessage(slow, kinds);
  assert.deepEqual(packets.filter(isOwn).map((packet) => packet.frame), [1, 2, 4, 5, 6]);
  assert.equal(storyText(slow, kinds), "WRITE of 2.00 KiB, 2 packets, 77.9 ms. Drawn: 2 sent, 1 sent again, 1 acknowledged, 1 NAK.");
});

const kFit: RateFit = {
  cnps: 9,
  cnps_without_cut: 2,
  cuts: 7,
  late_ns: 218,
  left: 0.5116,
  rises: 1,
  rise_since_ns: 55_390,
  rise_bits_per_second: 2_066_338_590,
  steps: [
    [1000, 20e9],
    [3000, 10e9],
    [4000, 0],
  ],
};

test("a fitted rate holds until the next, and the last one until the end of the curve", () => {
  const curve = { start_ns: 500, width_ns: 1000, bytes: [1, 1, 1, 1, 1], marks: [], cnps: [] };
  assert.deepEqual(steps(kFit, curve, { begin: 0, end: 1e9 }), [
    { begin: 1000, end: 3000, rate: 20e9 },
    { begin: 3000, end: 4000, rate: 10e9 },
    { begin: 4000, end: 5500, rate: 0 },
  ]);
  assert.deepEqual(steps(kFit, curve, { begin: 3000, end: 4000 }), [{ begin: 3000, end: 4000, rate: 10e9 }]);
  assert.deepEqual(steps(null, curve, { begin: 0, end: 1e9 }), []);
});

test("the reaction to CNPs is told in a sentence", () => {
  assert.equal(reactionText(null), "");
  assert.equal(
    reactionText(kFit),
    "218 ns after a CNP the sender is at 51.2 % of its rate (median of 7 cuts); 2 CNPs did not make it slower; where it rises between CNPs, it is 2.07 Gbit/s faster 55.4 us after the change before (median of 1 rise).",
  );
  assert.equal(reactionText({ ...kFit, cuts: 0, late_ns: null, left: null, cnps_without_cut: 0, rises: 0, rise_since_ns: null }), "");
});

test("the page says how much congestion it does not draw", () => {
  const row = (curve: CongestedRow["curve"]) => ({ curve }) as CongestedRow;
  const curve = { start_ns: 0, width_ns: 1, bytes: [1], marks: [1], cnps: [0] };
  const rows = [row(null), row(curve), row(null), row(null)];
  assert.equal(undrawnText({ rows: [row(curve)], left_out: 0, without_curve: 0 }), "");
  assert.equal(undrawnText({ rows, left_out: 0, without_curve: 3 }), "Not drawn: 3 that there was no room to follow, as other connections came first.");
  assert.match(undrawnText({ rows, left_out: 0, without_curve: 1 }), /^Not drawn: 2 further down the table, and 1 that/);
});
