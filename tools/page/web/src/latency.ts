// SPDX-License-Identifier: BSD-2-Clause
// How long messages or flows took: percentiles by their kind, as a curve and as a table.
import { element } from "./dom.ts";
import * as format from "./format.ts";
import type { Latencies } from "./types.ts";

const kSvg = "http://www.w3.org/2000/svg";
const kWidth = 760;
const kHeight = 260;
const kEdge = { left: 72, right: 20, top: 10, bottom: 26 };
const kColours = ["--goodput", "--resent", "--cnp", "--ce", "--lost", "--latency"];
const kDashes = ["", "7 4", "2 3", "10 3 2 3", "4 2", "12 4"];
const kTicks: [number, string][] = [
  [0.5, "p50"],
  [0.9, "p90"],
  [0.99, "p99"],
  [0.999, "p99.9"],
  [0.9999, "p99.99"],
];

function shape(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== "") made.textContent = text;
  return made;
}

/** Each nine of a share takes the same space, as rare cases are what matters. */
export function place(share: number): number {
  return Math.min(1, Math.log10(1 / Math.max(1e-5, 1 - share)) / 5 + share * 1e-9);
}

function curve({ curves, shares }: Latencies, what: string): SVGElement {
  const values = curves.flatMap((each) => each.ns).map((ns) => Math.max(1, ns));
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const x = (share: number) => kEdge.left + place(share) * (kWidth - kEdge.left - kEdge.right);
  const y = (ns: number) => kHeight - kEdge.bottom - ((Math.log10(Math.max(1, ns)) - low) / (high - low)) * (kHeight - kEdge.top - kEdge.bottom);
  const words = curves.map((each) => `${each.type}: p50 ${format.duration(each.latency["p50_ns"] ?? 0)}, p99 ${format.duration(each.latency["p99_ns"] ?? 0)}`).join("; ");
  const svg = shape("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, class: "curve", role: "img", "aria-label": `Times of ${what} by percentile. ${words}.` });
  for (let power = low; power <= high; ++power) {
    svg.append(shape("line", { x1: kEdge.left, x2: kWidth - kEdge.right, y1: y(10 ** power), y2: y(10 ** power), class: "rule" }));
    svg.append(shape("text", { x: kEdge.left - 8, y: y(10 ** power) + 4, "text-anchor": "end" }, format.duration(10 ** power)));
  }
  for (const [share, name] of kTicks) {
    svg.append(shape("line", { x1: x(share), x2: x(share), y1: kEdge.top, y2: kHeight - kEdge.bottom, class: "rule" }));
    svg.append(shape("text", { x: x(share), y: kHeight - 8, "text-anchor": "middle" }, name));
  }
  svg.append(shape("text", { x: x(1), y: kHeight - 8, "text-anchor": "end" }, "max"));
  curves.forEach((each, i) => {
    const points = each.ns.map((ns, k) => `${x(shares[k] ?? 1).toFixed(1)},${y(ns).toFixed(1)}`).join(" ");
    svg.append(shape("polyline", { points, class: "line", "data-stroke": kColours[i % 6] ?? "", "stroke-dasharray": kDashes[i % 6] ?? "" }));
  });
  return svg;
}

/** `kind`: the heading of the kinds; `what`: messages, or what else took time. */
export function latency(latencies: Latencies, kind: string, what: string): HTMLElement | null {
  const { curves } = latencies;
  if (curves.length === 0) return null;
  const keys = ["count", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"];
  const rows = curves.map((each, i) =>
    element(
      "tr",
      {},
      element("td", {}, element("span", { class: "swatch inline", "data-colour": kColours[i % 6] ?? "" }), each.type),
      ...keys.map((key) => {
        const value = each.latency[key];
        return element("td", { class: "number", "data-exact": value }, value === undefined ? "–" : key === "count" ? format.count(value) : format.duration(value));
      }),
    ),
  );
  const head = [kind, what, "min", "mean", "p50", "p90", "p99", "p99.9", "max"];
  const table = element("table", { class: "figures" }, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: i === 0 ? "" : "number" }, text)))), element("tbody", {}, ...rows));
  const picture = element("div", { class: "wide" });
  picture.append(curve(latencies, what));
  return element("div", {}, picture, element("div", { class: "wide" }, table));
}
