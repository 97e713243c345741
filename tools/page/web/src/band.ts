// SPDX-License-Identifier: BSD-2-Clause
// A band of shares over the common time axis: what requesters waited for.
import type uPlot from "uplot";
import { Chart, colourOf, onKey, pixelRatio } from "./chart.ts";
import { element, isOnScreen } from "./dom.ts";
import * as format from "./format.ts";
import type { Timeline } from "./types.ts";
import type { View } from "./view.ts";
import { edges, kWaits, sums, WaitColumns, type Fill, type WaitColumn } from "./waits.ts";

const kHeight = 150;
const kRows = 200;
const kTile = 6;

/** A colour as it is, or in a pattern that tells two of the same lightness apart. */
function paintOf(ctx: CanvasRenderingContext2D, colour: string, fill: Fill, ratio: number): string | CanvasPattern {
  if (fill === "solid") return colour;
  const tile = document.createElement("canvas");
  const size = (tile.width = tile.height = Math.round(kTile * ratio));
  const brush = tile.getContext("2d");
  if (brush === null) return colour;
  brush.strokeStyle = brush.fillStyle = colour;
  if (fill === "hatched") {
    brush.lineWidth = size / 3;
    for (const shift of [-size, 0, size]) {
      brush.beginPath();
      brush.moveTo(shift - 1, size + 1);
      brush.lineTo(shift + size + 1, -1);
      brush.stroke();
    }
  } else if (fill === "barred") {
    brush.fillRect(0, 0, Math.ceil(size / 2), size);
  } else {
    for (const [x, y] of [
      [0.25, 0.25],
      [0.75, 0.75],
    ] as const) {
      brush.beginPath();
      brush.arc(x * size, y * size, size * 0.22, 0, 2 * Math.PI);
      brush.fill();
    }
  }
  return ctx.createPattern(tile, "repeat") ?? colour;
}

function shareText(part: number, all: number): string {
  return all === 0 ? "–" : format.percent(part / all);
}

export class BandPlot {
  readonly root: HTMLElement;
  private readonly columns: WaitColumns;
  private readonly picture = element("div", { class: "picture band", role: "img", tabindex: 0 });
  private readonly readout = element("output", { class: "readout" });
  private readonly data = element("details", { class: "data" }, element("summary", {}, "Data"));
  private readonly chart: Chart;
  private shown: WaitColumn[] = [];

  constructor(
    timeline: Timeline,
    private readonly view: View,
  ) {
    this.columns = new WaitColumns(timeline.series, timeline);
    const left = timeline.waits_left_out === 0 ? null : element("p", { class: "hint" }, `${format.counted(timeline.waits_left_out, "packet", "packets")} of further requesters are not counted: there are too many.`);
    this.root = element(
      "section",
      { class: "plot", "data-series": "waits" },
      element("header", {}, element("h3", {}, "Limited by"), element("span", { class: "total", "data-exact": this.columns.total }, `${format.duration(this.columns.total)} of requesters`), this.readout),
      this.legend(),
      this.picture,
      left,
      this.data,
    );
    this.chart = new Chart(this.picture, view, () => ({
      height: kHeight,
      space: 36,
      y: { values: (_, splits) => splits.map((at) => format.percent(at)) },
      range: () => [0, 1],
      paint: (chart) => this.paint(chart),
      point: (chart) => this.point(chart),
    }));
    this.data.addEventListener("toggle", () => this.fillData());
    this.picture.addEventListener("keydown", (event) => onKey(event, view));
    view.onChange(() => this.update(), () => isOnScreen(this.root));
    this.describe();
  }

  get isEmpty(): boolean {
    return this.columns.total === 0;
  }

  draw(): void {
    this.chart.draw(this.values());
    this.describe();
  }

  private update(): void {
    this.chart.show(this.values());
    this.describe();
    if (this.data.open) this.fillData();
  }

  private values(): uPlot.AlignedData {
    const { begin, end } = this.view.range;
    this.shown = this.columns.columns(begin, end, this.chart.width);
    return [this.shown.map((column) => (column.begin + column.end) / 2e9), this.shown.map(() => 1)];
  }

  private describe(): void {
    const { begin, end } = this.view.range;
    const parts = sums(this.columns.columns(begin, end, 1024));
    const all = parts.reduce((sum, part) => sum + part, 0);
    const words = parts
      .map((part, wait) => ({ part, text: `${kWaits[wait]?.title ?? ""} ${shareText(part, all)}` }))
      .filter((each) => each.part !== 0)
      .sort((a, b) => b.part - a.part)
      .map((each) => each.text);
    this.picture.setAttribute("aria-label", `Limited by, ${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s: ${words.length === 0 ? "nothing" : words.join(", ")}.`);
  }

  private legend(): HTMLElement {
    const keys = kWaits.map((wait, i) => {
      const total = this.columns.totals[i] ?? 0;
      if (total === 0) return null;
      return element("span", { class: "key", "data-wait": wait.name, "data-exact": total }, element("span", { class: `swatch ${wait.fill}`, "data-colour": wait.colour }), `${wait.title} ${shareText(total, this.columns.total)}`);
    });
    return element("div", { class: "legend" }, ...keys);
  }

  private paint(chart: uPlot): void {
    const { ctx, bbox } = chart;
    const ratio = pixelRatio();
    const bottom = Math.round(bbox.top + bbox.height);
    const fills = kWaits.map((wait) => paintOf(ctx, colourOf(wait.colour), wait.fill, ratio));
    for (const column of this.shown) {
      const left = Math.round(chart.valToPos(column.begin / 1e9, "x", true));
      const width = Math.max(Math.round(chart.valToPos(column.end / 1e9, "x", true)) - left, Math.round(2 * ratio));
      const places = edges(column, Math.round(bbox.height), 2 * ratio);
      fills.forEach((fill, wait) => {
        const from = places[wait] ?? 0;
        const to = places[wait + 1] ?? from;
        if (to <= from) return;
        ctx.fillStyle = fill;
        ctx.fillRect(left, bottom - to, width, to - from);
      });
    }
  }

  private point(chart: uPlot): void {
    const left = chart.cursor.left ?? -1;
    const at = chart.posToVal(left, "x") * 1e9;
    const column = left < 0 ? undefined : this.shown.find((each) => at >= each.begin && at < each.end);
    if (column === undefined) {
      this.readout.textContent = "";
      return;
    }
    const step = (this.view.range.end - this.view.range.begin) / 1e12;
    const words = column.times.map((time, wait) => (time === 0 ? "" : `${kWaits[wait]?.title ?? ""} ${shareText(time, column.all)}`)).filter((text) => text !== "");
    this.readout.textContent = `${format.seconds(at / 1e9, step)} s: ${words.join(", ")}`;
  }

  private fillData(): void {
    this.data.querySelector("table")?.remove();
    if (!this.data.open) return;
    const { begin, end } = this.view.range;
    const kept = kWaits.map((_, wait) => wait).filter((wait) => this.columns.totals[wait] !== 0);
    const rows = this.columns
      .columns(begin, end, kRows)
      .map((column) =>
        element("tr", {}, element("td", {}, format.seconds(column.begin / 1e9, 1e-9)), element("td", {}, format.duration(column.end - column.begin)), ...kept.map((wait) => element("td", { class: "number" }, shareText(column.times[wait] ?? 0, column.all)))),
      );
    const head = ["from (s)", "for", ...kept.map((wait) => kWaits[wait]?.title ?? "")];
    this.data.append(element("table", {}, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: i < 2 ? "" : "number" }, text)))), element("tbody", {}, ...rows)));
  }
}

