// SPDX-License-Identifier: BSD-2-Clause
// Plot of what one requester had under way, over the common time axis.
import type uPlot from "uplot";
import { Chart, colourOf, onKey, pixelRatio } from "./chart.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import type { LevelCurve } from "./types.ts";
import type { Range, View } from "./view.ts";

const kHeight = 112;

export interface LevelColumn {
  begin: number; // nanoseconds since the start of the axis
  end: number;
  low: number;
  high: number;
}

/** The intervals of a curve in a part of the time in which there was anything. */
export function intervals(curve: LevelCurve | null, { begin, end }: Range): LevelColumn[] {
  if (curve === null) return [];
  return curve.high
    .map((high, i) => ({ begin: curve.start_ns + i * curve.width_ns, end: curve.start_ns + (i + 1) * curve.width_ns, low: curve.low[i] ?? 0, high }))
    .filter((each) => each.high !== 0 && each.end > begin && each.begin < end);
}

export class UnderWayPlot {
  readonly root: HTMLElement;
  private readonly picture = element("div", { class: "picture", role: "img", tabindex: 0 });
  private readonly readout = element("output", { class: "readout" });
  private readonly data = element("details", { class: "data" }, element("summary", {}, "Data"));
  private readonly chart: Chart;
  private curve: LevelCurve | null = null;
  private shown: LevelColumn[] = [];

  constructor(private readonly view: View) {
    this.root = element("section", { class: "plot", "data-series": "under_way_of" }, element("header", {}, element("h3", {}, element("span", { class: "swatch", "data-colour": "--cnp" }), "Under way"), this.readout), this.picture, this.data);
    this.chart = new Chart(this.picture, view, () => ({
      height: kHeight,
      space: 36,
      y: { values: (_, splits) => splits.map((at) => (Number.isInteger(at) ? format.shortCount(at) : "")) },
      range: (highest) => [0, Math.max(2, (highest ?? 0) * 1.1)],
      paint: (chart) => this.paint(chart),
      point: (chart) => this.point(chart),
    }));
    this.picture.addEventListener("keydown", (event) => onKey(event, view));
    this.data.addEventListener("toggle", () => this.fillData());
  }

  draw(): void {
    this.chart.draw(this.values());
  }

  /** Shows a curve in the time of the view. */
  show(curve: LevelCurve | null): void {
    this.curve = curve;
    this.chart.show(this.values());
    const { begin, end } = this.view.range;
    const most = this.shown.reduce((highest, each) => Math.max(highest, each.high), 0);
    const words = most === 0 ? "nothing" : `at most ${format.counted(most, "packet", "packets")}`;
    this.picture.setAttribute("aria-label", `Under way, ${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s: ${words}.`);
    if (this.data.open) this.fillData();
  }

  private values(): uPlot.AlignedData {
    this.shown = intervals(this.curve, this.view.range);
    return [this.shown.map((each) => (each.begin + each.end) / 2e9), this.shown.map((each) => each.high)];
  }

  private paint(chart: uPlot): void {
    const { ctx } = chart;
    const ratio = pixelRatio();
    const y = (value: number) => Math.round(chart.valToPos(value, "y", true));
    ctx.fillStyle = colourOf("--cnp");
    for (const each of this.shown) {
      const left = Math.round(chart.valToPos(each.begin / 1e9, "x", true));
      const width = Math.max(Math.round(chart.valToPos(each.end / 1e9, "x", true)) - left, 2 * ratio);
      ctx.globalAlpha = 0.25;
      ctx.fillRect(left, y(each.low), width, y(0) - y(each.low));
      ctx.globalAlpha = 1;
      const top = Math.min(y(each.high), y(each.low) - 2 * ratio);
      ctx.fillRect(left, top, width, y(each.low) - top);
    }
  }

  private text(each: LevelColumn): string {
    return each.low === each.high ? format.count(each.high) : `${format.count(each.low)} to ${format.count(each.high)}`;
  }

  private point(chart: uPlot): void {
    const left = chart.cursor.left ?? -1;
    const at = chart.posToVal(left, "x") * 1e9;
    const found = left < 0 ? undefined : this.shown.find((each) => at >= each.begin && at < each.end);
    this.readout.textContent = found === undefined ? "" : `${format.seconds(at / 1e9, (this.view.range.end - this.view.range.begin) / 1e12)} s: ${this.text(found)}`;
  }

  private fillData(): void {
    this.data.querySelector("table")?.remove();
    if (!this.data.open) return;
    const rows = this.shown.map((each) => element("tr", {}, element("td", {}, format.seconds(each.begin / 1e9, 1e-9)), element("td", {}, format.duration(each.end - each.begin)), element("td", {}, this.text(each))));
    const head = ["from (s)", "for", "Under way"].map((text) => element("th", { scope: "col" }, text));
    this.data.append(element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
  }
}
