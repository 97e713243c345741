// SPDX-License-Identifier: BSD-2-Clause
// The page of a run of roce-conform: numbers by area, each deviation with its ladder, and every instance.
import { AreaMatrix } from "./areas.ts";
import { deviations } from "./deviations.ts";
import { element } from "./dom.ts";
import { figureTables, lookOf } from "./figure_tables.ts";
import { follow, optional, section } from "./page.ts";
import type { TableLook } from "./row_table.ts";
import { head } from "./top.ts";
import type { Conformance } from "./conform_types.ts";
import type { RunTable } from "./types.ts";
import { kNoTimeline, viewOf } from "./view.ts";

const kPlaceholders: Record<string, string> = {
  instances: "Filter: a rule, a field, or verdict=fail",
};
const kNarrow = new Set(["verdict", "level", "area", "was", "is", "change"]);
const kWide = new Set(["instance", "seen", "expected", "message", "says", "title"]);

function look(table: RunTable): TableLook {
  const common = lookOf(table);
  const width = (column: string) => (kNarrow.has(column) ? "7em" : kWide.has(column) ? "minmax(16em, 1fr)" : common.width(column));
  const tone = (column: string, cell: string | number | null) => (cell === "fail" || cell === "now fails" ? "bad" : cell === "deviates" ? "caution" : common.tone(column, cell));
  return { ...common, width, tone, placeholder: kPlaceholders[table.id] ?? common.placeholder };
}

function show({ run, areas, deviations: deviating, left_out: leftOut }: Conformance): void {
  const place = document.getElementById("report");
  if (place === null) return;
  document.title = run.title;
  const view = viewOf(kNoTimeline);
  const tables = figureTables(run.tables, view, look);
  const instances = tables.find((table) => table.id === "instances")?.rows;
  const matrix = new AreaMatrix(areas, (filter) => instances?.showOnly(filter));
  place.append(
    head(run.title, { severity: run.severity, text: run.verdict }, run.severity === "note" ? "clean" : run.severity, run.statements, run.facts),
    section("areas", "Results by area", element("p", { class: "hint" }, "A click on a number shows its instances in the table below."), matrix.root),
    ...optional(deviations(deviating, leftOut, view), (part) => section("deviations", "Deviations", part)),
    ...tables.map((table) => table.root),
    element("footer", {}, `Made by ${run.program}.`),
  );
  follow(
    view,
    [],
    tables.map((table) => table.rows),
  );
}

show(JSON.parse(document.getElementById("data")?.textContent ?? "null") as Conformance);
