// SPDX-License-Identifier: BSD-2-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf, overlaps, sorted } from "../src/rows.ts";
import type { Cell } from "../src/types.ts";

const columns = ["stream", "ends", "lost_before", "p99_ns"];
const rows: Cell[][] = [
  [0, "192.0.2.1 ↔ 192.0.2.2", 3, 500],
  [1, "192.0.2.1 ↔ 192.0.2.10", 0, null],
  [2, "storage ↔ 192.0.2.9", 12, 90],
];
const all = [0, 1, 2];

test("numbers are sorted by size, and what is not known comes last", () => {
  assert.deepEqual(sorted(rows, all, 2, true), [2, 0, 1]);
  assert.deepEqual(sorted(rows, all, 3, true), [0, 2, 1]);
  assert.deepEqual(sorted(rows, all, 3, false), [2, 0, 1]);
});

test("addresses are sorted by their numbers", () => {
  assert.deepEqual(sorted(rows, [1, 0], 1, false), [0, 1]);
});

test("a filter takes text and conditions", () => {
  const chosen = (text: string) => all.filter((i) => filterOf(text, columns)(rows[i] ?? []));
  assert.deepEqual(chosen(""), all);
  assert.deepEqual(chosen("STORAGE"), [2]);
  assert.deepEqual(chosen("lost_before>0"), [0, 2]);
  assert.deepEqual(chosen("lost_before>0 192.0.2.2"), [0]);
  assert.deepEqual(chosen("stream=1"), [1]);
  assert.deepEqual(chosen("p99_ns<=90"), [2]);
  assert.deepEqual(chosen("unknown>1"), []);
  assert.deepEqual(chosen("unknown=storage"), []);
});

test("a condition on a text holds for the whole text", () => {
  const chosen = (text: string) => [["xfail[n=1]", "xfail"], ["psn[n=2]", "fail"], ["fail", "pass"]].flatMap((row, i) => (filterOf(text, ["instance", "verdict"])(row) ? [i] : []));
  assert.deepEqual(chosen("verdict=fail"), [1]);
  assert.deepEqual(chosen("verdict=xfail n=1"), [0]);
  assert.deepEqual(chosen("fail"), [0, 1, 2]);
  assert.deepEqual(chosen("instance=psn[n=2] verdict=fail"), [1]);
  assert.deepEqual(chosen("verdict="), []);
});

test("100,000 rows are sorted and filtered without a stall", () => {
  const many: Cell[][] = Array.from({ length: 100_000 }, (_, i) => [i, `host${i}`, (i * 7919) % 1000, i % 3 === 0 ? null : i]);
  const begin = performance.now();
  const holds = filterOf("lost_before>500 host", columns);
  const chosen = many.map((_, i) => i).filter((i) => holds(many[i] ?? []));
  sorted(many, chosen, 2, true);
  assert.ok(performance.now() - begin < 2000);
  assert.ok(chosen.length > 40_000);
});

test("a row is of the time shown if its span touches it", () => {
  const of = overlaps({ begin: 100, end: 200 }, [0, 1]);
  assert.deepEqual([[0, 99], [0, 100], [150, 0], [200, 5], [201, 5], [null, 5]].map(of), [false, true, true, true, false, false]);
});
