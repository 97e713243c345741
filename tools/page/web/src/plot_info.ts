// SPDX-License-Identifier: BSD-2-Clause
// The title of each plot, the form of its numbers, and its sentence for those who do not see it.
import type { Column, SeriesColumns } from "./columns.ts";
import * as format from "./format.ts";
import type { Timeline } from "./types.ts";

export interface PlotInfo {
  name: string;
  title: string;
  colour: string; // a variable of the style sheet
  one: string;
  many: string;
}

const kInfos: PlotInfo[] = [
  { name: "goodput", title: "Goodput", colour: "--goodput", one: "", many: "" },
  { name: "latency", title: "Message latency", colour: "--latency", one: "message", many: "messages" },
  { name: "under_way", title: "Under way", colour: "--cnp", one: "packet", many: "packets" },
  { name: "resent", title: "Sent again", colour: "--resent", one: "packet sent again", many: "packets sent again" },
  { name: "lost", title: "Lost", colour: "--lost", one: "packet lost", many: "packets lost" },
  { name: "nak", title: "NAK", colour: "--nak", one: "NAK", many: "NAKs" },
  { name: "rnr", title: "RNR NAK", colour: "--rnr", one: "RNR NAK", many: "RNR NAKs" },
  { name: "ce", title: "Marked (CE)", colour: "--ce", one: "packet marked", many: "packets marked" },
  { name: "cnp", title: "CNP", colour: "--cnp", one: "CNP", many: "CNPs" },
  { name: "queue", title: "Longest queue, with the frame that leaves", colour: "--latency", one: "", many: "" },
  { name: "dropped", title: "Dropped", colour: "--lost", one: "packet dropped", many: "packets dropped" },
  { name: "ports_paused", title: "Ports that were paused", colour: "--pause", one: "port", many: "ports" },
];

export function plotInfo(name: string): PlotInfo {
  const found = kInfos.find((info) => info.name === name);
  if (found !== undefined) return found;
  const priority = name.replace("paused_", "");
  return { name, title: priority === "all" ? "Paused (PAUSE)" : `Paused, priority ${priority}`, colour: "--pause", one: "", many: "" };
}

/** Plots from top to bottom. */
export function plotOrder(name: string): number {
  const place = kInfos.findIndex((info) => info.name === name);
  return place === -1 ? kInfos.length : place;
}

/** The heights of a column, in the unit of the plot's axis. */
export function heights(column: Column, columns: SeriesColumns, timeline: Timeline): { low: number; high: number; mean: number } {
  if (columns.measure === "sample" || columns.measure === "level") return { low: column.low, high: column.high, mean: column.high };
  if (columns.measure === "count") return { low: 0, high: column.sum, mean: column.sum };
  const unit = columns.series.name === "goodput" ? 8e9 : 1;
  const window = timeline.window_ns;
  return { low: (column.low * unit) / window, high: (column.high * unit) / window, mean: (column.sum * unit) / (column.end - column.begin) };
}

export function heightText(columns: SeriesColumns, value: number): string {
  if (columns.measure === "sample") return format.duration(value);
  if (columns.series.name === "queue") return format.bytes(value);
  if (columns.measure === "count" || columns.measure === "level") return format.shortCount(value);
  return columns.series.name === "goodput" ? format.bitRate(value) : format.percent(value);
}

/** The total as the heading has it. */
export function totalText(columns: SeriesColumns): string {
  const { name, total } = columns.series;
  const info = plotInfo(name);
  if (name === "goodput") return format.bytes(total);
  if (name === "queue") return `at most ${format.bytes(total)}`;
  if (columns.measure === "level") return `at most ${format.counted(total, info.one, info.many)}`;
  if (columns.measure === "sample") {
    return format.counted(columns.whole(0, Infinity).count, info.one, info.many);
  }
  if (columns.measure === "rate") return format.duration(total);
  return format.counted(total, info.one, info.many);
}

/** The same of a part of the axis, as the plots draw it. */
export function sumText(columns: SeriesColumns, begin: number, end: number): string {
  const { sum, count, high } = columns.whole(begin, end);
  if (columns.series.name === "goodput") return format.bytes(sum);
  if (columns.measure === "rate") return format.duration(sum);
  if (columns.measure === "count") return format.count(sum);
  if (columns.measure === "sample") return format.count(count);
  return `at most ${columns.series.name === "queue" ? format.bytes(high) : format.count(high)}`;
}

/** One sentence about a part of the axis. */
export function sentence(columns: SeriesColumns, timeline: Timeline, begin: number, end: number): string {
  const info = plotInfo(columns.series.name);
  const parts = columns.columns(begin, end, 1024);
  const where = `${format.seconds(begin / 1e9)} to ${format.seconds(end / 1e9)} s`;
  const first = parts[0];
  if (first === undefined) return `${info.title}, ${where}: nothing.`;
  let most = first;
  for (const part of parts) if (heights(part, columns, timeline).high > heights(most, columns, timeline).high) most = part;
  const at = (column: Column) => `${format.seconds(column.begin / 1e9)} s`;
  const highest = heightText(columns, heights(most, columns, timeline).high);
  if (columns.measure !== "count") return `${info.title}, ${where}: at most ${highest}, at ${at(most)}.`;
  const all = parts.reduce((sum, part) => sum + part.sum, 0);
  return `${info.title}, ${where}: ${format.counted(all, info.one, info.many)}, the first at ${at(first)}, most (${highest}) at ${at(most)}.`;
}
