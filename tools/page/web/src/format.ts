// SPDX-License-Identifier: BSD-2-Clause
// Quantities for people.

const kPrefixes = ["", "k", "M", "G", "T", "P", "E"];

/** Three significant digits. */
function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 || value === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value: number, base: number, prefixes: string[]): [string, string] {
  let step = 0;
  let rest = value;
  while (Math.abs(rest) >= base * 0.9995 && step + 1 < prefixes.length) {
    rest /= base;
    ++step;
  }
  const whole = step === 0 && Number.isInteger(rest);
  return [whole ? String(rest) : digits(rest), prefixes[step] ?? ""];
}

export function count(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

export function shortCount(value: number): string {
  const [text, prefix] = scaled(value, 1000, kPrefixes);
  return prefix === "" ? text : `${text} ${prefix}`;
}

export function bitRate(value: number): string {
  const [text, prefix] = scaled(value, 1000, kPrefixes);
  return `${text} ${prefix}bit/s`;
}

export function bytes(value: number): string {
  const [text, prefix] = scaled(value, 1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]);
  return `${text} ${prefix}B`;
}

export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 1e6) return `${digits(ns / 1e3)} us`;
  if (size < 1e9) return `${digits(ns / 1e6)} ms`;
  if (size < 120e9) return `${digits(ns / 1e9)} s`;
  if (size < 7200e9) return `${digits(ns / 60e9)} min`;
  if (size < 48 * 3600e9) return `${digits(ns / 3600e9)} h`;
  return `${digits(ns / 86400e9)} d`;
}

export function percent(part: number): string {
  return `${digits(part * 100)} %`;
}

/** Seconds with as many decimal places as tell apart times that are `step` seconds from each other. */
export function seconds(value: number, step = 1e-6): string {
  const least = Math.max(0, Math.ceil(-Math.log10(step)));
  // Steps of 2.5 ms need a place more than those of 2 ms.
  const isWhole = Math.abs(step * 10 ** least - Math.round(step * 10 ** least)) < 1e-6;
  return value.toFixed(Math.min(9, isWhole ? least : least + 1));
}

export function counted(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
