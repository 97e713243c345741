// SPDX-License-Identifier: BSD-2-Clause
// Loads the page of a capture that goes on again and again. The address of the page keeps the view.
import { button, element } from "./dom.ts";

/** How long a page is shown before it is loaded again, and how long it waits for somebody who uses it. */
const kInterval = 3000;
const kBusy = 5000;

export function live(): HTMLElement {
  let used = -Infinity;
  let held = false;
  let asking = false;
  let ended = false;
  for (const kind of ["pointerdown", "pointermove", "wheel", "keydown", "scroll"]) addEventListener(kind, () => (used = performance.now()), { passive: true, capture: true });
  const text = element("span", { role: "status" });
  const press = button("Hold", () => {
    held = !held;
    say();
  });
  const say = () => {
    const words = ended ? "The capture has ended; this page stays." : held ? "Held: the capture goes on, this page does not." : "Live: this page follows the capture.";
    // Written only when it changes, or it would be read aloud each time.
    if (text.textContent !== words) text.textContent = words;
    press.textContent = held ? "Go on" : "Hold";
    press.hidden = ended;
  };
  const isWanted = () => !held && !document.hidden && performance.now() - used > kBusy;
  // Without a server the browser would show its own page in place of the last report.
  const follow = async () => {
    asking = true;
    ended = !(await fetch(`alive${location.search}`).then((answer) => answer.ok, () => false));
    asking = false;
    say();
    if (!ended && isWanted()) location.reload();
  };
  setInterval(() => {
    if (!asking && isWanted()) void follow();
  }, kInterval);
  say();
  return element("p", { class: "live" }, text, " ", press);
}
