// SPDX-License-Identifier: BSD-2-Clause
// The verdict, what was found, and what the capture lacks.
import { button, element } from "./dom.ts";
import * as format from "./format.ts";
import type { Finding, Report } from "./types.ts";

function facts(report: Report): [string, string][] {
  const { capture, hosts, connections, datagram_flows: datagrams } = report.summary;
  const files = capture.files.map((file) => file.file);
  const named = files.length > 3 ? [...files.slice(0, 3), `and ${format.count(files.length - 3)} more`] : files;
  return [
    [files.length === 1 ? "Capture" : "Captures", named.join(", ")],
    ["Time", capture.first === null ? "–" : `${capture.first} to ${capture.last ?? "–"}`],
    ["Packets", `${format.counted(capture.roce_packets, "RoCE packet", "RoCE packets")} in ${format.counted(capture.frames, "frame", "frames")}`],
    ["Between", `${format.counted(hosts, "host", "hosts")}: ${format.counted(connections, "connection", "connections")}${datagrams === 0 ? "" : `, ${format.counted(datagrams, "flow of datagrams", "flows of datagrams")}`}`],
  ];
}

function findingRow(finding: Finding, showStream: (stream: number) => void): HTMLElement {
  const worst = element("td");
  for (const share of finding.worst) worst.append(button(`stream ${share.stream}: ${format.count(share.count)}`, () => showStream(share.stream), { class: "link" }));
  const severity = element("span", { class: `severity ${finding.severity}` }, finding.severity);
  return element(
    "tr",
    { "data-verdict": finding.verdict },
    element("td", {}, severity),
    element("td", { class: "number", "data-exact": finding.count }, format.count(finding.count)),
    element("td", {}, element("code", {}, finding.verdict), finding.point === undefined ? null : ` at ${finding.point}`, element("div", { class: "explanation" }, finding.text), finding.advice === "" ? null : element("div", { class: "advice" }, finding.advice)),
    worst,
    element("td", { class: "filter" }, element("code", {}, `roce.analysis.${finding.verdict}`)),
  );
}

export function findings(report: Report, showStream: (stream: number) => void): HTMLElement {
  const all = report.summary.findings;
  if (all.length === 0) return element("p", { class: "none" }, "Nothing was found.");
  const headings = ["severity", "count", "finding", "most in", "display filter"];
  const table = element("table", { class: "findings" }, element("thead", {}, element("tr", {}, ...headings.map((text) => element("th", { scope: "col" }, text)))), element("tbody", {}, ...all.map((finding) => findingRow(finding, showStream))));
  return element("div", { class: "wide" }, table);
}

function factList(rows: [string, string][]): HTMLElement {
  const list = element("dl", { class: "facts" });
  for (const [name, value] of rows) list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}

/** The head of a page: the verdict, what else is to be said, and facts. */
export function head(name: string, verdict: string, tone: string, statements: { severity: string; text: string }[], facts: [string, string][]): HTMLElement {
  const header = element("header", { class: "top" }, element("p", { class: "program" }, name), element("h1", { class: `verdict ${tone}` }, sentenceCase(verdict)));
  if (statements.length !== 0) header.append(element("ul", { class: "statements" }, ...statements.map((statement) => element("li", { class: statement.severity }, statement.text))));
  header.append(factList(facts));
  return header;
}

export function top(report: Report): HTMLElement {
  const { summary } = report;
  const worst = summary.statements[0]?.severity ?? "note";
  return head("RoCE report", summary.verdict, summary.clean ? "clean" : worst, summary.statements.slice(1), facts(report));
}

export function lacks(report: Report): HTMLElement | null {
  const all = report.summary.capture.lacks;
  if (all.length === 0) return null;
  return element("section", { id: "lacks" }, element("h2", {}, "What the capture lacks"), element("ul", {}, ...all.map((text) => element("li", {}, text))));
}

function sentenceCase(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return first.endsWith(".") ? first : `${first}.`;
}
