// SPDX-License-Identifier: BSD-2-Clause
// A table to sort and filter: only the rows that are seen are in the document, so that 100,000 of them cost nothing.
import { printing } from "./chart.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { filterOf, overlaps, sorted } from "./rows.ts";
import type { Cell, Rows } from "./types.ts";
import type { View } from "./view.ts";

const kRowHeight = 28;
const kMargin = 8;
const kPrintedRows = 200;

/** How a table shows its columns, each by its name. */
export interface TableLook {
  label: string;
  placeholder: string;
  key: string; // before the names of its filter and its order in the address bar
  isKept: (column: string) => boolean; // even if it has nothing
  heading: (column: string) => string;
  text: (column: string, cell: Cell) => string;
  isText: (column: string) => boolean;
  width: (column: string) => string;
  tone: (column: string, cell: Cell) => string; // a class
  span?: [string, string]; // columns with the begin and the length of what a row is about, in nanoseconds
}

export class RowTable {
  readonly root: HTMLElement;
  private readonly kept: number[]; // columns that have anything
  private readonly body = element("div", { class: "rows", role: "rowgroup" });
  private readonly scroller: HTMLElement;
  private readonly filter: HTMLInputElement;
  private readonly active = element("input", { type: "checkbox" });
  private readonly counter = element("span", { class: "counter", "aria-live": "polite" });
  private readonly headings: HTMLElement[] = [];
  private order: number[] = [];
  private followed: string | undefined; // the filter and the order that the view had

  constructor(
    private readonly table: Rows,
    private readonly view: View,
    private readonly look: TableLook,
  ) {
    this.scroller = element("div", { class: "scroller", role: "table", tabindex: 0, "aria-label": look.label });
    this.filter = element("input", { type: "search", placeholder: look.placeholder, "aria-label": `Filter of ${look.label.toLowerCase()}`, spellcheck: "false" });
    this.kept = table.columns.map((_, i) => i).filter((i) => look.isKept(table.columns[i] ?? "") || table.rows.some((row) => row[i] !== 0 && row[i] !== "" && row[i] !== null));
    const head = element("div", { class: "row head", role: "row" }, ...this.kept.map((column) => this.heading(column)));
    this.scroller.append(element("div", { role: "rowgroup", class: "heads" }, head), this.body);
    this.scroller.style.setProperty("--columns", this.kept.map((column) => look.width(table.columns[column] ?? "")).join(" "));
    this.root = element("div", { class: "streams" }, element("div", { class: "toolbar" }, this.filter, look.span === undefined ? null : element("label", {}, this.active, " only those of the time shown"), this.counter), this.scroller);
    this.filter.addEventListener("input", () => {
      view.keep(`${look.key}filter`, this.filter.value);
      this.select();
    });
    this.active.addEventListener("change", () => {
      view.keep(`${look.key}active`, this.active.checked ? "1" : "");
      this.select();
    });
    this.scroller.addEventListener("scroll", () => this.drawRows());
    addEventListener("resize", () => this.drawRows());
    view.onChange(() => this.follow());
    this.follow();
  }

  /** Shows only what a filter lets through. */
  showOnly(filter: string): void {
    this.view.keep(`${this.look.key}filter`, filter);
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
    return `${this.view.value(`${this.look.key}filter`) ?? ""}\n${this.view.value(`${this.look.key}sort`) ?? ""}\n${this.isOfView ? `${this.view.range.begin} ${this.view.range.end}` : ""}`;
  }

  private get isOfView(): boolean {
    return this.look.span !== undefined && this.view.value(`${this.look.key}active`) === "1";
  }

  // A zoom changes neither, and is not to wait for 100,000 rows.
  private follow(): void {
    if (this.wanted === this.followed) return;
    this.filter.value = this.view.value(`${this.look.key}filter`) ?? "";
    this.active.checked = this.isOfView;
    this.select();
  }

  private select(): void {
    this.followed = this.wanted;
    const { rows, columns } = this.table;
    const holds = filterOf(this.filter.value, columns);
    const chosen: number[] = [];
    const isOf = this.isOfView && this.look.span !== undefined ? overlaps(this.view.range, this.look.span.map((name) => columns.indexOf(name))) : () => true;
    rows.forEach((row, i) => {
      if (holds(row) && isOf(row)) chosen.push(i);
    });
    const [key, way] = (this.view.value(`${this.look.key}sort`) ?? "").split(".");
    const column = columns.indexOf(key ?? "");
    this.order = column === -1 ? chosen : sorted(rows, chosen, column, way !== "up");
    this.counter.textContent = chosen.length === rows.length ? format.counted(rows.length, "row", "rows") : `${format.count(chosen.length)} of ${format.counted(rows.length, "row", "rows")}`;
    this.scroller.setAttribute("aria-rowcount", String(this.order.length + 1));
    this.kept.forEach((each, i) => this.headings[i]?.setAttribute("aria-sort", each !== column ? "none" : way === "up" ? "ascending" : "descending"));
    this.scroller.scrollTop = 0;
    this.drawRows();
  }

  private heading(column: number): HTMLElement {
    const name = this.table.columns[column] ?? "";
    const press = element("button", { type: "button", title: `Sort by ${name}` }, this.look.heading(name));
    press.addEventListener("click", () => {
      const isDown = this.view.value(`${this.look.key}sort`) === `${name}.down`;
      this.view.keep(`${this.look.key}sort`, `${name}.${isDown ? "up" : "down"}`);
      this.select();
    });
    const made = element("div", { role: "columnheader", class: this.look.isText(name) ? "text" : "number", "aria-sort": "none" }, press);
    this.headings.push(made);
    return made;
  }

  private row(index: number, place: number): HTMLElement {
    const cells = this.kept.map((column) => {
      const name = this.table.columns[column] ?? "";
      const cell = this.table.rows[index]?.[column] ?? null;
      const tone = cell === 0 || cell === null ? "faint" : this.look.tone(name, cell);
      return element("div", { role: "cell", class: `${this.look.isText(name) ? "text" : "number"} ${tone}`, title: cell === null ? undefined : String(cell), "data-column": name }, this.look.text(name, cell));
    });
    const made = element("div", { class: place % 2 === 0 ? "row" : "row odd", role: "row", "aria-rowindex": place + 2 }, ...cells);
    made.style.transform = `translateY(${place * kRowHeight}px)`;
    return made;
  }
}
