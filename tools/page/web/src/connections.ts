// SPDX-License-Identifier: BSD-2-Clause
// How the table of connections shows its columns.
import * as format from "./format.ts";
import type { TableLook } from "./row_table.ts";
import type { Cell } from "./types.ts";

const kHeadings: Record<string, string> = {
  service: "svc",
  start_ns: "start",
  duration_ns: "time",
  lost_before: "lost before",
  lost_after: "lost after",
  lost_beyond: "lost beyond",
  nak: "NAK",
  rnr: "RNR",
  ce: "CE",
  cnp: "CNP",
  p50_ns: "p50",
  p99_ns: "p99",
  max_ns: "max",
};
const kBad = new Set(["lost_before", "lost_after", "lost_beyond"]);
const kCaution = new Set(["resent", "nak", "rnr"]);

export function cellText(column: string, cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell === "string") return cell;
  if (column === "stream") return String(cell);
  if (column.endsWith("_ns")) return column === "start_ns" ? format.seconds(cell / 1e9) : format.duration(cell);
  if (column === "bytes") return format.bytes(cell);
  if (column === "goodput") return cell === 0 ? "–" : format.bitRate(cell);
  return cell === 0 ? "–" : format.count(cell);
}

function isText(column: string): boolean {
  return column === "ends" || column === "service" || column === "point";
}

function width(column: string): string {
  if (column === "ends") return "minmax(20em, 1fr)";
  if (column === "point") return "9em";
  if (column.startsWith("lost_")) return "7.8em";
  if (column === "goodput" || column === "messages" || column === "packets" || column === "start_ns") return "7em";
  if (column === "service") return "3.6em";
  return column === "bytes" || column === "stream" || column.endsWith("_ns") || column === "resent" ? "6em" : "4.6em";
}

const kAlways = new Set(["stream", "ends", "packets"]);

export const kConnections: TableLook = {
  label: "Connections",
  placeholder: "Filter: an address, or lost_before>0",
  key: "",
  isKept: (column) => kAlways.has(column),
  heading: (column) => kHeadings[column] ?? column,
  text: cellText,
  isText,
  width,
  span: ["start_ns", "duration_ns"],
  tone: (column) => (kBad.has(column) ? "bad" : kCaution.has(column) ? "caution" : ""),
};
