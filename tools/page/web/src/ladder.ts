// SPDX-License-Identifier: BSD-2-Clause
// Frames as arrows between two hosts, from top to bottom.
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { frameText, isAnswer, isLost, kNames, type Packet } from "./packets.ts";

const kMost = 60;
const kStep = 22;
const kLongGap = 10_000; // nanoseconds without a packet that are worth a word, if they are this share of the time drawn
const kLongShare = 0.1;
const kLeft = 110;
const kRight = 500;
const kSvg = "http://www.w3.org/2000/svg";

function shape(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== "") made.textContent = text;
  return made;
}

/** One frame of a ladder. */
export interface Rung {
  isFromFirst: boolean; // goes from the first host to the second
  kind: string; // of `kNames`: its colour, and whether it arrives
  time: string;
  text: string;
  isOwn: boolean; // stands out
}

// Room for a text of this many letters.
const kLetters = 48;
const kLetter = 7.2;

/** Draws frames between two hosts, and words about what is between two of them; `rest` more are not drawn. */
export function rungs(hosts: [string, string], all: (Rung | string)[], words: string, rest: HTMLElement | null): HTMLElement {
  const height = (all.length + 1) * kStep + 20;
  const longest = Math.max(0, ...all.map((rung) => (typeof rung === "string" ? 0 : rung.text.length)));
  const width = 860 + Math.ceil(kLetter * Math.max(0, longest - kLetters));
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
  for (const [x, host] of [
    [kLeft, hosts[0]],
    [kRight, hosts[1]],
  ] as const) {
    svg.append(shape("text", { x, y: 14, "text-anchor": "middle", class: "host" }, host));
    svg.append(shape("line", { x1: x, y1: 22, x2: x, y2: height, class: "rail" }));
  }
  all.forEach((rung, i) => {
    const y = 38 + i * kStep;
    if (typeof rung === "string") {
      for (const edge of [-9, 9]) svg.append(shape("line", { x1: kLeft, y1: y + edge, x2: kRight, y2: y + edge, class: "gap" }));
      svg.append(shape("text", { x: (kLeft + kRight) / 2, y: y + 4, "text-anchor": "middle", class: "gap" }, `⋮ ${rung} ⋮`));
      return;
    }
    const { isFromFirst, kind, time, text, isOwn } = rung;
    const [from, to] = isFromFirst ? [kLeft, kRight] : [kRight, kLeft];
    const way = isFromFirst ? 1 : -1;
    const end = isLost(kind) ? (from + to) / 2 : to - 3 * way;
    svg.append(shape("line", { x1: from, y1: y, x2: end, y2: y + 4, class: `arrow ${kind}` }));
    const tip = `${end},${y + 4} ${end - 8 * way},${y} ${end - 8 * way},${y + 8}`;
    if (isLost(kind)) svg.append(shape("text", { x: end, y: y + 9, "text-anchor": "middle", class: "cross" }, "✕"));
    else svg.append(shape("polygon", { points: tip, class: `tip ${kind}` }));
    svg.append(shape("text", { x: kLeft - 12, y: y + 5, "text-anchor": "end", class: "time" }, time));
    svg.append(shape("text", { x: kRight + 14, y: y + 5, class: `what ${kind}${isOwn ? " own" : ""}` }, text));
  });
  return element("div", { class: "rungs wide" }, svg, rest);
}

/** Packets from top to bottom, with words for what was left out and where time passed: each step is as high, however long it took. */
export function withGaps(packets: Packet[], breaks: [number, number][] = []): (Packet | string)[] {
  const all: (Packet | string)[] = [];
  const whole = (packets[packets.length - 1]?.time ?? 0) - (packets[0]?.time ?? 0);
  const left = new Map(breaks);
  packets.forEach((packet, i) => {
    const count = left.get(packet.frame);
    left.delete(packet.frame);
    const gap = i === 0 ? 0 : packet.time - (packets[i - 1]?.time ?? 0);
    if (count !== undefined) all.push(`${format.counted(count, "packet", "packets")} not drawn, in ${format.duration(gap)}`);
    else if (gap > kLongGap && gap > whole * kLongShare && packets.length > 2) all.push(`nothing for ${format.duration(gap)}`);
    all.push(packet);
  });
  return all;
}

/** Draws packets between two hosts; those for which `isOwn` is true stand out. `breaks`: frames, and how many packets were left out before each. */
export function ladder(hosts: [string, string], packets: Packet[], isOwn: (packet: Packet) => boolean = () => false, breaks: [number, number][] = []): HTMLElement {
  const shown = packets.slice(0, kMost);
  const words = `${format.counted(shown.length, "packet", "packets")} between ${hosts[0]} and ${hosts[1]}`;
  const rest = packets.length - shown.length;
  const all = withGaps(shown, breaks).map((packet) =>
    typeof packet === "string"
      ? packet
      : {
          // An answer goes against the way of the requests.
          isFromFirst: (packet.requester === 0) !== isAnswer(packet),
          kind: packet.kind,
          time: format.seconds(packet.time / 1e9),
          text: `${kNames[packet.kind]}, relative PSN ${packet.psn}, ${frameText(packet)}`,
          isOwn: isOwn(packet),
        },
  );
  return rungs(hosts, all, words, rest === 0 ? null : element("p", { class: "hint" }, `${format.count(rest)} more are not drawn: zoom in.`));
}
