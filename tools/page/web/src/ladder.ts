// SPDX-License-Identifier: BSD-2-Clause
// Packets as arrows between two hosts, from top to bottom.
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

/** A step of a ladder: a packet, or words about what is between two of them. */
export type Rung = Packet | string;

/** Packets from top to bottom, with what was left out and where time passed: each step is as high, however long it took. */
export function rungsOf(packets: Packet[], breaks: [number, number][] = []): Rung[] {
  const rungs: Rung[] = [];
  const whole = (packets[packets.length - 1]?.time ?? 0) - (packets[0]?.time ?? 0);
  const left = new Map(breaks);
  packets.forEach((packet, i) => {
    const count = left.get(packet.frame);
    left.delete(packet.frame);
    const gap = i === 0 ? 0 : packet.time - (packets[i - 1]?.time ?? 0);
    if (count !== undefined) rungs.push(`${format.counted(count, "packet", "packets")} not drawn, in ${format.duration(gap)}`);
    else if (gap > kLongGap && gap > whole * kLongShare && packets.length > 2) rungs.push(`nothing for ${format.duration(gap)}`);
    rungs.push(packet);
  });
  return rungs;
}

/** Draws packets between two hosts; those for which `isOwn` is true stand out. `breaks`: frames, and how many packets were left out before each. */
export function ladder(hosts: [string, string], packets: Packet[], isOwn: (packet: Packet) => boolean = () => false, breaks: [number, number][] = []): HTMLElement {
  const shown = packets.slice(0, kMost);
  const rungs = rungsOf(shown, breaks);
  const height = (rungs.length + 1) * kStep + 20;
  const words = `${format.counted(shown.length, "packet", "packets")} between ${hosts[0]} and ${hosts[1]}`;
  const svg = shape("svg", { viewBox: `0 0 860 ${height}`, width: 860, height, role: "img", "aria-label": words });
  for (const [x, host] of [
    [kLeft, hosts[0]],
    [kRight, hosts[1]],
  ] as const) {
    svg.append(shape("text", { x, y: 14, "text-anchor": "middle", class: "host" }, host));
    svg.append(shape("line", { x1: x, y1: 22, x2: x, y2: height, class: "rail" }));
  }
  rungs.forEach((packet, i) => {
    const y = 38 + i * kStep;
    if (typeof packet === "string") {
      svg.append(shape("line", { x1: kLeft, y1: y - 9, x2: kRight, y2: y - 9, class: "gap" }), shape("line", { x1: kLeft, y1: y + 9, x2: kRight, y2: y + 9, class: "gap" }));
      svg.append(shape("text", { x: (kLeft + kRight) / 2, y: y + 4, "text-anchor": "middle", class: "gap" }, `⋮ ${packet} ⋮`));
      return;
    }
    // An answer goes against the way of the requests.
    const isFromFirst = (packet.requester === 0) !== isAnswer(packet);
    const [from, to] = isFromFirst ? [kLeft, kRight] : [kRight, kLeft];
    const way = isFromFirst ? 1 : -1;
    const end = isLost(packet) ? (from + to) / 2 : to - 3 * way;
    svg.append(shape("line", { x1: from, y1: y, x2: end, y2: y + 4, class: `arrow ${packet.kind}` }));
    const tip = `${end},${y + 4} ${end - 8 * way},${y} ${end - 8 * way},${y + 8}`;
    if (isLost(packet)) svg.append(shape("text", { x: end, y: y + 9, "text-anchor": "middle", class: "cross" }, "✕"));
    else svg.append(shape("polygon", { points: tip, class: `tip ${packet.kind}` }));
    svg.append(shape("text", { x: kLeft - 12, y: y + 5, "text-anchor": "end", class: "time" }, `${format.seconds(packet.time / 1e9)}`));
    svg.append(shape("text", { x: kRight + 14, y: y + 5, class: `what ${packet.kind}${isOwn(packet) ? " own" : ""}` }, `${kNames[packet.kind]}, relative PSN ${packet.psn}, ${frameText(packet)}`));
  });
  const rest = packets.length - shown.length;
  return element("div", { class: "rungs wide" }, svg, rest === 0 ? null : element("p", { class: "hint" }, `${format.count(rest)} more are not drawn: zoom in.`));
}
