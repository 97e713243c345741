// SPDX-License-Identifier: BSD-2-Clause
// Colours of what has the same form differ for everybody: computed for people who lack a kind of cones.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { kLooks } from "../src/packets.ts";
import { kWaits } from "../src/waits.ts";
import { distance, kEyes, rgbOf, seenBy, type Rgb } from "./colours.ts";

const kApart = 18; // nine times of what is just seen
const kFromPaper = 30;

// The variables of the style sheet that are colours: as they are, and in the dark.
const [light = "", rest = ""] = readFileSync(process.env["ROCE_STYLE"] ?? "src/style.css", "utf8").split("@media (prefers-color-scheme: dark)");
const schemes = Object.entries({ light, dark: rest.slice(0, rest.indexOf("\n}")) }).map(([name, text]) => ({
  name,
  colours: new Map([...text.matchAll(/(--[a-z]+): (#[0-9a-f]{6})/g)].map((match) => [match[1] ?? "", rgbOf(match[2] ?? "")])),
}));

function apart(groups: Map<string, Set<string>>): void {
  for (const { name, colours } of schemes) {
    assert.ok(colours.size >= 15, name);
    for (const [form, names] of groups) {
      const all = [...names];
      all.forEach((left, i) => {
        for (const right of all.slice(i + 1)) {
          for (const eyes of kEyes) {
            const seen = [left, right].map((each) => seenBy(eyes, colours.get(each) as Rgb));
            const far = distance(seen[0] as Rgb, seen[1] as Rgb);
            assert.ok(far >= kApart, `${name}, ${form}, ${eyes}: ${left} and ${right} are ${far.toFixed(1)} apart`);
          }
        }
      });
    }
  }
}

function byForm(looks: { colour: string; form: string }[]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const { colour, form } of looks) {
    const names = groups.get(form) ?? new Set();
    // Two of one form and one colour could not be told apart by anybody.
    assert.ok(!names.has(colour), `${form} ${colour}`);
    groups.set(form, names.add(colour));
  }
  return groups;
}

test("what the simulation says is known: red and green of one lightness are one colour without cones for green", () => {
  const [red, green] = [rgbOf("#b05030"), rgbOf("#707820")];
  assert.ok(distance(red, green) > 45);
  assert.ok(distance(seenBy("deuteranopia", red), seenBy("deuteranopia", green)) < 12);
  assert.ok(distance(rgbOf("#ffffff"), rgbOf("#000000")) > 99.9);
});

test("the parts of the band are told apart", () => apart(byForm(kWaits.map(({ colour, fill }) => ({ colour, form: fill })))));

test("the packets of a PSN graph are told apart", () => apart(byForm(Object.values(kLooks))));

test("every colour that is drawn stands out from the paper", () => {
  const drawn = new Set([...kWaits.map((wait) => wait.colour), ...Object.values(kLooks).map((look) => look.colour)]);
  drawn.delete("--line"); // the application's part, which is to be quiet
  for (const { name, colours } of schemes) {
    for (const colour of drawn) {
      for (const eyes of kEyes) assert.ok(distance(seenBy(eyes, colours.get(colour) as Rgb), seenBy(eyes, colours.get("--paper") as Rgb)) >= kFromPaper, `${name} ${colour} ${eyes}`);
    }
  }
});
