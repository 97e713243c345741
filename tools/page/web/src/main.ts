// SPDX-License-Identifier: BSD-2-Clause
// Puts the page together.
import { BandPlot } from "./band.ts";
import { CongestionView } from "./congestion.ts";
import { kConnections } from "./connections.ts";
import { element } from "./dom.ts";
import { figureTables } from "./figure_tables.ts";
import { hosts } from "./hosts.ts";
import { latency } from "./latency.ts";
import { live } from "./live.ts";
import { PauseView } from "./pauses.ts";
import { follow, optional, section } from "./page.ts";
import { plotsOf, zoomButtons } from "./plot.ts";
import { points } from "./points.ts";
import { PsnView } from "./psn.ts";
import { RowTable } from "./row_table.ts";
import { SlowestView } from "./slowest.ts";
import { findings, lacks, top } from "./top.ts";
import type { Report } from "./types.ts";
import { viewOf } from "./view.ts";

function show(report: Report): void {
  const { timeline, streams } = report;
  const view = viewOf(timeline);
  const table = new RowTable(streams, view, kConnections);
  const tables = figureTables(report.tables, view);
  const psn = new PsnView(report, view);
  const congestion = new CongestionView(report, view);
  const pauses = new PauseView(report, view);
  const slowest = new SlowestView(report, view);
  const band = new BandPlot(timeline, view);
  const { plots, none } = plotsOf(timeline, view);

  const showStream = (stream: number) => {
    psn.showStream(stream);
    table.showOnly(`stream=${stream}`);
  };

  const place = document.getElementById("report");
  if (place === null) return;
  document.title = `RoCE report: ${report.summary.capture.files.map((file) => file.file).join(", ")}`;
  const left = streams.left_out === 0 ? null : element("p", { class: "hint" }, `${streams.left_out} more, less bad than these, are left out: roce-analyze streams lists them.`);
  place.append(
    ...(report.live ? [live()] : []),
    top(report, view),
    ...optional(points(report), (part) => section("points", "From point to point", element("p", { class: "hint" }, "The packets that passed one capture point on their way to the next."), part)),
    section("findings", "Findings", findings(report, showStream, view)),
    ...optional(lacks(report)),
    section(
      "time",
      "Over time",
      element("p", { class: "hint" }, `Seconds since ${timeline.start}. Drag to zoom, double-click for the whole time; with the keyboard: arrows, + and −, 0. The address of the page keeps the view.`),
      plots.length === 0 ? null : zoomButtons(view),
      ...plots.slice(0, 1).map((plot) => plot.root),
      band.isEmpty ? null : band.root,
      ...plots.slice(1).map((plot) => plot.root),
      none.length === 0 ? null : element("p", { class: "none" }, `Not in the capture: ${none.join(", ")}.`),
    ),
    ...optional(congestion.isEmpty ? null : section("congestion", "Congestion", element("p", { class: "hint" }, "Marks (CE), the CNPs that answer them, and the rate of the data before and after, in the time shown above."), congestion.root)),
    ...optional(pauses.isEmpty ? null : section("pauses", "Pauses", element("p", { class: "hint" }, "When stations had paused their link partner, in the time shown above."), pauses.root)),
    ...optional(psn.isEmpty ? null : section("psn", "PSN over time", element("p", { class: "hint" }, "The packets of the worst connections, in the time shown above."), psn.root)),
    ...optional(latency(report.latency, "operation", "messages"), (part) => section("latency", "Latency of messages", element("p", { class: "hint" }, "All messages of the capture. Percentiles are counted in classes: they are at most an eighth too high, and never above the greatest time."), part)),
    ...optional(slowest.isEmpty ? null : section("slowest", "Slowest messages", element("p", { class: "hint" }, "From the first packet to the answer. A ladder shows the packets of both hosts in that time; those of the message are bold; each step is as high, however long it took."), slowest.root)),
    ...optional(hosts(report), (part) => section("hosts", "Who with whom", element("p", { class: "hint" }, "Of the whole capture."), part)),
    ...tables.map((each) => each.root),
    section("connections", "Connections", table.root, left),
    element("footer", {}, `Made by ${report.program}. Plots: uPlot, whose licence is in this file.`),
  );
  follow(view, [...plots, ...(band.isEmpty ? [] : [band]), congestion, pauses, psn], [table, ...tables.map((each) => each.rows)]);
}

show(JSON.parse(document.getElementById("data")?.textContent ?? "null") as Report);
