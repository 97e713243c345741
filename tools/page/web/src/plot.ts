// SPDX-License-Identifier: BSD-2-Clause
// One plot over the common time axis: uPlot has the axes, the cursor and the selection; the columns are drawn here.
import uPlot from "uplot";
import { SeriesColumns, type Column } from "./columns.ts";
import { button, element } from "./dom.ts";
import * as format from "./format.ts";
import { heights, heightText, plotInfo, sentence, totalText } from "./plot_info.ts";
import type { Series, Timeline } from "./types.ts";
import { moved, zoomed, type View } from "./view.ts";

const kHeight = 112;
const kAxis = 72;
const kRows = 200;
// Steps of an axis that counts.
const kWhole = Array.from({ length: 15 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** i)).flat();

export class Plot {
  readonly root: HTMLElement;
  private readonly columns: SeriesColumns;
  private readonly picture = element("div", { class: "picture", role: "img", tabindex: 0 });
  private readonly readout = element("output", { class: "readout" });
  private readonly data = element("details", { class: "data" }, element("summary", {}, "Data"));
  private chart: uPlot | undefined;
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
    this.data.addEventListener("toggle", () => this.fillData());
    this.picture.addEventListener("keydown", (event) => this.onKey(event));
    view.onChange(() => this.update());
  }

  /** Draws; to be called when the plot is in the document. */
  draw(): void {
    const width = this.picture.clientWidth;
    if (this.chart === undefined) {
      this.chart = new uPlot(this.options(width), this.values(), this.picture);
      this.update();
    } else if (this.chart.width !== width) {
      this.chart.setSize({ width, height: kHeight });
      this.update();
    } else {
      this.chart.redraw(false, true);
    }
  }

  private update(): void {
    const { begin, end } = this.view.range;
    const text = sentence(this.columns, this.timeline, begin, end);
    this.picture.setAttribute("aria-label", text);
    if (this.data.open) this.fillData();
    if (this.chart === undefined) return;
    this.chart.batch(() => {
      this.chart?.setData(this.values(), false);
      this.chart?.setScale("x", { min: begin / 1e9, max: end / 1e9 });
    });
  }

  private values(): uPlot.AlignedData {
    const { begin, end } = this.view.range;
    const most = Math.max(100, this.picture.clientWidth - kAxis);
    this.shown = this.columns.columns(begin, end, most);
    const times = this.shown.map((column) => (column.begin + column.end) / 2e9);
    return [times, this.shown.map((column) => heights(column, this.columns, this.timeline).high)];
  }

  private options(width: number): uPlot.Options {
    const colour = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name);
    const axis = { stroke: colour("--faint"), font: "12px system-ui, sans-serif", grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false } };
    return {
      width,
      height: kHeight,
      legend: { show: false },
      padding: [8, 28, 0, 0],
      scales: {
        x: { time: false, range: () => [this.view.range.begin / 1e9, this.view.range.end / 1e9] },
        y: { range: (_, __, highest) => [0, this.top(highest)] },
      },
      axes: [
        { ...axis, size: 26, gap: 8, space: 90, values: (_, splits) => splits.map((at) => `${format.seconds(at, (splits[1] ?? 1) - (splits[0] ?? 0))} s`) },
        { ...axis, size: kAxis, gap: 6, space: 36, incrs: this.columns.measure === "count" ? kWhole : undefined, values: (_, splits) => splits.map((at) => heightText(this.columns, at)) },
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      cursor: {
        y: false,
        // The others follow the view, and would otherwise zoom into the selection once more.
        sync: { key: "time", filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
        drag: { x: true, y: false, setScale: false },
        points: { show: false },
        bind: {
          dblclick: () => () => {
            this.view.showAll();
            return null;
          },
        },
      },
      hooks: {
        draw: [(chart) => this.paint(chart)],
        setSelect: [(chart) => this.select(chart)],
        setCursor: [(chart) => this.point(chart)],
      },
    };
  }

  private top(highest: number | null): number {
    if (highest === null || highest <= 0) return 1;
    if (this.columns.measure === "count") return Math.max(highest * 1.1, 2);
    return highest * 1.1;
  }

  // A column is at least two pixels high and wide: a single event of an hour is seen.
  private paint(chart: uPlot): void {
    const { ctx, bbox } = chart;
    const ratio = devicePixelRatio || 1;
    const colour = getComputedStyle(document.documentElement).getPropertyValue(plotInfo(this.columns.series.name).colour);
    const x = (ns: number) => chart.valToPos(ns / 1e9, "x", true);
    const y = (value: number) => chart.valToPos(value, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = colour;
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
        bar(low, high, 1);
      }
    }
    ctx.restore();
  }

  private select(chart: uPlot): void {
    const { left, width } = chart.select;
    if (width < 2) return;
    const range = { begin: chart.posToVal(left, "x") * 1e9, end: chart.posToVal(left + width, "x") * 1e9 };
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.view.show(range);
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
    return high > low ? `${text(low)} to ${text(high)}, ${format.count(column.count)} messages` : text(high);
  }

  private onKey(event: KeyboardEvent): void {
    const range = this.view.range;
    const next = {
      ArrowLeft: moved(range, -0.25),
      ArrowRight: moved(range, 0.25),
      "+": zoomed(range, 0.5),
      "=": zoomed(range, 0.5),
      "-": zoomed(range, 2),
      "0": { begin: 0, end: this.view.whole },
    }[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.view.show(next);
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
