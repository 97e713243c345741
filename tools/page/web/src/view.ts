// SPDX-License-Identifier: BSD-2-Clause
// The part of the time that all plots show, and what else the address bar keeps.
import type { Timeline } from "./types.ts";

export interface Range {
  begin: number; // nanoseconds since the start of the axis
  end: number;
}

/** The shortest time that a plot shows. */
const kLeast = 100;

/** Keeps a range inside the whole; one that is empty or no range at all becomes the whole. */
export function limited(range: Range, whole: number): Range {
  if (!(range.end > range.begin)) return { begin: 0, end: whole };
  const length = Math.min(whole, Math.max(kLeast, range.end - range.begin));
  const begin = Math.min(Math.max(0, range.begin), whole - length);
  return { begin, end: begin + length };
}

/** Makes a range longer (factor above 1) or shorter around its place `at`, which stays where it is. */
export function zoomed(range: Range, factor: number, at = (range.begin + range.end) / 2): Range {
  return { begin: at - (at - range.begin) * factor, end: at + (range.end - at) * factor };
}

export function moved(range: Range, share: number): Range {
  const by = (range.end - range.begin) * share;
  return { begin: range.begin + by, end: range.end + by };
}

export function parseFragment(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(text.replace(/^#/, ""))) parts.set(key, value);
  return parts;
}

export function parseRange(text: string | undefined): Range | undefined {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  if (match === null) return undefined;
  return { begin: Number(match[1]) * 1e9, end: Number(match[2]) * 1e9 };
}

export function rangeText(range: Range): string {
  return `${(range.begin / 1e9).toFixed(9)}-${(range.end / 1e9).toFixed(9)}`;
}

type Listener = () => void;

interface Follower {
  listener: Listener;
  isSeen: () => boolean;
}

export class View {
  private current: Range;
  private readonly followers: Follower[] = [];
  private readonly late = new Set<Listener>();
  private readonly values = new Map<string, string>();

  constructor(readonly whole: number) {
    this.current = { begin: 0, end: whole };
  }

  get range(): Range {
    return this.current;
  }
  get isWhole(): boolean {
    return this.current.begin === 0 && this.current.end === this.whole;
  }

  /** Calls a listener after each change: at once if it is about something on the screen, otherwise after what is there has been drawn. */
  onChange(listener: Listener, isSeen: () => boolean = () => true): void {
    this.followers.push({ listener, isSeen });
  }

  show(range: Range): void {
    const next = limited(range, this.whole);
    if (next.begin === this.current.begin && next.end === this.current.end) return;
    this.current = next;
    this.write();
    this.tell();
  }
  showAll(): void {
    this.show({ begin: 0, end: this.whole });
  }

  value(key: string): string | undefined {
    return this.values.get(key);
  }
  keep(key: string, value: string): void {
    if (value === "") this.values.delete(key);
    else this.values.set(key, value);
    this.write();
  }

  /** Keeps a value, and tells everybody. */
  change(key: string, value: string): void {
    this.keep(key, value);
    this.tell();
  }

  /** Takes over what a fragment says. */
  read(fragment: string): void {
    this.values.clear();
    const parts = parseFragment(fragment);
    for (const [key, value] of parts) if (key !== "t") this.values.set(key, value);
    this.current = limited(parseRange(parts.get("t")) ?? { begin: 0, end: 0 }, this.whole);
    this.tell();
  }
  fragment(): string {
    const parts = new URLSearchParams();
    if (!this.isWhole) parts.set("t", rangeText(this.current));
    for (const [key, value] of this.values) parts.set(key, value);
    return parts.toString();
  }

  private tell(): void {
    // Asked before anything changes, as the browser would have to lay out the page anew for each.
    const seen = this.followers.map((each) => each.isSeen());
    const isWaiting = this.late.size !== 0;
    this.followers.forEach((each, i) => {
      if (seen[i] !== true) {
        this.late.add(each.listener);
        return;
      }
      this.late.delete(each.listener);
      each.listener();
    });
    if (this.late.size !== 0 && !isWaiting) requestAnimationFrame(() => requestAnimationFrame(() => this.tellLate()));
  }
  private tellLate(): void {
    const listeners = [...this.late];
    this.late.clear();
    for (const listener of listeners) listener();
  }

  private write(): void {
    if (typeof history === "undefined") return;
    history.replaceState(null, "", `#${this.fragment()}`);
  }
}

/** The axis of a page without times. */
export const kNoTimeline: Timeline = { start: "", window_ns: 1, levels: [], series: [] };

/** The view of a timeline, as the address bar has it. */
export function viewOf(timeline: Timeline): View {
  const finest = timeline.levels[0] ?? { width_ns: 1, size: 1 };
  const view = new View(Math.max(1, finest.width_ns * finest.size));
  view.read(location.hash);
  return view;
}
