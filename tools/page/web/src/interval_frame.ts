// SPDX-License-Identifier: BSD-2-Clause
// A plot of intervals without its drawing: the picture, the words for the interval under the cursor, the numbers as a table.
import type uPlot from "uplot";
import { Chart, onKey, type ChartParts } from "./chart.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import type { View } from "./view.ts";

export interface Interval {
  begin: number; // nanoseconds since the start of the axis
  end: number;
}

export interface IntervalParts<T extends Interval> extends Pick<ChartParts, "height" | "y" | "range"> {
  /** Further classes of the picture. */
  kind?: string;
  /** The intervals in the time shown, for so many pixels. */
  intervals: (width: number) => T[];
  /** What the axis has to have room for. */
  highest: (each: T) => number;
  paint: (chart: uPlot, shown: T[]) => void;
  text: (each: T) => string;
  /** The sentence for people who do not see the picture. */
  sentence: (shown: T[]) => string;
  /** The intervals of the table, if they are not those of the picture. */
  rows?: () => T[];
  /** Titles and contents of the table's columns behind the times. */
  columns: () => [string, (each: T) => string][];
}

export class IntervalFrame<T extends Interval> {
  readonly picture: HTMLElement;
  readonly readout = element("output", { class: "readout" });
  readonly data = element("details", { class: "data" }, element("summary", {}, "Data"));
  private readonly chart: Chart;
  private shown: T[] = [];

  constructor(
    private readonly view: View,
    private readonly parts: IntervalParts<T>,
  ) {
    this.picture = element("div", { class: parts.kind === undefined ? "picture" : `picture ${parts.kind}`, role: "img", tabindex: 0 });
    this.chart = new Chart(this.picture, view, () => ({
      height: parts.height,
      space: 36,
      y: parts.y,
      range: parts.range,
      paint: (chart) => parts.paint(chart, this.shown),
      point: (chart) => this.point(chart),
    }));
    this.data.addEventListener("toggle", () => this.fill());
    this.picture.addEventListener("keydown", (event) => onKey(event, view));
  }

  /** Draws; to be called when the plot is in the document. */
  draw(): void {
    this.chart.draw(this.values());
    this.describe();
  }

  /** Shows other intervals, in the time of the view. */
  update(): void {
    this.chart.show(this.values());
    this.describe();
    this.fill();
  }

  describe(): void {
    this.picture.setAttribute("aria-label", this.parts.sentence(this.shown));
  }

  private values(): uPlot.AlignedData {
    this.shown = this.parts.intervals(this.chart.width);
    return [this.shown.map((each) => (each.begin + each.end) / 2e9), this.shown.map((each) => this.parts.highest(each))];
  }

  private point(chart: uPlot): void {
    const left = chart.cursor.left ?? -1;
    const at = chart.posToVal(left, "x") * 1e9;
    const found = this.shown.find((each) => at >= each.begin && at < each.end);
    const { begin, end } = this.view.range;
    this.readout.textContent = left < 0 ? "" : `${format.seconds(at / 1e9, (end - begin) / 1e12)} s: ${found === undefined ? "nothing" : this.parts.text(found)}`;
  }

  private fill(): void {
    this.data.querySelector("table")?.remove();
    if (!this.data.open) return;
    const columns = this.parts.columns();
    const rows = (this.parts.rows?.() ?? this.shown).map((each) =>
      element("tr", {}, element("td", {}, format.seconds(each.begin / 1e9, 1e-9)), element("td", {}, format.duration(each.end - each.begin)), ...columns.map(([, text]) => element("td", { class: "number" }, text(each)))),
    );
    const head = ["from (s)", "for", ...columns.map(([title]) => title)].map((title, i) => element("th", { scope: "col", class: i < 2 ? "" : "number" }, title));
    this.data.append(element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
  }
}
