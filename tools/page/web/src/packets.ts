// SPDX-License-Identifier: BSD-2-Clause
// The packets of a PSN graph, without a document.
import type { Points } from "./types.ts";

export interface Packet {
  time: number; // nanoseconds since the start of the axis
  psn: number;
  count: number;
  frame: number;
  kind: string;
  requester: number;
}

const kAnswers = new Set(["answered", "nak", "rnr_nak", "read_response"]);

export const kNames: Record<string, string> = {
  sent: "sent",
  sent_again: "sent again",
  late: "overtaken",
  copy: "copy",
  answered: "acknowledged",
  nak: "NAK",
  rnr_nak: "RNR NAK",
  read_response: "READ response",
  lost: "lost after the capture point",
  lost_unseen: "lost before the capture point",
};

export type Form = "bar" | "block" | "box" | "dot" | "cross" | "diamond" | "ring" | "target";

/** How packets are drawn: those of one form have colours that are told apart. */
export const kLooks: Record<string, { colour: string; form: Form }> = {
  sent: { colour: "--goodput", form: "bar" },
  sent_again: { colour: "--resent", form: "block" },
  late: { colour: "--ce", form: "box" },
  copy: { colour: "--faint", form: "box" },
  answered: { colour: "--cnp", form: "dot" },
  nak: { colour: "--nak", form: "cross" },
  rnr_nak: { colour: "--rnr", form: "diamond" },
  read_response: { colour: "--latency", form: "dot" },
  lost: { colour: "--lost", form: "ring" },
  lost_unseen: { colour: "--lost", form: "target" },
};

/** Signs of the forms, for legends. */
export const kSigns: Record<Form, string> = { bar: "❘", block: "■", box: "□", dot: "•", cross: "✕", diamond: "◇", ring: "○", target: "◎" };

export function isAnswer(packet: Packet): boolean {
  return kAnswers.has(packet.kind);
}

export function isLost(kind: string): boolean {
  return kind === "lost" || kind === "lost_unseen";
}

/** The frame of a packet; for one that was never seen, the frame that shows it. */
export function frameText(packet: Packet): string {
  return packet.kind === "lost_unseen" ? `as frame ${packet.frame} shows` : `frame ${packet.frame}`;
}

/** The packets of one requester, or of both, with what answers them. */
export function packetsOf(graph: { points: Points }, kinds: string[], requester?: number): Packet[] {
  const { time, psn, frame, kind, count } = graph.points;
  const all: Packet[] = [];
  time.forEach((at, i) => {
    const who = graph.points.requester[i] ?? 0;
    if (requester !== undefined && who !== requester) return;
    all.push({ time: at, psn: psn[i] ?? 0, count: count[i] ?? 1, frame: frame[i] ?? 0, kind: kinds[kind[i] ?? 0] ?? "", requester: who });
  });
  return all;
}

/** Those between two times; `packets` are in their order. */
export function between(packets: Packet[], begin: number, end: number): Packet[] {
  const first = (time: number) => {
    let low = 0;
    let high = packets.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((packets[middle]?.time ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return packets.slice(first(begin), first(end));
}

export function tally(packets: Packet[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const packet of packets) counts.set(packet.kind, (counts.get(packet.kind) ?? 0) + 1);
  return Object.keys(kNames)
    .filter((kind) => counts.has(kind))
    .map((kind) => [kind, counts.get(kind) ?? 0]);
}
