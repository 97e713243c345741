// SPDX-License-Identifier: BSD-2-Clause
// One plot over the common time axis: uPlot has the axes, the cursor and the selection; the columns are drawn here.
import type uPlot from "uplot";
import { Chart, colourOf, onKey, pixelRatio } from "./chart.ts";
import { SeriesColumns, type Column } from "./columns.ts";
import { button, element, isOnScreen } from "./dom.ts";
import * as format from "./format.ts";
import { heights, heightText, plotInfo, sentence, totalText } from "./plot_info.ts";
import type { Series, Timeline } from "./types.ts";
import { moved, zoomed, type View } from "./view.ts";

const kHeight = 112;
const kRows = 200;
// Steps of an axis that counts.
const kWhole = Array.from({ length: 15 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** i)).flat();

export class Plot {
  readonly root: HTMLElement;
  private readonly columns: SeriesColumns;
  private readonly picture = element("div", { class: "picture", role: "img", tabindex: 0 });
  private readonly readout = element("output", { class: "readout" });
  private readonly data = element("details", { class: "data" }, element("summary", {}, "Data"));
  private readonly chart: Chart;
  private shown: Column[] = [];

  constructor(
    series: Series,
    private readonly timeline: Timeline,
    private readonly view: View,
  ) {
    this.columns = new SeriesColumns(series, timeline);
    const info = plotInfo(series.name);
    this.root = element(
      "section",
      { class: "plot", "data-series": series.name },
      element(
        "header",
        {},
        element("h3", {}, element("span", { class: "swatch", "data-colour": info.colour }), info.title),
        element("span", { class: "total", "data-exact": series.total }, totalText(this.columns)),
        this.readout,
      ),
      this.picture,
      this.data,
    );
    this.chart = new Chart(this.picture, view, () => ({
      height: kHeight,
      space: 36,
      y: { ...(this.isWhole ? { incrs: kWhole } : {}), values: (_, splits) => splits.map((at) => heightText(this.columns, at)) },
      range: (highest) => [0, this.top(highest)],
      paint: (chart) => this.paint(chart),
      point: (chart) => this.point(chart),
    }));
    this.data.addEventListener("toggle", () => this.fillData());
    this.picture.addEventListener("keydown", (event) => onKey(event, view));
    view.onChange(() => this.update(), () => isOnScreen(this.root));
  }

  /** Draws; to be called when the plot is in the document. */
  draw(): void {
    this.chart.draw(this.values());
    this.describe();
  }

  private update(): void {
    this.chart.show(this.values());
    this.describe();
    if (this.data.open) this.fillData();
  }

  private describe(): void {
    const { begin, end } = this.view.range;
    this.picture.setAttribute("aria-label", sentence(this.columns, this.timeline, begin, end));
  }

  private get isWhole(): boolean {
    return this.columns.measure === "count" || this.columns.measure === "level";
  }

  private values(): uPlot.AlignedData {
    const { begin, end } = this.view.range;
    this.shown = this.columns.columns(begin, end, this.chart.width);
    const times = this.shown.map((column) => (column.begin + column.end) / 2e9);
    return [times, this.shown.map((column) => heights(column, this.columns, this.timeline).high)];
  }

  private top(highest: number | null): number {
    if (highest === null || highest <= 0) return 1;
    if (this.isWhole) return Math.max(highest * 1.1, 2);
    return highest * 1.1;
  }

  // A column is at least two pixels high and wide: a single event of an hour is seen.
  private paint(chart: uPlot): void {
    const { ctx } = chart;
    const ratio = pixelRatio();
    const x = (ns: number) => chart.valToPos(ns / 1e9, "x", true);
    const y = (value: number) => chart.valToPos(value, "y", true);
    ctx.fillStyle = colourOf(plotInfo(this.columns.series.name).colour);
    for (const column of this.shown) {
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

  private point(chart: uPlot): void {
    const left = chart.cursor.left ?? -1;
    if (left < 0) {
      this.readout.textContent = "";
      return;
    }
    const at = chart.posToVal(left, "x") * 1e9;
    const column = this.shown.find((each) => at >= each.begin && at < each.end);
    const step = (this.view.range.end - this.view.range.begin) / 1e12;
    const what = column === undefined ? "nothing" : this.columnText(column);
    this.readout.textContent = `${format.seconds(at / 1e9, step)} s: ${what}`;
  }

  private columnText(column: Column): string {
    const { low, high, mean } = heights(column, this.columns, this.timeline);
    const text = (value: number) => heightText(this.columns, value);
    if (this.columns.measure === "count") return format.count(column.sum);
    if (this.columns.measure === "rate") return high > low ? `${text(mean)} (${text(low)} to ${text(high)})` : text(mean);
    if (this.columns.measure === "level") return high > low ? `${text(low)} to ${text(high)}` : text(high);
    return high > low ? `${text(low)} to ${text(high)}, ${format.count(column.count)} messages` : text(high);
  }

  private fillData(): void {
    this.data.querySelector("table")?.remove();
    if (!this.data.open) return;
    const { begin, end } = this.view.range;
    const body = element("tbody");
    for (const column of this.columns.columns(begin, end, kRows)) {
      body.append(
        element("tr", {}, element("td", {}, format.seconds(column.begin / 1e9, 1e-9)), element("td", {}, format.duration(column.end - column.begin)), element("td", {}, this.columnText(column))),
      );
    }
    const headings = ["from (s)", "for", plotInfo(this.columns.series.name).title];
    this.data.append(element("table", {}, element("thead", {}, element("tr", {}, ...headings.map((text) => element("th", { scope: "col" }, text)))), body));
  }
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
