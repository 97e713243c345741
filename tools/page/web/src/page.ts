// SPDX-License-Identifier: BSD-2-Clause
// The common part of all pages: their sections, and when their parts are drawn again.
import { setPrinting } from "./chart.ts";
import { element } from "./dom.ts";
import type { RowTable } from "./row_table.ts";
import type { View } from "./view.ts";

export function section(id: string, title: string, ...children: (Node | null)[]): HTMLElement {
  return element("section", { id }, element("h2", {}, title), ...children);
}

export function optional(part: HTMLElement | null, wrap = (each: HTMLElement) => each): HTMLElement[] {
  return part === null ? [] : [wrap(part)];
}

/** Draws what is in the document by now, and again whenever its place, the colours or the medium change. */
export function follow(view: View, parts: { draw: () => void }[], tables: RowTable[]): void {
  const draw = () => parts.forEach((part) => part.draw());
  const drawAll = () => {
    draw();
    tables.forEach((table) => table.drawRows());
  };
  drawAll();
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  for (const [event, isPrinting] of [
    ["beforeprint", true],
    ["afterprint", false],
  ] as const) {
    addEventListener(event, () => {
      setPrinting(isPrinting);
      document.documentElement.toggleAttribute("data-printing", isPrinting);
      drawAll();
    });
  }
  addEventListener("hashchange", () => view.read(location.hash));
  document.documentElement.dataset["ready"] = "yes";
}
