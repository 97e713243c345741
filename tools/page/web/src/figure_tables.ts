// SPDX-License-Identifier: BSD-2-Clause
// Tables to sort and filter whose columns say the form of their numbers.
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { section } from "./page.ts";
import { RowTable, type TableLook } from "./row_table.ts";
import type { Cell, RunTable } from "./types.ts";
import type { View } from "./view.ts";

const kUnits = /_(ns|bps|bytes)$/;

export function valueText(kind: RunTable["kinds"][number], cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell === "string") return cell;
  if (kind === "ns") return format.duration(cell);
  if (kind === "bps") return format.bitRate(cell);
  if (kind === "bytes") return format.bytes(cell);
  if (kind === "ratio") return cell.toFixed(2);
  if (kind === "share") return cell === 0 ? "–" : format.percent(cell);
  return cell === 0 ? "–" : format.count(cell);
}

export function lookOf(table: RunTable): TableLook {
  const heading = (column: string) => column.replace(kUnits, "").replace(/_/g, " ");
  const kindOf = (column: string) => table.kinds[table.columns.indexOf(column)] ?? "text";
  return {
    label: table.title,
    placeholder: "Filter: a name, or a condition such as " + (table.columns.find((_, i) => table.kinds[i] !== "text") ?? "count") + ">0",
    key: `${table.id}-`,
    isKept: (column) => table.columns.indexOf(column) === 0 && column !== "point",
    heading,
    text: (column, cell) => valueText(kindOf(column), cell),
    isText: (column) => kindOf(column) === "text",
    width: (column) => (kindOf(column) === "text" ? "minmax(9em, 1fr)" : `${Math.max(kindOf(column) === "bps" ? 7.5 : 6, heading(column).length * 0.6 + 1.5)}em`),
    tone: (column) => (kindOf(column) === "bad" ? "bad" : ""),
  };
}

export interface FiguresTable {
  id: string;
  root: HTMLElement;
  rows: RowTable;
}

/** Those that have any rows, each as a section. */
export function figureTables(tables: RunTable[], view: View, look = lookOf): FiguresTable[] {
  return tables
    .filter((table) => table.rows.length !== 0)
    .map((table) => {
      const rows = new RowTable(table, view, look(table));
      const said = (table.statements ?? []).map((statement) => element("li", { class: statement.severity }, statement.text));
      const statements = said.length === 0 ? null : element("ul", { class: "statements" }, ...said);
      return { id: table.id, rows, root: section(table.id, table.title, table.hint === "" ? null : element("p", { class: "hint" }, table.hint), statements, rows.root) };
    });
}
