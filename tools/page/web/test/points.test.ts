// SPDX-License-Identifier: BSD-2-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../src/points.ts";

function crossing(from: string, to: string) {
  return { from, to, packets: 1, matched: 1, lost: 0, damaged: 0, duplicated: 0, reordered: 0, missed: 0, not_judged: 0, delay_p50_ns: null };
}

function names(...pairs: [string, string][]): string[] {
  return rowsOf(pairs.map(([from, to]) => crossing(from, to))).map((row) => [row[0]?.from, ...row.map((each) => each.to)].join(" "));
}

test("points that follow one another are one row, whatever the order of their crossings", () => {
  assert.deepEqual(names(["b", "c"], ["a", "b"]), ["a b c"]);
});

test("the way back is a row of its own", () => {
  assert.deepEqual(names(["a", "b"], ["b", "a"]), ["a b", "b a"]);
  assert.deepEqual(names(["a", "b"], ["b", "c"], ["c", "b"], ["b", "a"]), ["a b c", "c b a"]);
});

test("a way that divides goes on in another row", () => {
  assert.deepEqual(names(["spine", "x"], ["spine", "y"], ["leaf", "spine"]), ["leaf spine x", "spine y"]);
});

test("a ring begins anywhere and ends", () => {
  assert.deepEqual(names(["a", "b"], ["b", "c"], ["c", "a"]), ["a b c a"]);
});
