// SPDX-License-Identifier: BSD-2-Clause
// When each station had paused each priority of its link partner.
import { pixelRatio, widthOf } from "./chart.ts";
import { element, isOnScreen } from "./dom.ts";
import * as format from "./format.ts";
import type { PauseSpan, Report } from "./types.ts";
import type { View } from "./view.ts";

const kRow = 38;
const kName = 16;

function priorityText(priority: number): string {
  return priority === 8 ? "all" : `priority ${priority}`;
}

export class PauseView {
  readonly root: HTMLElement;
  private readonly canvas = element("canvas", { role: "img" });
  private readonly rows = new Map<string, PauseSpan[]>();

  constructor(
    private readonly report: Report,
    private readonly view: View,
  ) {
    for (const span of report.pauses.spans) {
      const key = `${this.nameOf(span[0])}, ${priorityText(span[1])}`;
      const row = this.rows.get(key);
      if (row === undefined) this.rows.set(key, [span]);
      else row.push(span);
    }
    const left = report.pauses.left_out === 0 ? null : element("p", { class: "hint" }, `${format.count(report.pauses.left_out)} later pauses are not drawn.`);
    const gantt = this.rows.size === 0 ? element("p", { class: "none" }, "No pause was ended by an XON; with --link-speed the others are drawn, too.") : element("div", { class: "gantt" }, this.canvas);
    this.root = element("div", { class: "pauses" }, gantt, left, element("div", { class: "wide" }, this.table()));
    view.onChange(() => this.draw(), () => isOnScreen(this.root));
  }

  private nameOf(source: string): string {
    const host = this.report.pauses.stations.find((station) => station.source === source)?.host;
    return host === undefined || host === null ? source : `${host} (${source})`;
  }

  get isEmpty(): boolean {
    return this.report.pauses.stations.length === 0;
  }

  draw(): void {
    const width = this.rows.size === 0 ? 0 : widthOf(this.canvas);
    const ctx = this.canvas.getContext("2d");
    if (width === 0 || ctx === null) return;
    const ratio = pixelRatio();
    const height = this.rows.size * kRow;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const style = getComputedStyle(document.documentElement);
    const { begin, end } = this.view.range;
    const x = (ns: number) => ((ns - begin) / (end - begin)) * width * ratio;
    let row = 0;
    let seen = 0;
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    for (const [name, spans] of this.rows) {
      ctx.fillStyle = style.getPropertyValue("--faint");
      ctx.fillText(name, 0, (row * kRow + 12) * ratio);
      ctx.fillStyle = style.getPropertyValue("--stripe");
      ctx.fillRect(0, (row * kRow + kName) * ratio, width * ratio, (kRow - kName - 6) * ratio);
      ctx.fillStyle = style.getPropertyValue("--pause");
      for (const [, , from, to] of spans) {
        if (to < begin || from > end) continue;
        ++seen;
        ctx.fillRect(Math.round(x(from)), (row * kRow + kName) * ratio, Math.max(2 * ratio, Math.round(x(to) - x(from))), (kRow - kName - 6) * ratio);
      }
      ++row;
    }
    this.canvas.setAttribute("aria-label", `${format.counted(seen, "pause", "pauses")} from ${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s.`);
  }

  private table(): HTMLElement {
    const head = ["station", "priority", "XOFF", "XON", "XOFF to XON", "longest", "paused"];
    const body = element("tbody");
    for (const station of this.report.pauses.stations) {
      for (const each of station.priorities) {
        const numbers: [number | null, (value: number) => string][] = [
          [each.xoff, format.count],
          [each.xon, format.count],
          [each.xoff_to_xon_ns, format.duration],
          [each.longest_until_xon_ns, format.duration],
          [each.paused_ns, format.duration],
        ];
        body.append(element("tr", {}, element("td", {}, this.nameOf(station.source)), element("td", {}, String(each.priority)), ...numbers.map(([value, text]) => element("td", { class: "number", "data-exact": value ?? undefined }, value === null ? "unknown" : text(value)))));
      }
    }
    return element("table", { class: "figures" }, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: i < 2 ? "" : "number" }, text)))), body);
  }
}
