// SPDX-License-Identifier: BSD-2-Clause
// Puts the page together.
import { BandPlot } from "./band.ts";
import { setPrinting } from "./chart.ts";
import { CongestionView } from "./congestion.ts";
import { element } from "./dom.ts";
import { hosts } from "./hosts.ts";
import { latency } from "./latency.ts";
import { live } from "./live.ts";
import { PauseView } from "./pauses.ts";
import { Plot, zoomButtons } from "./plot.ts";
import { plotInfo, plotOrder } from "./plot_info.ts";
import { points } from "./points.ts";
import { PsnView } from "./psn.ts";
import { SlowestView } from "./slowest.ts";
import { StreamTable } from "./table.ts";
import { findings, lacks, top } from "./top.ts";
import type { Report } from "./types.ts";
import { View } from "./view.ts";

function section(id: string, title: string, ...children: (Node | null)[]): HTMLElement {
  return element("section", { id }, element("h2", {}, title), ...children);
}

function optional(part: HTMLElement | null, wrap = (each: HTMLElement) => each): HTMLElement[] {
  return part === null ? [] : [wrap(part)];
}

function show(report: Report): void {
  const { timeline, streams } = report;
  const finest = timeline.levels[0] ?? { width_ns: 1, size: 1 };
  const view = new View(Math.max(1, finest.width_ns * finest.size));
  view.read(location.hash);
  const table = new StreamTable(streams, view);
  const psn = new PsnView(report, view);
  const congestion = new CongestionView(report, view);
  const pauses = new PauseView(report, view);
  const slowest = new SlowestView(report, view);
  const band = new BandPlot(timeline, view);
  const drawn = timeline.series.filter((series) => series.measure !== "time").sort((a, b) => plotOrder(a.name) - plotOrder(b.name));
  const plots = drawn.filter((series) => series.total !== 0).map((series) => new Plot(series, timeline, view));
  const none = drawn.filter((series) => series.total === 0).map((series) => plotInfo(series.name).title.toLowerCase().replace(/\b(nak|rnr|cnp|ce)\b/g, (word) => word.toUpperCase()));

  const place = document.getElementById("report");
  if (place === null) return;
  document.title = `RoCE report: ${report.summary.capture.files.map((file) => file.file).join(", ")}`;
  const left = streams.left_out === 0 ? null : element("p", { class: "hint" }, `${streams.left_out} more, less bad than these, are left out: roce-analyze streams lists them.`);
  place.append(
    ...(report.live ? [live()] : []),
    top(report),
    ...optional(points(report), (part) => section("points", "From point to point", element("p", { class: "hint" }, "The packets that passed one capture point on their way to the next."), part)),
    section("findings", "Findings", findings(report, (stream) => table.showOnly(stream))),
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
    ...optional(latency(report), (part) => section("latency", "Latency of messages", part)),
    ...optional(slowest.isEmpty ? null : section("slowest", "Slowest messages", element("p", { class: "hint" }, "From the first packet to the answer. A ladder shows the packets of both hosts in that time; those of the message are bold."), slowest.root)),
    ...optional(hosts(report), (part) => section("hosts", "Who with whom", part)),
    section("connections", "Connections", table.root, left),
    element("footer", {}, `Made by ${report.program}. Plots: uPlot, whose licence is in this file.`),
  );
  const draw = () => [...plots, ...(band.isEmpty ? [] : [band]), congestion, pauses, psn].forEach((part) => part.draw());
  draw();
  table.drawRows();
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  for (const [event, isPrinting] of [
    ["beforeprint", true],
    ["afterprint", false],
  ] as const) {
    addEventListener(event, () => {
      setPrinting(isPrinting);
      document.documentElement.toggleAttribute("data-printing", isPrinting);
      draw();
      table.drawRows();
    });
  }
  addEventListener("hashchange", () => view.read(location.hash));
  document.documentElement.dataset["ready"] = "yes";
}

show(JSON.parse(document.getElementById("data")?.textContent ?? "null") as Report);
