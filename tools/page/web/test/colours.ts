// SPDX-License-Identifier: BSD-2-Clause
// Colours as people see them: simulated deficiencies (Machado, Oliveira and Fernandes, 2009, severity 1) and the distance
// of two colours (CIE 1976, in L*a*b*: about 2 is just seen, side by side).

export type Rgb = [number, number, number]; // linear, 0 to 1

export function rgbOf(hex: string): Rgb {
  const linear = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [linear(1), linear(3), linear(5)];
}

const kMatrices: Record<string, number[]> = {
  "all cones": [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
export const kEyes = Object.keys(kMatrices);

export function seenBy(eyes: string, [r, g, b]: Rgb): Rgb {
  const m = kMatrices[eyes] ?? [];
  const row = (at: number) => Math.min(1, Math.max(0, (m[at] ?? 0) * r + (m[at + 1] ?? 0) * g + (m[at + 2] ?? 0) * b));
  return [row(0), row(3), row(6)];
}

function lab([r, g, b]: Rgb): Rgb {
  const f = (value: number) => (value > 216 / 24389 ? Math.cbrt(value) : ((24389 / 27) * value + 16) / 116);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

export function distance(a: Rgb, b: Rgb): number {
  const [left, right] = [lab(a), lab(b)];
  return Math.hypot(left[0] - right[0], left[1] - right[1], left[2] - right[2]);
}
