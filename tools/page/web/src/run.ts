// SPDX-License-Identifier: BSD-2-Clause
// The page of a run of roce-gen: what was asked for, and what happened.
import { element } from "./dom.ts";
import { figureTables } from "./figure_tables.ts";
import { latency } from "./latency.ts";
import { follow, optional, section } from "./page.ts";
import { plotsOf, zoomButtons } from "./plot.ts";
import { head } from "./top.ts";
import type { Run } from "./types.ts";
import { kNoTimeline, View, viewOf } from "./view.ts";

function show(run: Run): void {
  const place = document.getElementById("report");
  if (place === null) return;
  document.title = run.title;
  const timeline = run.timeline ?? kNoTimeline;
  const view: View = viewOf(timeline);
  const { plots, none } = plotsOf(timeline, view);
  const tables = figureTables(run.tables, view);
  place.append(
    head(run.title, { severity: run.severity, text: run.verdict }, run.severity === "note" ? "clean" : run.severity, run.statements, run.facts),
    ...optional(plots.length === 0 ? null : section("time", "Over time", element("p", { class: "hint" }, `Seconds since ${timeline.start}. Drag to zoom, double-click for the whole time; with the keyboard: arrows, + and −, 0. The address of the page keeps the view.`), zoomButtons(view), ...plots.map((plot) => plot.root), none.length === 0 ? null : element("p", { class: "none" }, `Nothing of: ${none.join(", ")}.`))),
    ...optional(latency(run.times, run.times.kind, run.times.what), (part) => section("times", `Time of ${run.times.what}`, part)),
    ...tables.map((table) => table.root),
    element("footer", {}, `Made by ${run.program}. Plots: uPlot, whose licence is in this file.`),
  );
  follow(view, plots, tables.map((table) => table.rows));
}

show(JSON.parse(document.getElementById("data")?.textContent ?? "null") as Run);
