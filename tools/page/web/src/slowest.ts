// SPDX-License-Identifier: BSD-2-Clause
// The slowest messages, and what happened to each: its packets as a ladder.
import { button, element } from "./dom.ts";
import * as format from "./format.ts";
import { ladder } from "./ladder.ts";
import { isAnswer, packetsOf, tally, kNames, type Packet } from "./packets.ts";
import type { Report, SlowMessage } from "./types.ts";
import type { View } from "./view.ts";

/** Room around a message when the plots show its time, as a share of it. */
const kMargin = 0.1;

/** The name in the address bar of a message: another report of the same capture may have it at another place. */
export function keyOf({ message, direction }: SlowMessage): string {
  return `${message.stream}.${direction}.${message.first_frame ?? ""}`;
}

/** The packets of a message's time, and those of the message itself. */
export function packetsOfMessage(slow: SlowMessage, kinds: string[]): { packets: Packet[]; isOwn: (packet: Packet) => boolean } {
  const end = slow.first_psn + slow.message.psn_count;
  return { packets: packetsOf(slow, kinds), isOwn: (packet) => packet.psn < end && packet.psn + packet.count > slow.first_psn };
}

/** One sentence: what happened between its first packet and its answer. */
export function storyText(slow: SlowMessage, kinds: string[]): string {
  const { packets, isOwn } = packetsOfMessage(slow, kinds);
  const own = tally(packets.filter((packet) => isOwn(packet) && !isAnswer(packet)));
  const answers = tally(packets.filter(isAnswer));
  const words = [...own, ...answers].map(([kind, count]) => `${format.count(count)} ${kNames[kind] ?? kind}`);
  const { latency_ns: latency } = slow.message;
  const what = `${slow.message.type} of ${format.bytes(slow.message.bytes)}, ${format.counted(slow.message.psn_count, "packet", "packets")}`;
  return `${what}${latency === null ? "" : `, ${format.duration(latency)}`}. Drawn: ${words.join(", ")}.`;
}

export class SlowestView {
  readonly root: HTMLElement;
  private readonly story = element("div", { class: "story", "aria-live": "polite" });
  private readonly buttons: HTMLButtonElement[] = [];

  constructor(
    private readonly report: Report,
    private readonly view: View,
  ) {
    const head = ["latency", "message", "stream", "type", "bytes", "packets", "resent", "start (s)", "first frame", "last", "answer", ""];
    const rows = report.slowest.map((slow, i) => this.row(slow, i));
    const isLeft = new Set([1, 3]);
    const table = element("table", { class: "figures slowest" }, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: isLeft.has(i) ? "" : "number" }, text)))), element("tbody", {}, ...rows));
    this.root = element("div", {}, element("div", { class: "wide" }, table), this.story);
    view.onChange(() => this.tell());
    this.tell();
  }

  get isEmpty(): boolean {
    return this.report.slowest.length === 0;
  }

  private row(slow: SlowMessage, place: number): HTMLElement {
    const { message } = slow;
    const number = (value: number | null, text: (value: number) => string = String) => element("td", { class: "number", "data-exact": value ?? undefined }, value === null ? "–" : text(value));
    const choose = button("Ladder", () => this.view.change("slow", this.view.value("slow") === keyOf(slow) ? "" : keyOf(slow)), { "aria-expanded": "false", "aria-label": `Ladder of message ${place + 1}` });
    this.buttons.push(choose);
    const cells = [number(message.latency_ns, format.duration), element("td", {}, message.ends), number(message.stream), element("td", {}, message.type), number(message.bytes, format.count), number(message.psn_count, format.count), number(message.resent, format.count), element("td", { class: "number" }, format.seconds(slow.start_ns / 1e9)), number(message.first_frame), number(message.last_frame), number(message.answer_frame), element("td", {}, choose)];
    return element("tr", { "data-place": place }, ...cells);
  }

  private tell(): void {
    const key = this.view.value("slow");
    const slow = this.report.slowest.find((each) => keyOf(each) === key);
    this.buttons.forEach((each, i) => each.setAttribute("aria-expanded", String(slow !== undefined && this.report.slowest[i] === slow)));
    const told = slow === undefined ? "" : keyOf(slow);
    if (this.story.dataset["message"] === told) return;
    this.story.dataset["message"] = told;
    this.story.replaceChildren();
    if (slow === undefined) return;
    const { packets, isOwn } = packetsOfMessage(slow, this.report.psn.kinds);
    const whole = (slow.message.latency_ns ?? 0) * kMargin + 100;
    const show = button("Its time in all plots", () => this.view.show({ begin: slow.start_ns - whole, end: slow.start_ns + (slow.message.latency_ns ?? 0) + whole }));
    this.story.append(element("div", { class: "toolbar" }, element("span", {}, storyText(slow, this.report.psn.kinds)), show), ladder(slow.hosts, packets, isOwn, slow.breaks));
  }
}
