// SPDX-License-Identifier: BSD-2-Clause
// The way of the packets from one capture point to the next, and where they died.
import { element } from "./dom.ts";
import * as format from "./format.ts";
import type { Crossing, Report } from "./types.ts";

function died(crossing: Crossing): number {
  return crossing.lost + crossing.damaged;
}

/** Puts crossings together that follow one another, without turning back; each is in one row. */
export function rowsOf(crossings: Crossing[]): Crossing[][] {
  const left = new Set(crossings);
  const follows = (a: Crossing, b: Crossing) => a.to === b.from && a.from !== b.to;
  const rows: Crossing[][] = [];
  while (left.size !== 0) {
    // In a ring every crossing follows another one: any is the first.
    const first = [...left].find((each) => ![...left].some((other) => follows(other, each))) ?? [...left][0];
    if (first === undefined) break;
    const row: Crossing[] = [];
    for (let next: Crossing | undefined = first; next !== undefined; ) {
      const here: Crossing = next;
      left.delete(here);
      row.push(here);
      next = [...left].find((each) => follows(here, each));
    }
    rows.push(row);
  }
  return rows;
}

function hop(crossing: Crossing): HTMLElement {
  const dead = died(crossing);
  const share = crossing.packets === 0 ? "" : ` (${format.percent(dead / crossing.packets)})`;
  const fate = dead === 0 ? `none of ${format.count(crossing.packets)} died` : `${format.count(dead)} of ${format.count(crossing.packets)} died${share}`;
  const delay = crossing.delay_p50_ns === null ? null : element("span", { class: "faint" }, `median ${format.duration(crossing.delay_p50_ns)}`);
  return element("li", { class: dead === 0 ? "hop" : "hop dead" }, element("span", {}, fate), element("span", { class: "way", "aria-hidden": true }), delay);
}

function drawn(row: Crossing[]): HTMLElement {
  const point = (name: string) => element("li", { class: "point" }, name);
  return element("ol", { class: "path" }, ...row.flatMap((crossing, i) => (i === 0 ? [point(crossing.from), hop(crossing), point(crossing.to)] : [hop(crossing), point(crossing.to)])));
}

const kFigures: [string, (crossing: Crossing) => number][] = [
  ["packets", (crossing) => crossing.packets],
  ["at both", (crossing) => crossing.matched],
  ["lost", (crossing) => crossing.lost],
  ["damaged", (crossing) => crossing.damaged],
  ["duplicated", (crossing) => crossing.duplicated],
  ["reordered", (crossing) => crossing.reordered],
  ["missed by the first", (crossing) => crossing.missed],
  ["not judged", (crossing) => crossing.not_judged],
];

function figures(crossings: Crossing[]): HTMLElement {
  const head = element("tr", {}, element("th", { scope: "col" }, "from → to"), ...kFigures.map(([name]) => element("th", { scope: "col", class: "number" }, name)), element("th", { scope: "col", class: "number" }, "median delay"));
  const rows = crossings.map((crossing) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, `${crossing.from} → ${crossing.to}`),
      ...kFigures.map(([, value]) => element("td", { class: "number", "data-exact": value(crossing) }, format.count(value(crossing)))),
      element("td", { class: "number", "data-exact": crossing.delay_p50_ns ?? undefined }, crossing.delay_p50_ns === null ? "–" : format.duration(crossing.delay_p50_ns)),
    ),
  );
  return element("div", { class: "wide" }, element("table", { class: "figures" }, element("thead", {}, head), element("tbody", {}, ...rows)));
}

/** The way by capture points; null if there is one only, or none saw the packets of another one. */
export function points(report: Report): HTMLElement | null {
  const { crossings } = report.summary;
  if (crossings === undefined || crossings.length === 0) return null;
  return element("div", {}, ...rowsOf(crossings).map(drawn), figures(crossings));
}
