// SPDX-License-Identifier: BSD-2-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, timeOf } from "../src/top.ts";

const of = (facts: Record<string, number | string>) => timeOf({ severity: "error", text: "", facts });

test("the time of a statement is what its facts say", () => {
  assert.deepEqual(of({ since_ns: 5, until_ns: 9 }), { begin: 5, end: 9 });
  assert.deepEqual(of({ since_ns: 5, duration_ns: 20 }), { begin: 5, end: 25 });
  assert.deepEqual(of({ since_ns: 5 }), { begin: 5, end: 5 });
  assert.equal(of({ host: "a" }), undefined);
  assert.equal(timeOf({ severity: "note", text: "" }), undefined);
});

test("a moment is shown with some time around it", () => {
  assert.deepEqual(around({ begin: 50_000, end: 50_000 }), { begin: 49_000, end: 51_000 });
  assert.deepEqual(around({ begin: 0, end: 1e6 }), { begin: -1e5, end: 1.1e6 });
});
