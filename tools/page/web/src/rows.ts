// SPDX-License-Identifier: BSD-2-Clause
// Sorting and filtering of rows, without a document.
import type { Cell } from "./types.ts";
import type { Range } from "./view.ts";

/** Compares cells: numbers by size, text by its letters; what is not known comes last either way. */
export function sorted(rows: Cell[][], order: number[], column: number, descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return [...order].sort((a, b) => {
    const left = rows[a]?.[column] ?? null;
    const right = rows[b]?.[column] ?? null;
    if (left === null || right === null) return left === right ? a - b : left === null ? 1 : -1;
    if (typeof left === "number" && typeof right === "number") return left === right ? a - b : sign * (left - right);
    const text = String(left).localeCompare(String(right), "en", { numeric: true });
    return text === 0 ? a - b : sign * text;
  });
}

type Test = (row: Cell[]) => boolean;

/** A condition such as `lost_before>0` or `verdict=fail`, or text that any cell has. All words have to hold. */
export function filterOf(text: string, columns: string[]): Test {
  const tests = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word): Test => {
      const match = /^([a-z_0-9]+)(>=|<=|>|<|=)(-?\d+(?:\.\d+)?)$/.exec(word);
      const column = match === null ? -1 : columns.indexOf(match[1] ?? "");
      if (match !== null && column !== -1) {
        const limit = Number(match[3]);
        const compare: Record<string, (value: number) => boolean> = {
          ">": (value) => value > limit,
          "<": (value) => value < limit,
          ">=": (value) => value >= limit,
          "<=": (value) => value <= limit,
          "=": (value) => value === limit,
        };
        const holds = compare[match[2] ?? "="];
        return (row) => typeof row[column] === "number" && holds !== undefined && holds(row[column]);
      }
      const named = columns.indexOf(word.slice(0, Math.max(0, word.indexOf("="))));
      if (named !== -1) {
        const whole = word.slice(word.indexOf("=") + 1);
        return (row) => row[named] === whole;
      }
      const wanted = word.toLowerCase();
      return (row) => row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(wanted));
    });
  return (row) => tests.every((test) => test(row));
}

/** Whether a row is about any of a time, by the columns of its begin and its length. */
export function overlaps({ begin, end }: Range, [from = -1, length = -1]: number[]): Test {
  return (row) => {
    const start = row[from];
    const time = row[length];
    return typeof start === "number" && typeof time === "number" && start <= end && start + time >= begin;
  };
}
