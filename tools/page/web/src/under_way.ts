// SPDX-License-Identifier: BSD-2-Clause
// Plot of what one requester had under way, over the common time axis.
import type uPlot from "uplot";
import { colourOf, pixelRatio } from "./chart.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { IntervalFrame, type Interval } from "./interval_frame.ts";
import type { LevelCurve } from "./types.ts";
import type { Range, View } from "./view.ts";

const kHeight = 112;

export interface LevelColumn extends Interval {
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
  private readonly frame: IntervalFrame<LevelColumn>;
  private curve: LevelCurve | null = null;

  constructor(view: View) {
    this.frame = new IntervalFrame(view, {
      height: kHeight,
      y: { values: (_, splits) => splits.map((at) => (Number.isInteger(at) ? format.shortCount(at) : "")) },
      range: (highest) => [0, Math.max(2, (highest ?? 0) * 1.1)],
      intervals: () => intervals(this.curve, view.range),
      highest: (each) => each.high,
      paint: (chart, shown) => this.paint(chart, shown),
      text: (each) => this.text(each),
      sentence: (shown) => {
        const most = shown.reduce((highest, each) => Math.max(highest, each.high), 0);
        return `Under way, ${format.seconds(view.range.begin / 1e9)} to ${format.seconds(view.range.end / 1e9)} s: ${most === 0 ? "nothing" : `at most ${format.counted(most, "packet", "packets")}`}.`;
      },
      columns: () => [["Under way", (each) => this.text(each)]],
    });
    this.root = element("section", { class: "plot", "data-series": "under_way_of" }, element("header", {}, element("h3", {}, element("span", { class: "swatch", "data-colour": "--cnp" }), "Under way"), this.frame.readout), this.frame.picture, this.frame.data);
  }

  draw(): void {
    this.frame.draw();
  }

  /** Shows a curve in the time of the view. */
  show(curve: LevelCurve | null): void {
    this.curve = curve;
    this.frame.update();
  }

  private paint(chart: uPlot, shown: LevelColumn[]): void {
    const { ctx } = chart;
    const ratio = pixelRatio();
    const y = (value: number) => Math.round(chart.valToPos(value, "y", true));
    ctx.fillStyle = colourOf("--cnp");
    for (const each of shown) {
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
}
