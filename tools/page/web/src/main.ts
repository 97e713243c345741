// SPDX-License-Identifier: BSD-2-Clause
// Puts the page together.
import { element } from "./dom.ts";
import { Plot, zoomButtons } from "./plot.ts";
import { plotInfo, plotOrder } from "./plot_info.ts";
import { StreamTable } from "./table.ts";
import { findings, lacks, top } from "./top.ts";
import type { Report } from "./types.ts";
import { View } from "./view.ts";

function section(id: string, title: string, ...children: (Node | null)[]): HTMLElement {
  return element("section", { id }, element("h2", {}, title), ...children);
}

function show(report: Report): void {
  const { timeline, streams } = report;
  const finest = timeline.levels[0] ?? { width_ns: 1, size: 1 };
  const view = new View(Math.max(1, finest.width_ns * finest.size));
  view.read(location.hash);
  const table = new StreamTable(streams, view);
  const drawn = [...timeline.series].sort((a, b) => plotOrder(a.name) - plotOrder(b.name));
  const plots = drawn.filter((series) => series.total !== 0).map((series) => new Plot(series, timeline, view));
  const none = drawn.filter((series) => series.total === 0).map((series) => plotInfo(series.name).title.toLowerCase().replace(/\b(nak|rnr|cnp|ce)\b/g, (word) => word.toUpperCase()));

  const place = document.getElementById("report");
  if (place === null) return;
  document.title = `RoCE report: ${report.summary.capture.files.map((file) => file.file).join(", ")}`;
  const left = streams.left_out === 0 ? null : element("p", { class: "hint" }, `${streams.left_out} more, less bad than these, are left out: roce-analyze streams lists them.`);
  place.append(
    top(report),
    section("findings", "Findings", findings(report, (stream) => table.showOnly(stream))),
    ...[lacks(report)].filter((part) => part !== null),
    section(
      "time",
      "Over time",
      element("p", { class: "hint" }, `Seconds since ${timeline.start}. Drag to zoom, double-click for the whole time; with the keyboard: arrows, + and −, 0. The address of the page keeps the view.`),
      plots.length === 0 ? null : zoomButtons(view),
      ...plots.map((plot) => plot.root),
      none.length === 0 ? null : element("p", { class: "none" }, `Not in the capture: ${none.join(", ")}.`),
    ),
    section("connections", "Connections", table.root, left),
    element("footer", {}, `Made by ${report.program}. Plots: uPlot, whose licence is in this file.`),
  );
  const draw = () => plots.forEach((plot) => plot.draw());
  draw();
  table.drawRows();
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("hashchange", () => view.read(location.hash));
  document.documentElement.dataset["ready"] = "yes";
}

show(JSON.parse(document.getElementById("data")?.textContent ?? "null") as Report);
