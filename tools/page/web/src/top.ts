// SPDX-License-Identifier: BSD-2-Clause
// The verdict, what was found, and what the capture lacks.
import { button, element } from "./dom.ts";
import * as format from "./format.ts";
import type { Finding, Report, Statement } from "./types.ts";
import type { Range, View } from "./view.ts";

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

/** Room around a time when the plots show it, as a share of it. */
const kMargin = 0.1;
const kLeastMargin = 1000; // nanoseconds

/** A part of the time with some room around it. */
export function around({ begin, end }: Range): Range {
  const margin = Math.max(kLeastMargin, (end - begin) * kMargin);
  return { begin: begin - margin, end: end + margin };
}

/** The time that a statement is about, if it says so. */
export function timeOf({ facts }: Statement): Range | undefined {
  const begin = facts?.["since_ns"];
  if (typeof begin !== "number") return undefined;
  const until = facts?.["until_ns"];
  const length = facts?.["duration_ns"];
  const end = typeof until === "number" ? until : begin + (typeof length === "number" ? length : 0);
  return { begin, end };
}

/** What belongs to a statement: its time, its first frame, and the filter that shows its packets. */
function more(statement: Statement, view: View): HTMLElement | null {
  const time = timeOf(statement);
  const { first_frame: frame, filter } = statement.facts ?? {};
  if (time === undefined && frame === undefined && filter === undefined) return null;
  const show = time === undefined ? null : button("Show", () => showTime(view, time), { "aria-label": "Show its time in all plots" });
  return element("span", { class: "more" }, show, frame === undefined ? null : `first in frame ${frame}`, filter === undefined ? null : element("code", {}, String(filter)));
}

function showTime(view: View, time: Range): void {
  view.show(around(time));
  document.getElementById("time")?.scrollIntoView({ block: "start" });
}

function findingRow(finding: Finding, isOneFile: boolean, showStream: (stream: number) => void, view: View): HTMLElement {
  const worst = element("td");
  for (const share of finding.worst) worst.append(button(`stream ${share.stream}: ${format.count(share.count)}`, () => showStream(share.stream), { class: "link" }));
  const severity = element("span", { class: `severity ${finding.severity}` }, finding.severity);
  const file = isOneFile || finding.file === null ? "" : ` of ${finding.file.replace(/.*\//, "")}`;
  return element(
    "tr",
    { "data-verdict": finding.verdict },
    element("td", {}, severity),
    element("td", { class: "number", "data-exact": finding.count }, format.count(finding.count)),
    element("td", {}, element("code", {}, finding.verdict), finding.point === undefined ? null : ` at ${finding.point}`, element("div", { class: "explanation" }, finding.text), finding.advice === "" ? null : element("div", { class: "advice" }, finding.advice)),
    element("td", { class: "first" }, button(`${format.seconds(finding.first_ns / 1e9)} s`, () => showTime(view, { begin: finding.first_ns, end: finding.last_ns }), { class: "link", title: "Show its time in all plots" }), finding.first_frame === null ? null : element("div", { class: "faint" }, `frame ${finding.first_frame}${file}`)),
    worst,
    element("td", { class: "filter" }, element("code", {}, `roce.analysis.${finding.verdict}`)),
  );
}

// A cause has no verdicts of its own; losses are among the findings as such.
function causeRow(statement: Statement, showStream: (stream: number) => void, view: View): HTMLElement {
  const { facts = {} } = statement;
  const time = timeOf(statement);
  const stream = facts["stream"];
  const first = element("td", { class: "first" });
  if (time !== undefined) first.append(button(`${format.seconds(time.begin / 1e9)} s`, () => showTime(view, time), { class: "link", title: "Show its time in all plots" }));
  if (facts["first_frame"] !== undefined) first.append(element("div", { class: "faint" }, `frame ${facts["first_frame"]}`));
  return element(
    "tr",
    { "data-cause": statement.cause },
    element("td", {}, element("span", { class: `severity ${statement.severity}` }, statement.severity)),
    element("td", { class: "number" }),
    element("td", {}, element("code", {}, statement.cause ?? ""), element("div", { class: "explanation" }, statement.text)),
    first,
    element("td", {}, typeof stream === "number" ? button(`stream ${stream}`, () => showStream(stream), { class: "link" }) : null),
    element("td", { class: "filter" }, facts["filter"] === undefined ? null : element("code", {}, String(facts["filter"]))),
  );
}

export function findings(report: Report, showStream: (stream: number) => void, view: View): HTMLElement {
  const all = report.summary.findings;
  const causes = report.summary.statements.filter(({ cause }) => cause !== undefined && cause !== "losses");
  if (all.length + causes.length === 0) return element("p", { class: "none" }, "Nothing was found.");
  const headings = ["severity", "count", "finding", "first", "most in", "display filter"];
  const table = element("table", { class: "findings" }, element("thead", {}, element("tr", {}, ...headings.map((text) => element("th", { scope: "col" }, text)))), element("tbody", {}, ...causes.map((statement) => causeRow(statement, showStream, view)), ...all.map((finding) => findingRow(finding, report.summary.capture.files.length === 1, showStream, view))));
  return element("div", { class: "wide" }, table);
}

function factList(rows: [string, string][]): HTMLElement {
  const list = element("dl", { class: "facts" });
  for (const [name, value] of rows) list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}

/** The head of a page: the verdict, what else is to be said, and facts. `extra`: what belongs to a statement besides its text. */
export function head(name: string, verdict: Statement, tone: string, statements: Statement[], facts: [string, string][], extra: (statement: Statement) => HTMLElement | null = () => null): HTMLElement {
  const header = element("header", { class: "top" }, element("p", { class: "program" }, name), element("h1", { class: `verdict ${tone}` }, sentenceCase(verdict.text)), extra(verdict));
  if (statements.length !== 0) header.append(element("ul", { class: "statements" }, ...statements.map((statement) => element("li", { class: statement.severity }, statement.text, extra(statement)))));
  header.append(factList(facts));
  return header;
}

export function top(report: Report, view: View): HTMLElement {
  const { summary } = report;
  const verdict = summary.statements[0] ?? { severity: "note", text: summary.verdict };
  return head("RoCE report", verdict, summary.clean ? "clean" : verdict.severity, summary.statements.slice(1), facts(report), (statement) => more(statement, view));
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
