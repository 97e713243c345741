// SPDX-License-Identifier: BSD-2-Clause
// The page of a run of roce-gen: what was asked for, and what happened.
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { latency } from "./latency.ts";
import { follow, optional, section } from "./page.ts";
import { plotsOf, zoomButtons } from "./plot.ts";
import { RowTable, type TableLook } from "./row_table.ts";
import { head } from "./top.ts";
import type { Cell, Run, RunTable, Timeline } from "./types.ts";
import { View, viewOf } from "./view.ts";

const kUnits = /_(ns|bps|bytes)$/;
const kEmpty: Timeline = { start: "", window_ns: 1, levels: [], series: [] };

export function valueText(kind: RunTable["kinds"][number], cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell === "string") return cell;
  if (kind === "ns") return format.duration(cell);
  if (kind === "bps") return format.bitRate(cell);
  if (kind === "bytes") return format.bytes(cell);
  if (kind === "ratio") return cell.toFixed(2);
  return cell === 0 ? "–" : format.count(cell);
}

function lookOf(table: RunTable): TableLook {
  const heading = (column: string) => column.replace(kUnits, "").replace(/_/g, " ");
  const kindOf = (column: string) => table.kinds[table.columns.indexOf(column)] ?? "text";
  return {
    label: table.title,
    placeholder: "Filter: a name, or a condition such as " + (table.columns.find((_, i) => table.kinds[i] !== "text") ?? "count") + ">0",
    key: `${table.id}-`,
    isKept: (column) => table.columns.indexOf(column) === 0,
    heading,
    text: (column, cell) => valueText(kindOf(column), cell),
    isText: (column) => kindOf(column) === "text",
    width: (column) => (kindOf(column) === "text" ? "minmax(9em, 1fr)" : `${Math.max(6, heading(column).length * 0.6 + 1.5)}em`),
    tone: (column) => (kindOf(column) === "bad" ? "bad" : ""),
  };
}

function show(run: Run): void {
  const place = document.getElementById("report");
  if (place === null) return;
  document.title = run.title;
  const timeline = run.timeline ?? kEmpty;
  const view: View = viewOf(timeline);
  const { plots, none } = plotsOf(timeline, view);
  const tables = run.tables.filter((table) => table.rows.length !== 0).map((table) => ({ ...table, shown: new RowTable(table, view, lookOf(table)) }));
  place.append(
    head(run.title, { severity: run.severity, text: run.verdict }, run.severity === "note" ? "clean" : run.severity, run.statements, run.facts),
    ...optional(plots.length === 0 ? null : section("time", "Over time", element("p", { class: "hint" }, `Seconds since ${timeline.start}. Drag to zoom, double-click for the whole time; with the keyboard: arrows, + and −, 0. The address of the page keeps the view.`), zoomButtons(view), ...plots.map((plot) => plot.root), none.length === 0 ? null : element("p", { class: "none" }, `Nothing of: ${none.join(", ")}.`))),
    ...optional(latency(run.times, run.times.kind, run.times.what), (part) => section("times", `Time of ${run.times.what}`, part)),
    ...tables.map((table) => section(table.id, table.title, table.hint === "" ? null : element("p", { class: "hint" }, table.hint), table.shown.root)),
    element("footer", {}, `Made by ${run.program}. Plots: uPlot, whose licence is in this file.`),
  );
  follow(view, plots, tables.map((table) => table.shown));
}

show(JSON.parse(document.getElementById("data")?.textContent ?? "null") as Run);
