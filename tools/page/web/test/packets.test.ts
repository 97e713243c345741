// SPDX-License-Identifier: BSD-2-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { place } from "../src/latency.ts";
import { withGaps } from "../src/ladder.ts";
import { between, frameText, isAnswer, packetsOf, tally } from "../src/packets.ts";
import type { PsnGraph } from "../src/types.ts";

const kinds = ["sent", "sent_again", "late", "copy", "answered"];
const graph: PsnGraph = {
  stream: 0,
  ends: "",
  hosts: ["a", "b"],
  packets: 5,
  points: { time: [10, 20, 20, 30, 40], psn: [0, 1, 0, 1, 7], frame: [1, 2, 3, 4, 5], kind: [0, 0, 4, 1, 0], requester: [0, 0, 0, 0, 1], count: [1, 1, 1, 1, 1] },
  breaks: [],
  under_way: [null, null],
};

test("packets belong to their requester", () => {
  assert.deepEqual(packetsOf(graph, kinds, 0).map((packet) => packet.frame), [1, 2, 3, 4]);
  assert.deepEqual(packetsOf(graph, kinds, 1).map((packet) => packet.frame), [5]);
  assert.deepEqual(packetsOf(graph, kinds).map(isAnswer), [false, false, true, false, false]);
});

test("a view has the packets from its begin up to its end", () => {
  const all = packetsOf(graph, kinds);
  assert.deepEqual(between(all, 20, 40).map((packet) => packet.frame), [2, 3, 4]);
  assert.deepEqual(between(all, 0, 10), []);
  assert.equal(between(all, 0, 100).length, 5);
});

test("what is in the view is counted by kind", () => {
  assert.deepEqual(tally(packetsOf(graph, kinds)), [["sent", 3], ["sent_again", 1], ["answered", 1]]);
});

test("each nine of a percentile has the same space", () => {
  const steps = [0.9, 0.99, 0.999, 0.9999].map(place);
  for (let i = 1; i < steps.length; ++i) assert.ok(Math.abs((steps[i] ?? 0) - (steps[i - 1] ?? 0) - 0.2) < 1e-6);
  assert.equal(place(1), 1);
});

test("a ladder says what it leaves out, and where time passed", () => {
  const packet = (time: number, frame: number) => ({ time, frame, psn: 0, count: 1, kind: "sent", requester: 0 });
  const packets = [packet(0, 1), packet(1000, 2), packet(70_000_000, 9), packet(70_001_000, 10)];
  const words = (breaks: [number, number][]) => withGaps(packets, breaks).map((rung) => (typeof rung === "string" ? rung : rung.frame));
  assert.deepEqual(words([]), [1, 2, "nothing for 70.0 ms", 9, 10]);
  assert.deepEqual(words([[9, 6]]), [1, 2, "6 packets not drawn, in 70.0 ms", 9, 10]);
  assert.equal(frameText({ ...packet(0, 7), kind: "lost_unseen" }), "as frame 7 shows");
});
