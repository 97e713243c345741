// SPDX-License-Identifier: BSD-2-Clause
// The table of connections: only the rows that are seen are in the document, so that 100,000 of them cost nothing.
import { printing } from "./chart.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { filterOf, sorted } from "./rows.ts";
import type { Cell, Streams } from "./types.ts";
import type { View } from "./view.ts";

const kRowHeight = 28;
const kMargin = 8;
const kPrintedRows = 200;

const kHeadings: Record<string, string> = {
  service: "svc",
  start_ns: "start",
  duration_ns: "time",
  lost_before: "lost before",
  lost_after: "lost after",
  lost_beyond: "lost beyond",
  nak: "NAK",
  rnr: "RNR",
  ce: "CE",
  cnp: "CNP",
  p50_ns: "p50",
  p99_ns: "p99",
  max_ns: "max",
};
const kBad = new Set(["lost_before", "lost_after", "lost_beyond"]);
const kCaution = new Set(["resent", "nak", "rnr"]);

export function cellText(column: string, cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell === "string") return cell;
  if (column === "stream") return String(cell);
  if (column.endsWith("_ns")) return column === "start_ns" ? format.seconds(cell / 1e9) : format.duration(cell);
  if (column === "bytes") return format.bytes(cell);
  if (column === "goodput") return cell === 0 ? "–" : format.bitRate(cell);
  return cell === 0 ? "–" : format.count(cell);
}

export class StreamTable {
  readonly root: HTMLElement;
  private readonly kept: number[]; // columns that have anything
  private readonly body = element("div", { class: "rows", role: "rowgroup" });
  private readonly scroller = element("div", { class: "scroller", role: "table", tabindex: 0, "aria-label": "Connections" });
  private readonly filter = element("input", { type: "search", placeholder: "Filter: an address, or lost_before>0", "aria-label": "Filter of connections", spellcheck: "false" });
  private readonly counter = element("span", { class: "counter", "aria-live": "polite" });
  private readonly headings: HTMLElement[] = [];
  private order: number[] = [];
  private followed: string | undefined; // the filter and the order that the view had

  constructor(
    private readonly streams: Streams,
    private readonly view: View,
  ) {
    const always = new Set(["stream", "ends", "packets"]);
    this.kept = streams.columns.map((_, i) => i).filter((i) => always.has(streams.columns[i] ?? "") || streams.rows.some((row) => row[i] !== 0 && row[i] !== "" && row[i] !== null));
    const head = element("div", { class: "row head", role: "row" }, ...this.kept.map((column) => this.heading(column)));
    this.scroller.append(element("div", { role: "rowgroup", class: "heads" }, head), this.body);
    this.scroller.style.setProperty("--columns", this.kept.map((column) => width(streams.columns[column] ?? "")).join(" "));
    this.root = element("div", { class: "streams" }, element("div", { class: "toolbar" }, this.filter, this.counter), this.scroller);
    this.filter.addEventListener("input", () => {
      view.keep("filter", this.filter.value);
      this.select();
    });
    this.scroller.addEventListener("scroll", () => this.drawRows());
    addEventListener("resize", () => this.drawRows());
    view.onChange(() => this.follow());
    this.follow();
  }

  /** Shows the row of one stream alone. */
  showOnly(stream: number): void {
    this.view.keep("filter", `stream=${stream}`);
    this.follow();
    this.root.scrollIntoView({ block: "center" });
  }

  drawRows(): void {
    const from = printing() ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / kRowHeight) - kMargin);
    const seen = printing() ? kPrintedRows : Math.ceil(this.scroller.clientHeight / kRowHeight) + 2 * kMargin;
    const to = Math.min(this.order.length, from + seen);
    this.body.style.height = `${this.order.length * kRowHeight}px`;
    this.body.replaceChildren(...this.order.slice(from, to).map((row, i) => this.row(row, from + i)));
  }

  private get wanted(): string {
    return `${this.view.value("filter") ?? ""}\n${this.view.value("sort") ?? ""}`;
  }

  // A zoom changes neither, and is not to wait for 100,000 rows.
  private follow(): void {
    if (this.wanted === this.followed) return;
    this.filter.value = this.view.value("filter") ?? "";
    this.select();
  }

  private select(): void {
    this.followed = this.wanted;
    const { rows, columns } = this.streams;
    const holds = filterOf(this.filter.value, columns);
    const chosen: number[] = [];
    rows.forEach((row, i) => {
      if (holds(row)) chosen.push(i);
    });
    const [key, way] = (this.view.value("sort") ?? "").split(".");
    const column = columns.indexOf(key ?? "");
    this.order = column === -1 ? chosen : sorted(rows, chosen, column, way !== "up");
    this.counter.textContent = chosen.length === rows.length ? format.counted(rows.length, "row", "rows") : `${format.count(chosen.length)} of ${format.counted(rows.length, "row", "rows")}`;
    this.scroller.setAttribute("aria-rowcount", String(this.order.length + 1));
    this.kept.forEach((each, i) => this.headings[i]?.setAttribute("aria-sort", each !== column ? "none" : way === "up" ? "ascending" : "descending"));
    this.scroller.scrollTop = 0;
    this.drawRows();
  }

  private heading(column: number): HTMLElement {
    const name = this.streams.columns[column] ?? "";
    const press = element("button", { type: "button", title: `Sort by ${name}` }, kHeadings[name] ?? name);
    press.addEventListener("click", () => {
      const isDown = this.view.value("sort") === `${name}.down`;
      this.view.keep("sort", `${name}.${isDown ? "up" : "down"}`);
      this.select();
    });
    const made = element("div", { role: "columnheader", class: isText(name) ? "text" : "number", "aria-sort": "none" }, press);
    this.headings.push(made);
    return made;
  }

  private row(index: number, place: number): HTMLElement {
    const cells = this.kept.map((column) => {
      const name = this.streams.columns[column] ?? "";
      const cell = this.streams.rows[index]?.[column] ?? null;
      const tone = cell === 0 || cell === null ? " faint" : kBad.has(name) ? " bad" : kCaution.has(name) ? " caution" : "";
      return element("div", { role: "cell", class: (isText(name) ? "text" : "number") + tone, title: cell === null ? undefined : String(cell), "data-column": name }, cellText(name, cell));
    });
    const made = element("div", { class: place % 2 === 0 ? "row" : "row odd", role: "row", "aria-rowindex": place + 2 }, ...cells);
    made.style.transform = `translateY(${place * kRowHeight}px)`;
    return made;
  }
}

function isText(column: string): boolean {
  return column === "ends" || column === "service" || column === "point";
}

function width(column: string): string {
  if (column === "ends") return "minmax(20em, 1fr)";
  if (column === "point") return "9em";
  if (column.startsWith("lost_")) return "7.8em";
  if (column === "goodput" || column === "messages" || column === "packets" || column === "start_ns") return "7em";
  if (column === "service") return "3.6em";
  return column === "bytes" || column === "stream" || column.endsWith("_ns") || column === "resent" ? "6em" : "4.6em";
}
