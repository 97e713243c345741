// SPDX-License-Identifier: BSD-2-Clause
// One plot over the common time axis: uPlot has the axes, the cursor and the selection; the columns are drawn here.
import type uPlot from "uplot";
import { colourOf, pixelRatio } from "./chart.ts";
import { SeriesColumns, type Column } from "./columns.ts";
import { button, element, isOnScreen } from "./dom.ts";
import * as format from "./format.ts";
import { IntervalFrame } from "./interval_frame.ts";
import { heights, heightText, plotInfo, plotOrder, sentence, sumText, totalText } from "./plot_info.ts";
import type { Series, Timeline } from "./types.ts";
import { moved, zoomed, type View } from "./view.ts";

const kHeight = 112;
const kRows = 200;
// Steps of an axis that counts.
const kWhole = Array.from({ length: 15 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** i)).flat();

export class Plot {
  readonly root: HTMLElement;
  private readonly columns: SeriesColumns;
  private readonly frame: IntervalFrame<Column>;
  private readonly inView = element("span", { class: "total in-view" });

  constructor(
    series: Series,
    private readonly timeline: Timeline,
    private readonly view: View,
  ) {
    this.columns = new SeriesColumns(series, timeline);
    const info = plotInfo(series.name);
    this.frame = new IntervalFrame(view, {
      height: kHeight,
      y: { ...(this.isWhole ? { incrs: kWhole } : {}), values: (_, splits) => splits.map((at) => heightText(this.columns, at)) },
      range: (highest) => [0, this.top(highest)],
      intervals: (width) => this.columns.columns(view.range.begin, view.range.end, width),
      highest: (column) => heights(column, this.columns, timeline).high,
      paint: (chart, shown) => this.paint(chart, shown),
      text: (column) => this.columnText(column),
      sentence: () => sentence(this.columns, timeline, view.range.begin, view.range.end),
      rows: () => this.columns.columns(view.range.begin, view.range.end, kRows),
      columns: () => [[info.title, (column) => this.columnText(column)]],
    });
    this.root = element(
      "section",
      { class: "plot", "data-series": series.name },
      element(
        "header",
        {},
        element("h3", {}, element("span", { class: "swatch", "data-colour": info.colour }), info.title),
        element("span", { class: "total", "data-exact": series.total }, totalText(this.columns)),
        this.inView,
        this.frame.readout,
      ),
      this.frame.picture,
      this.frame.data,
    );
    view.onChange(() => this.update(), () => isOnScreen(this.root));
    this.count();
  }

  /** Draws; to be called when the plot is in the document. */
  draw(): void {
    this.frame.draw();
  }

  private update(): void {
    this.count();
    this.frame.update();
  }

  private count(): void {
    const { begin, end } = this.view.range;
    this.inView.textContent = this.view.isWhole ? "" : `, ${sumText(this.columns, begin, end)} in the time shown`;
  }

  private get isWhole(): boolean {
    return this.columns.measure === "count" || this.columns.measure === "level";
  }

  private top(highest: number | null): number {
    if (highest === null || highest <= 0) return 1;
    if (this.isWhole) return Math.max(highest * 1.1, 2);
    return highest * 1.1;
  }

  // A column is at least two pixels high and wide: a single event of an hour is seen.
  private paint(chart: uPlot, shown: Column[]): void {
    const { ctx } = chart;
    const ratio = pixelRatio();
    const x = (ns: number) => chart.valToPos(ns / 1e9, "x", true);
    const y = (value: number) => chart.valToPos(value, "y", true);
    ctx.fillStyle = colourOf(plotInfo(this.columns.series.name).colour);
    for (const column of shown) {
      const { low, high, mean } = heights(column, this.columns, this.timeline);
      const left = Math.round(x(column.begin));
      const width = Math.round(x(column.end)) - left;
      const bar = (from: number, to: number, alpha: number) => {
        const bottom = Math.round(y(from));
        const top = Math.min(Math.round(y(to)), bottom - 2 * ratio);
        ctx.globalAlpha = alpha;
        ctx.fillRect(left, top, Math.max(width, 2 * ratio), bottom - top);
      };
      if (this.columns.measure === "rate") {
        bar(0, mean, 0.55);
        if (high > mean) bar(mean, high, 0.25);
        bar(high, high, 1);
      } else {
        if (this.columns.measure === "level" && low > 0) bar(0, low, 0.25);
        bar(low, high, 1);
      }
    }
  }

  private columnText(column: Column): string {
    const { low, high, mean } = heights(column, this.columns, this.timeline);
    const text = (value: number) => heightText(this.columns, value);
    if (this.columns.measure === "count") return format.count(column.sum);
    if (this.columns.measure === "rate") return high > low ? `${text(mean)} (${text(low)} to ${text(high)})` : text(mean);
    if (this.columns.measure === "level") return high > low ? `${text(low)} to ${text(high)}` : text(high);
    return high > low ? `${text(low)} to ${text(high)}, ${format.count(column.count)} messages` : text(high);
  }
}

/** The plots of a timeline from top to bottom, and the names of those that have nothing. */
export function plotsOf(timeline: Timeline, view: View): { plots: Plot[]; none: string[] } {
  const drawn = timeline.series.filter((series) => series.measure !== "time").sort((a, b) => plotOrder(a.name) - plotOrder(b.name));
  const plots = drawn.filter((series) => series.total !== 0).map((series) => new Plot(series, timeline, view));
  const none = drawn.filter((series) => series.total === 0).map((series) => plotInfo(series.name).title.toLowerCase().replace(/\b(nak|rnr|cnp|ce)\b/g, (word) => word.toUpperCase()));
  return { plots, none };
}

/** The buttons above the plots. */
export function zoomButtons(view: View): HTMLElement {
  const range = element("span", { class: "range", "aria-live": "polite" });
  const whole = button("Whole time", () => view.showAll());
  const update = () => {
    const { begin, end } = view.range;
    range.textContent = `${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s (${format.duration(end - begin)})`;
    whole.disabled = view.isWhole;
  };
  view.onChange(update);
  update();
  return element(
    "div",
    { class: "toolbar", role: "group", "aria-label": "Time shown" },
    button("Closer", () => view.show(zoomed(view.range, 0.5))),
    button("Farther", () => view.show(zoomed(view.range, 2))),
    button("Earlier", () => view.show(moved(view.range, -0.5))),
    button("Later", () => view.show(moved(view.range, 0.5))),
    whole,
    range,
  );
}
