// SPDX-License-Identifier: BSD-2-Clause
// Congestion: marks, the CNPs that answer them, and the rate of the sender, as a table and over the common time axis.
import type uPlot from "uplot";
import { colourOf, pixelRatio } from "./chart.ts";
import { button, element, isOnScreen } from "./dom.ts";
import * as format from "./format.ts";
import { IntervalFrame, type Interval } from "./interval_frame.ts";
import type { CongestedRow, CongestionCurve, RateFit, Report } from "./types.ts";
import type { Range, View } from "./view.ts";

const kHeight = 190;
const kSign = 5;

export interface RateColumn extends Interval {
  rate: number; // bits per second
  marks: number;
  cnps: number;
}

/** The intervals of a curve in a part of the time in which there was anything. */
export function rates(curve: CongestionCurve | null, { begin, end }: Range): RateColumn[] {
  if (curve === null) return [];
  return curve.bytes
    .map((bytes, i) => ({ begin: curve.start_ns + i * curve.width_ns, end: curve.start_ns + (i + 1) * curve.width_ns, rate: (bytes * 8e9) / curve.width_ns, marks: curve.marks[i] ?? 0, cnps: curve.cnps[i] ?? 0 }))
    .filter((each) => (each.rate !== 0 || each.marks !== 0 || each.cnps !== 0) && each.end > begin && each.begin < end);
}

/** A rate that held for a while. */
export interface Step extends Interval {
  rate: number; // bits per second; 0: nothing was sent
}

/** The steps of a fitted rate in a part of the time; the last one holds until the end of the curve. */
export function steps(fit: RateFit | null, curve: CongestionCurve | null, { begin, end }: Range): Step[] {
  if (fit === null || curve === null) return [];
  const last = curve.start_ns + curve.bytes.length * curve.width_ns;
  return fit.steps.map(([from, rate], i) => ({ begin: from, end: fit.steps[i + 1]?.[0] ?? Math.max(last, from), rate })).filter((each) => each.end > begin && each.begin < end);
}

/** The sentence about how a sender reacted; empty if that is not known. */
export function reactionText(fit: RateFit | null): string {
  if (fit === null) return "";
  const parts = [];
  if (fit.late_ns !== null && fit.left !== null) parts.push(`${format.duration(fit.late_ns)} after a CNP the sender is at ${format.percent(fit.left)} of its rate (median of ${format.counted(fit.cuts, "cut", "cuts")})`);
  if (fit.cnps_without_cut !== 0) parts.push(`${format.counted(fit.cnps_without_cut, "CNP", "CNPs")} did not make it slower`);
  if (fit.rise_since_ns !== null && fit.rise_bits_per_second !== null) parts.push(`where it rises between CNPs, it is ${format.bitRate(fit.rise_bits_per_second)} faster ${format.duration(fit.rise_since_ns)} after the change before (median of ${format.counted(fit.rises, "rise", "rises")})`);
  const text = parts.join("; ");
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function nameOf(row: CongestedRow): string {
  return `stream ${row.stream}: ${row.hosts[0]} → ${row.hosts[1]}`;
}

/** The sentence about rows that are not drawn; empty if all are. */
export function undrawnText({ rows, without_curve: without }: Report["congestion"]): string {
  const further = rows.filter((row) => row.curve === null).length - without;
  const parts = [];
  if (further > 0) parts.push(`${format.count(further)} further down the table`);
  if (without > 0) parts.push(`${format.count(without)} that there was no room to follow, as other connections came first`);
  return parts.length === 0 ? "" : `Not drawn: ${parts.join(", and ")}.`;
}

/** The name in the address bar of a row: another report of the same capture may have it at another place. */
export function keyOf(row: CongestedRow): string {
  return `${row.stream}.${row.congestion.direction}`;
}

export class CongestionView {
  readonly root: HTMLElement;
  private readonly chooser = element("select", { "aria-label": "Data" });
  private readonly frame: IntervalFrame<RateColumn>;
  private readonly reacted = element("p", { class: "hint" });
  private readonly drawn: CongestedRow[];

  constructor(
    private readonly report: Report,
    private readonly view: View,
  ) {
    this.drawn = report.congestion.rows.filter((row) => row.curve !== null);
    for (const row of this.drawn) this.chooser.append(element("option", { value: keyOf(row) }, nameOf(row)));
    this.frame = new IntervalFrame(view, {
      kind: "congested",
      height: kHeight,
      y: { values: (_, splits) => splits.map((at) => format.bitRate(at)) },
      range: (highest) => [0, Math.max(1, (highest ?? 0) * 1.3, ...this.steps().map((step) => step.rate * 1.1))],
      intervals: () => this.rates(),
      highest: (each) => each.rate,
      paint: (chart, shown) => this.paint(chart, shown),
      text: (each) => `${format.bitRate(each.rate)}, ${format.count(each.marks)} CE, ${format.counted(each.cnps, "CNP", "CNPs")}`,
      sentence: (shown) => this.sentence(shown),
      columns: () => [
        ["rate", (each) => format.bitRate(each.rate)],
        ["CE", (each) => format.count(each.marks)],
        ["CNP", (each) => format.count(each.cnps)],
      ],
    });
    const key = (colour: string, text: string, form: string) => element("span", { class: "key" }, element("span", { class: `swatch ${form}`, "data-colour": colour }), text);
    const plot = element(
      "section",
      { class: "plot", "data-series": "congestion" },
      element("div", { class: "toolbar" }, this.chooser, this.frame.readout),
      element("div", { class: "legend" }, key("--goodput", "rate of the data", "solid"), key("--ink", "its steps, fitted", "solid"), key("--ce", "CE ▲", "solid"), key("--cnp", "CNP ▼", "solid")),
      this.frame.picture,
      this.reacted,
      this.frame.data,
    );
    const left = report.congestion.left_out === 0 ? null : element("p", { class: "hint" }, `${format.count(report.congestion.left_out)} more are left out: roce-analyze streams lists them.`);
    const undrawn = undrawnText(report.congestion);
    this.root = element("div", { class: "congestion" }, this.drawn.length === 0 ? null : plot, undrawn === "" ? null : element("p", { class: "hint" }, undrawn), element("div", { class: "wide" }, this.table()), left, this.reactions());
    this.chooser.addEventListener("change", () => {
      view.keep("congested", this.chooser.value);
      this.update();
    });
    view.onChange(() => this.update(), () => isOnScreen(this.root));
  }

  get isEmpty(): boolean {
    return this.report.congestion.rows.length === 0;
  }

  draw(): void {
    if (this.drawn.length === 0) return;
    this.frame.draw();
  }

  private get row(): CongestedRow | undefined {
    return this.drawn.find((row) => keyOf(row) === this.view.value("congested")) ?? this.drawn[0];
  }

  private update(): void {
    if (this.drawn.length === 0) return;
    this.frame.update();
  }

  private rates(): RateColumn[] {
    const { row } = this;
    if (row !== undefined) this.chooser.value = keyOf(row);
    this.reacted.textContent = reactionText(row?.fit ?? null);
    return rates(row?.curve ?? null, this.view.range);
  }

  private steps(): Step[] {
    const { row } = this;
    return steps(row?.fit ?? null, row?.curve ?? null, this.view.range);
  }

  private sentence(shown: RateColumn[]): string {
    const { begin, end } = this.view.range;
    const { row } = this;
    const sum = (what: "marks" | "cnps") => shown.reduce((all, each) => all + each[what], 0);
    const most = shown.reduce((highest, each) => Math.max(highest, each.rate), 0);
    return `Congestion of ${row === undefined ? "nothing" : nameOf(row)}, ${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s: ${format.counted(sum("marks"), "packet marked", "packets marked")}, ${format.counted(sum("cnps"), "CNP", "CNPs")}, at most ${format.bitRate(most)}. ${reactionText(row?.fit ?? null)}`.trimEnd();
  }

  private paint(chart: uPlot, shown: RateColumn[]): void {
    const { ctx, bbox } = chart;
    const ratio = pixelRatio();
    const x = (ns: number) => Math.round(chart.valToPos(ns / 1e9, "x", true));
    const bottom = Math.round(bbox.top + bbox.height);
    ctx.fillStyle = colourOf("--goodput");
    for (const each of shown) {
      if (each.rate === 0) continue;
      const top = Math.min(Math.round(chart.valToPos(each.rate, "y", true)), bottom - 2 * ratio);
      const width = Math.max(x(each.end) - x(each.begin), 2 * ratio);
      ctx.globalAlpha = 0.3;
      ctx.fillRect(x(each.begin), top, width, bottom - top);
      ctx.globalAlpha = 1;
      ctx.fillRect(x(each.begin), top, width, 2 * ratio);
    }
    // Marks go up from the axis, CNPs come down from the top.
    const sign = (at: number, y: number, way: number) => {
      ctx.beginPath();
      ctx.moveTo(at - kSign * ratio, y);
      ctx.lineTo(at + kSign * ratio, y);
      ctx.lineTo(at, y - way * 2 * kSign * ratio);
      ctx.fill();
    };
    ctx.strokeStyle = colourOf("--ink");
    ctx.lineWidth = 1.5 * ratio;
    ctx.beginPath();
    for (const each of this.steps()) {
      const y = Math.round(chart.valToPos(each.rate, "y", true));
      ctx.moveTo(x(each.begin), y);
      ctx.lineTo(x(each.end), y);
    }
    ctx.stroke();
    const colours = { marks: colourOf("--ce"), cnps: colourOf("--cnp") };
    for (const each of shown) {
      const at = (x(each.begin) + x(each.end)) / 2;
      ctx.fillStyle = colours.marks;
      if (each.marks !== 0) sign(at, bottom, 1);
      ctx.fillStyle = colours.cnps;
      if (each.cnps !== 0) sign(at, bbox.top, -1);
    }
  }

  private table(): HTMLElement {
    const head = ["data", "CE", "CNP", "without a mark", "CE since", "CE to CNP p50", "max", "CNP spacing min", "p50", "CNPs measured", "slowed", "before CNP", "after"];
    return this.figures(head, this.report.congestion.rows, (row) => {
      const { congestion: each } = row;
      return [
        [each.marks, format.count],
        [each.cnps, format.count],
        [each.cnps_without_mark, format.count],
        [each.marks_since_cnp, format.count],
        [each.mark_to_cnp["p50_ns"], format.duration],
        [each.mark_to_cnp["max_ns"], format.duration],
        [each.cnp_spacing["min_ns"], format.duration],
        [each.cnp_spacing["p50_ns"], format.duration],
        [each.reaction["cnps"], format.count],
        [each.reaction["slowed"], format.count],
        [each.reaction["bits_per_second_before"], format.bitRate],
        [each.reaction["bits_per_second_after"], format.bitRate],
      ];
    });
  }

  private reactions(): HTMLElement | null {
    const rows = this.report.congestion.rows.filter((row) => row.fit !== null);
    if (rows.length === 0) return null;
    const head = ["reaction of the sender of", "CNP", "without a cut", "cuts", "CNP to cut p50", "rate left p50", "rises", "every p50", "by p50"];
    const table = this.figures(head, rows, ({ fit }) => [
      [fit?.cnps, format.count],
      [fit?.cnps_without_cut, format.count],
      [fit?.cuts, format.count],
      [fit?.late_ns, format.duration],
      [fit?.left, format.percent],
      [fit?.rises, format.count],
      [fit?.rise_since_ns, format.duration],
      [fit?.rise_bits_per_second, format.bitRate],
    ]);
    const hint = "Fitted to the times of its packets: steps of 16 packets or more, and changes of 6 % or more. Cuts are told apart best in a capture near the sender.";
    return element("div", {}, element("div", { class: "wide" }, table), element("p", { class: "hint" }, hint));
  }

  private figures(head: string[], rows: CongestedRow[], numbers: (row: CongestedRow) => [number | null | undefined, (value: number) => string][]): HTMLElement {
    const body = element("tbody");
    for (const row of rows) {
      const show = this.drawn.includes(row) ? button(nameOf(row), () => this.view.change("congested", keyOf(row)), { class: "link" }) : nameOf(row);
      const cells = numbers(row).map(([value, text]) => element("td", { class: "number", "data-exact": value ?? undefined }, value === undefined || value === null ? "–" : text(value)));
      body.append(element("tr", {}, element("td", {}, show), ...cells));
    }
    return element("table", { class: "figures" }, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: i === 0 ? "" : "number" }, text)))), body);
  }
}
