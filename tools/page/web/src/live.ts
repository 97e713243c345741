// SPDX-License-Identifier: BSD-2-Clause
// Loads the page of a capture that goes on again and again. The address of the page keeps the view.
import { button, element } from "./dom.ts";

/** How long a page is shown before it is loaded again, and how long it waits for somebody who uses it. */
const kInterval = 3000;
const kBusy = 5000;

export function live(): HTMLElement {
  let used = -Infinity;
  let held = false;
  for (const kind of ["pointerdown", "pointermove", "wheel", "keydown", "scroll"]) addEventListener(kind, () => (used = performance.now()), { passive: true, capture: true });
  const text = element("span", { role: "status" }, "Live: this page follows the capture.");
  const press = button("Hold", () => {
    held = !held;
    press.textContent = held ? "Go on" : "Hold";
    text.textContent = held ? "Held: the capture goes on, this page does not." : "Live: this page follows the capture.";
  });
  setInterval(() => {
    if (!held && performance.now() - used > kBusy) location.reload();
  }, kInterval);
  return element("p", { class: "live" }, text, " ", press);
}
