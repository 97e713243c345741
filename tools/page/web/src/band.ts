// SPDX-License-Identifier: BSD-2-Clause
// A band of shares over the common time axis: what requesters waited for.
import type uPlot from "uplot";
import { colourOf, pixelRatio } from "./chart.ts";
import { element, isOnScreen } from "./dom.ts";
import * as format from "./format.ts";
import { IntervalFrame } from "./interval_frame.ts";
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
  private readonly frame: IntervalFrame<WaitColumn>;

  constructor(
    timeline: Timeline,
    private readonly view: View,
  ) {
    this.columns = new WaitColumns(timeline.series, timeline);
    this.frame = new IntervalFrame(view, {
      kind: "band",
      height: kHeight,
      y: { values: (_, splits) => splits.map((at) => format.percent(at)) },
      range: () => [0, 1],
      intervals: (width) => this.columns.columns(view.range.begin, view.range.end, width),
      highest: () => 1,
      paint: (chart, shown) => this.paint(chart, shown),
      text: (column) => column.times.map((time, wait) => (time === 0 ? "" : `${kWaits[wait]?.title ?? ""} ${shareText(time, column.all)}`)).filter((text) => text !== "").join(", "),
      sentence: () => this.sentence(),
      rows: () => this.columns.columns(view.range.begin, view.range.end, kRows),
      columns: () => kWaits.flatMap(({ title }, wait): [string, (column: WaitColumn) => string][] => (this.columns.totals[wait] === 0 ? [] : [[title, (column) => shareText(column.times[wait] ?? 0, column.all)]])),
    });
    const uncounted = timeline.waits_left_out ?? 0;
    const left = uncounted === 0 ? null : element("p", { class: "hint" }, `${format.counted(uncounted, "packet", "packets")} of further requesters are not counted: there are too many.`);
    this.root = element(
      "section",
      { class: "plot", "data-series": "waits" },
      element("header", {}, element("h3", {}, "Limited by"), element("span", { class: "total", "data-exact": this.columns.total }, `${format.duration(this.columns.total)} of requesters`), this.frame.readout),
      this.legend(),
      this.frame.picture,
      left,
      this.frame.data,
    );
    view.onChange(() => this.frame.update(), () => isOnScreen(this.root));
    this.frame.describe();
  }

  get isEmpty(): boolean {
    return this.columns.total === 0;
  }

  draw(): void {
    this.frame.draw();
  }

  private sentence(): string {
    const { begin, end } = this.view.range;
    const parts = sums(this.columns.columns(begin, end, 1024));
    const all = parts.reduce((sum, part) => sum + part, 0);
    const words = parts
      .map((part, wait) => ({ part, text: `${kWaits[wait]?.title ?? ""} ${shareText(part, all)}` }))
      .filter((each) => each.part !== 0)
      .sort((a, b) => b.part - a.part)
      .map((each) => each.text);
    return `Limited by, ${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s: ${words.length === 0 ? "nothing" : words.join(", ")}.`;
  }

  private legend(): HTMLElement {
    const keys = kWaits.map((wait, i) => {
      const total = this.columns.totals[i] ?? 0;
      if (total === 0) return null;
      return element("span", { class: "key", "data-wait": wait.name, "data-exact": total }, element("span", { class: `swatch ${wait.fill}`, "data-colour": wait.colour }), `${wait.title} ${shareText(total, this.columns.total)}`);
    });
    return element("div", { class: "legend" }, ...keys);
  }

  private paint(chart: uPlot, shown: WaitColumn[]): void {
    const { ctx, bbox } = chart;
    const ratio = pixelRatio();
    const bottom = Math.round(bbox.top + bbox.height);
    const fills = kWaits.map((wait) => paintOf(ctx, colourOf(wait.colour), wait.fill, ratio));
    for (const column of shown) {
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
}
