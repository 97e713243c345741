// SPDX-License-Identifier: BSD-2-Clause
// PSN over time, as tcptrace draws it for TCP; and the same packets as a ladder.
import type uPlot from "uplot";
import { Chart, colourOf, onKey, pixelRatio } from "./chart.ts";
import { button, element, isOnScreen } from "./dom.ts";
import * as format from "./format.ts";
import { ladder } from "./ladder.ts";
import { between, frameText, isAnswer, kLooks, kNames, kSigns, packetsOf, tally, type Form, type Packet } from "./packets.ts";
import type { PsnGraph, Report } from "./types.ts";
import { UnderWayPlot } from "./under_way.ts";
import type { View } from "./view.ts";

const kHeight = 340;
interface Choice {
  key: string;
  graph: PsnGraph;
  requester: number;
}

export class PsnView {
  readonly root: HTMLElement;
  private readonly choices: Choice[] = [];
  private readonly chooser = element("select", { "aria-label": "Connection" });
  private readonly legend = element("div", { class: "legend" });
  private readonly picture = element("div", { class: "picture tall", role: "img", tabindex: 0 });
  private readonly readout = element("output", { class: "readout" });
  private readonly ladder = element("details", { class: "data ladder" }, element("summary", {}, "Ladder of the packets shown"));
  private readonly note = element("p", { class: "hint" });
  private readonly chart: Chart;
  private readonly underWay: UnderWayPlot;
  private packets: Packet[] = [];
  private shown: Packet[] = [];

  constructor(
    private readonly report: Report,
    private readonly view: View,
  ) {
    for (const graph of report.psn.graphs) {
      for (const requester of [0, 1]) {
        if (!packetsOf(graph, report.psn.kinds, requester).some((packet) => !isAnswer(packet))) continue;
        const key = `${graph.stream}.${requester}`;
        this.choices.push({ key, graph, requester });
        this.chooser.append(element("option", { value: key }, `stream ${graph.stream}: requests ${graph.hosts[requester]} → ${graph.hosts[1 - requester]}`));
      }
    }
    this.root = element("div", { class: "psn", "data-series": "psn" }, element("div", { class: "toolbar" }, this.chooser, button("All of it", () => this.showAll()), this.readout), this.legend, this.picture, this.note, this.ladder);
    this.underWay = new UnderWayPlot(view);
    this.root.append(this.underWay.root);
    this.chart = new Chart(this.picture, view, () => ({
      height: kHeight,
      space: 40,
      y: { values: (_, splits) => splits.map((at) => (Number.isInteger(at) ? format.count(at) : "")) },
      range: () => this.heights(),
      ownHeight: true,
      paint: (chart) => this.paint(chart),
      point: (chart) => this.point(chart),
    }));
    this.chooser.addEventListener("change", () => {
      view.keep("psn", this.chooser.value);
      this.choose();
    });
    this.ladder.addEventListener("toggle", () => this.fillLadder());
    this.picture.addEventListener("keydown", (event) => onKey(event, view));
    view.onChange(() => this.choose(), () => isOnScreen(this.root));
  }

  get isEmpty(): boolean {
    return this.choices.length === 0;
  }

  /** Shows a stream, if it is one of those that are drawn. */
  showStream(stream: number): void {
    const choice = this.choices.find((each) => each.graph.stream === stream);
    if (choice === undefined) return;
    this.view.keep("psn", choice.key);
    this.choose();
  }

  draw(): void {
    if (this.isEmpty) return;
    this.choose();
    this.chart.draw(this.values());
    this.underWay.draw();
  }

  private get choice(): Choice | undefined {
    return this.choices.find((each) => each.key === this.view.value("psn")) ?? this.choices[0];
  }

  private choose(): void {
    const choice = this.choice;
    if (choice === undefined) return;
    this.chooser.value = choice.key;
    this.packets = packetsOf(choice.graph, this.report.psn.kinds, choice.requester);
    const all = packetsOf(choice.graph, this.report.psn.kinds).length;
    this.note.textContent = all >= choice.graph.packets ? "" : `${format.count(all)} of its ${format.counted(choice.graph.packets, "packet", "packets")} are drawn: the first and the last ones, and those around findings and around the longest times without any; where the ground is shaded there are more.`;
    const { begin, end } = this.view.range;
    this.shown = between(this.packets, begin, end);
    this.describe();
    if (this.ladder.open) this.fillLadder();
    this.chart.show(this.values());
    this.underWay.show(choice.graph.under_way[choice.requester] ?? null);
  }

  private values(): uPlot.AlignedData {
    return [this.shown.map((packet) => packet.time / 1e9), this.shown.map((packet) => packet.psn)];
  }

  private describe(): void {
    const parts = tally(this.shown);
    this.legend.replaceChildren(...parts.map(([kind, count]) => element("span", { class: "key" }, element("span", { class: "swatch", "data-colour": kLooks[kind]?.colour ?? "" }), `${kSigns[kLooks[kind]?.form ?? "box"]} ${kNames[kind]} ${format.count(count)}`)));
    const { begin, end } = this.view.range;
    const words = parts.map(([kind, count]) => `${format.count(count)} ${kNames[kind]}`).join(", ");
    this.picture.setAttribute("aria-label", `PSN over time, ${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s: ${words === "" ? "nothing" : words}.`);
  }

  private heights(): [number, number] {
    let min = Infinity;
    let max = -Infinity;
    for (const packet of this.shown) {
      min = Math.min(min, packet.psn);
      max = Math.max(max, packet.psn + packet.count);
    }
    if (min > max) return [0, 1];
    const edge = Math.max(1, (max - min) * 0.04);
    return [min - edge, max + edge];
  }

  private showAll(): void {
    const first = this.packets[0];
    const last = this.packets[this.packets.length - 1];
    if (first === undefined || last === undefined) return;
    const edge = Math.max(1000, (last.time - first.time) * 0.02);
    this.view.show({ begin: first.time - edge, end: last.time + edge });
  }

  private paint(chart: uPlot): void {
    const { ctx } = chart;
    const ratio = pixelRatio();
    ctx.lineWidth = 1.5 * ratio;
    this.paintBreaks(chart, colourOf("--stripe"));
    this.paintAcknowledged(chart, colourOf("--cnp"));
    // Faults are drawn last, so that nothing hides it.
    const colours = new Map(Object.entries(kLooks).map(([kind, look]) => [kind, colourOf(look.colour)]));
    const rank = (packet: Packet) => ["sent", "read_response", "answered", "copy", "late", "sent_again", "rnr_nak", "nak", "lost", "lost_unseen"].indexOf(packet.kind);
    for (const packet of [...this.shown].sort((a, b) => rank(a) - rank(b))) {
      ctx.fillStyle = ctx.strokeStyle = colours.get(packet.kind) ?? "";
      mark(ctx, kLooks[packet.kind]?.form ?? "box", chart.valToPos(packet.time / 1e9, "x", true), chart.valToPos(packet.psn, "y", true), ratio);
    }
  }

  // Where packets are not drawn, nothing can be said of their absence.
  private paintBreaks(chart: uPlot, colour: string): void {
    const { ctx, bbox } = chart;
    ctx.fillStyle = colour;
    for (const [from, to] of this.choice?.graph.breaks ?? []) {
      const left = chart.valToPos(from / 1e9, "x", true);
      ctx.fillRect(left, bbox.top, chart.valToPos(to / 1e9, "x", true) - left, bbox.height);
    }
  }

  // The line of what was acknowledged: it goes up with each answer, and right until the next.
  private paintAcknowledged(chart: uPlot, colour: string): void {
    const { ctx } = chart;
    let highest: number | undefined;
    let before = 0;
    const isBroken = (time: number) => (this.choice?.graph.breaks ?? []).some(([from, to]) => from < time && to > before);
    ctx.strokeStyle = colour;
    ctx.globalAlpha = 0.7;
    ctx.beginPath();
    for (const packet of this.shown) {
      if (packet.kind !== "answered" && packet.kind !== "read_response") continue;
      const x = chart.valToPos(packet.time / 1e9, "x", true);
      if (highest === undefined || isBroken(packet.time)) {
        ctx.moveTo(x, chart.valToPos(packet.psn, "y", true));
        highest = packet.psn;
      } else ctx.lineTo(x, chart.valToPos(highest, "y", true));
      highest = Math.max(highest ?? packet.psn, packet.psn);
      ctx.lineTo(x, chart.valToPos(highest, "y", true));
      before = packet.time;
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  private point(chart: uPlot): void {
    const { left = -1, top = -1 } = chart.cursor;
    let nearest: Packet | undefined;
    let least = 20 ** 2;
    if (left >= 0) {
      for (const packet of this.shown) {
        const distance = (chart.valToPos(packet.time / 1e9, "x") - left) ** 2 + (chart.valToPos(packet.psn, "y") - top) ** 2;
        if (distance < least) [least, nearest] = [distance, packet];
      }
    }
    this.readout.textContent = nearest === undefined ? "" : `${kNames[nearest.kind]}, relative PSN ${nearest.psn}, ${format.seconds(nearest.time / 1e9)} s, ${frameText(nearest)}`;
  }

  private fillLadder(): void {
    this.ladder.querySelector(".rungs")?.remove();
    const choice = this.choice;
    if (!this.ladder.open || choice === undefined) return;
    this.ladder.append(ladder(choice.graph.hosts, this.shown));
  }
}

// Each kind has a form of its own, so that no colour is needed to tell them apart.
function mark(ctx: CanvasRenderingContext2D, form: Form, x: number, y: number, ratio: number): void {
  const r = 3.5 * ratio;
  ctx.beginPath();
  switch (form) {
    case "bar":
      ctx.fillRect(x - ratio, y - 2.5 * ratio, 2 * ratio, 5 * ratio);
      return;
    case "dot":
      ctx.arc(x, y, 1.8 * ratio, 0, 2 * Math.PI);
      ctx.fill();
      return;
    case "block":
      ctx.fillRect(x - 2.5 * ratio, y - 2.5 * ratio, 5 * ratio, 5 * ratio);
      return;
    case "cross":
      ctx.moveTo(x - r, y - r);
      ctx.lineTo(x + r, y + r);
      ctx.moveTo(x + r, y - r);
      ctx.lineTo(x - r, y + r);
      break;
    case "diamond":
      ctx.moveTo(x, y - r);
      ctx.lineTo(x + r, y);
      ctx.lineTo(x, y + r);
      ctx.lineTo(x - r, y);
      ctx.closePath();
      break;
    case "target":
      ctx.arc(x, y, 1.5 * ratio, 0, 2 * Math.PI);
      ctx.fill();
      ctx.beginPath();
      ctx.arc(x, y, 5 * ratio, 0, 2 * Math.PI);
      break;
    case "ring":
      ctx.arc(x, y, 5 * ratio, 0, 2 * Math.PI);
      break;
    case "box":
      ctx.rect(x - 2.5 * ratio, y - 2.5 * ratio, 5 * ratio, 5 * ratio);
  }
  ctx.stroke();
}
