// SPDX-License-Identifier: BSD-2-Clause
// What deviated in a conformance run, each with what was expected and seen, and its frames as a ladder.
import { headingOf } from "./areas.ts";
import type { Conformance, Deviation, StepFrame } from "./conform_types.ts";
import { button, element } from "./dom.ts";
import * as format from "./format.ts";
import { rungs } from "./ladder.ts";
import type { View } from "./view.ts";

const kMild = new Set(["deviates"]);

function ladderOf({ frames, line, more_frames: more }: Deviation): HTMLElement | null {
  if (frames === null) return element("p", { class: "hint" }, "Its frames are left out of this page.");
  if (frames.length === 0) return element("p", { class: "hint" }, "No frame was sent or seen.");
  const rung = ([time, isFromDevice, kind, text, at]: StepFrame) => ({ isFromFirst: !isFromDevice, kind, time: format.duration(time), text: `${text}  (line ${at})`, isOwn: at === line });
  const words = `${format.counted(frames.length, "frame", "frames")} between tester and device`;
  return rungs(["tester", "device"], frames.map(rung), words, more === 0 ? null : element("p", { class: "hint" }, `${format.count(more)} before these are left out.`));
}

function comparison({ fields }: Deviation): HTMLElement | null {
  if (fields.length === 0) return null;
  const head = element("tr", {}, ...["field", "expected", "seen", ""].map((text) => element("th", { scope: "col" }, text)));
  const rows = fields.map((each) => element("tr", {}, element("th", { scope: "row" }, each.field), element("td", {}, each.expected), element("td", { class: each.right ? "" : "bad" }, each.seen), element("td", { class: each.right ? "faint" : "bad" }, each.right ? "right" : "wrong")));
  return element("div", { class: "wide" }, element("table", { class: "figures" }, element("thead", {}, head), element("tbody", {}, ...rows)));
}

function story(one: Deviation): HTMLElement {
  const rule = ([name, text]: [string, string]) => element("li", {}, element("strong", {}, name), text === "" ? "" : `: ${text}`);
  return element(
    "div",
    { class: "story" },
    element("p", {}, one.title),
    element("ul", { class: "rules" }, ...one.rules.map(rule)),
    one.why === "" ? null : element("p", { class: "hint" }, one.why),
    element("p", { class: "seen" }, one.place === "" ? null : element("code", {}, one.place), one.place === "" ? one.message : `: ${one.message}`),
    comparison(one),
    one.damage === "" ? null : element("p", {}, `Damage: ${one.damage}.`),
    one.tries.length === 0 ? null : element("ol", {}, ...one.tries.map((text) => element("li", {}, text))),
    ladderOf(one),
    element("p", {}, "Run it alone: ", element("code", {}, one.alone)),
  );
}

/** One part that opens for each deviation; the address bar keeps the one that was opened last. */
export function deviations(all: Deviation[], leftOut: Conformance["left_out"], view: View): HTMLElement | null {
  if (all.length === 0) return null;
  const wanted = view.value("deviation") ?? all[0]?.instance;
  const parts = all.map((one) => {
    const tone = kMild.has(one.verdict) ? "warning" : "error";
    const summary = element("summary", {}, element("span", { class: `severity ${tone}` }, headingOf(one.verdict)), ` ${one.instance}`, element("span", { class: "faint" }, ` ${one.message}`));
    const part = element("details", { class: "deviation", "data-instance": one.instance, open: one.instance === wanted }, summary);
    // Ladders of all would be many thousands of shapes.
    const fill = () => {
      if (part.open && part.childElementCount === 1) part.append(story(one));
    };
    fill();
    part.addEventListener("toggle", fill);
    summary.addEventListener("click", () => view.keep("deviation", part.open ? "" : one.instance));
    return part;
  });
  const setAll = (isOpen: boolean) => parts.forEach((part) => part.toggleAttribute("open", isOpen));
  const tools = element("div", { class: "toolbar" }, button("Open all", () => setAll(true)), button("Close all", () => setAll(false)), element("span", { class: "counter" }, format.counted(all.length, "deviation", "deviations")));
  const missing = leftOut.deviations === 0 ? null : element("p", { class: "hint" }, `${format.count(leftOut.deviations)} more are left out of this page; the JSON file of the run has all of them.`);
  return element("div", {}, tools, ...parts, missing);
}
