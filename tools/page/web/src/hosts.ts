// SPDX-License-Identifier: BSD-2-Clause
// Which hosts send to which: a matrix if they are few, otherwise the largest pairs.
import { element } from "./dom.ts";
import * as format from "./format.ts";
import type { HostPair, Report } from "./types.ts";

const kMatrix = 16;
const kPairs = 50;

interface Measure {
  name: string;
  value: (pair: HostPair) => number | null;
  text: (value: number) => string;
}

const kMeasures: Measure[] = [
  { name: "bytes", value: (pair) => pair.bytes, text: format.bytes },
  { name: "goodput (bytes)", value: (pair) => pair.goodput_bytes, text: format.bytes },
  { name: "lost packets of their streams", value: (pair) => pair.lost, text: format.count },
  { name: "packets sent again", value: (pair) => pair.resent, text: format.count },
  { name: "p99 latency", value: (pair) => pair.p99_ns, text: format.duration },
];

function matrix(report: Report, measure: Measure): HTMLElement {
  const { names, pairs } = report.hosts;
  const highest = Math.max(1, ...pairs.map((pair) => measure.value(pair) ?? 0));
  const head = element("tr", {}, element("th", {}, "from \\ to"), ...names.map((name) => element("th", { scope: "col", class: "number" }, name)));
  const rows = names.map((from, row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, from),
      ...names.map((_, column) => {
        const pair = pairs.find((each) => each.from === row && each.to === column);
        const value = pair === undefined ? null : measure.value(pair);
        const cell = element("td", { class: "number heat" }, value === null ? "" : value === 0 ? "–" : measure.text(value));
        if (value !== null) {
          cell.style.setProperty("--share", `${Math.round((value / highest) * 45)}%`);
          cell.dataset["exact"] = String(value);
        }
        return cell;
      }),
    ),
  );
  return element("table", { class: "matrix" }, element("thead", {}, head), element("tbody", {}, ...rows));
}

function list(report: Report): HTMLElement {
  const { names, pairs } = report.hosts;
  const rows = pairs.slice(0, kPairs).map((pair) =>
    element(
      "tr",
      {},
      element("td", {}, `${names[pair.from] ?? ""} → ${names[pair.to] ?? ""}`),
      element("td", { class: "number" }, format.count(pair.streams)),
      ...kMeasures.map((measure) => {
        const value = measure.value(pair);
        return element("td", { class: "number" }, value === null ? "–" : measure.text(value));
      }),
    ),
  );
  const head = ["from → to", "streams", ...kMeasures.map((measure) => measure.name)];
  return element("table", { class: "figures" }, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: i === 0 ? "" : "number" }, text)))), element("tbody", {}, ...rows));
}

export function hosts(report: Report): HTMLElement | null {
  const { names, pairs } = report.hosts;
  if (pairs.length === 0) return null;
  if (names.length > kMatrix) {
    const rest = pairs.length > kPairs ? element("p", { class: "hint" }, `The ${kPairs} pairs with most bytes.`) : null;
    return element("div", { class: "hosts wide" }, list(report), rest);
  }
  const place = element("div", { class: "wide" });
  const chooser = element("select", { "aria-label": "Measure" }, ...kMeasures.map((measure, i) => element("option", { value: i }, measure.name)));
  const fill = () => {
    const measure = kMeasures[Number(chooser.value)];
    if (measure !== undefined) place.replaceChildren(matrix(report, measure));
  };
  chooser.addEventListener("change", fill);
  fill();
  return element("div", { class: "hosts" }, element("div", { class: "toolbar" }, chooser), place);
}
