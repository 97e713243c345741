// SPDX-License-Identifier: BSD-2-Clause
// Instances of a conformance run by area and verdict: each number shows what it counts.
import type { Areas } from "./conform_types.ts";
import { button, element } from "./dom.ts";
import * as format from "./format.ts";

const kAlways = new Set(["pass", "fail"]);
const kTones: Record<string, string> = { pass: "", deviates: "caution", known: "faint", skip: "faint" };

export function headingOf(verdict: string): string {
  return verdict.replace(/_/g, " ");
}

export class AreaMatrix {
  readonly root: HTMLElement;

  constructor(
    private readonly areas: Areas,
    private readonly show: (filter: string) => void,
  ) {
    const kept = areas.verdicts.map((_, i) => i).filter((i) => kAlways.has(areas.verdicts[i] ?? "") || areas.all[i] !== 0);
    const head = element("tr", {}, element("th", { scope: "col" }, "area"), element("th", { scope: "col", class: "number" }, "cases"), ...kept.map((i) => element("th", { scope: "col", class: "number" }, headingOf(areas.verdicts[i] ?? ""))));
    const rows = areas.rows.map(({ area, cases, counts }) => this.row(area, `area=${area}`, cases, counts, kept));
    const cases = areas.rows.reduce((sum, row) => sum + row.cases, 0);
    const table = element("table", { class: "matrix verdicts" }, element("thead", {}, head), element("tbody", {}, ...rows), element("tfoot", {}, this.row("all", "", cases, areas.all, kept)));
    this.root = element("div", { class: "wide" }, table);
  }

  private row(name: string, filter: string, cases: number, counts: number[], kept: number[]): HTMLElement {
    const cells = kept.map((i) => {
      const verdict = this.areas.verdicts[i] ?? "";
      const count = counts[i] ?? 0;
      const cell = element("td", { class: `number ${count === 0 ? "faint" : (kTones[verdict] ?? "bad")}`, "data-area": name, "data-verdict": verdict, "data-exact": count });
      const wanted = `${filter} verdict=${verdict}`.trim();
      cell.append(count === 0 ? "–" : button(format.count(count), () => this.show(wanted), { class: "bare", "aria-label": `${headingOf(verdict)} of ${name}: ${count}, show them` }));
      return cell;
    });
    return element("tr", {}, element("th", { scope: "row" }, button(name, () => this.show(filter), { class: "bare" })), element("td", { class: "number" }, format.count(cases)), ...cells);
  }
}
