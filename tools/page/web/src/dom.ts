// SPDX-License-Identifier: BSD-2-Clause
// Elements whose content is always text: nothing from a capture is ever read as markup.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | undefined>;

export function element<Name extends keyof HTMLElementTagNameMap>(name: Name, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

export function button(text: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", press);
  return made;
}

/** Whether an element is on the screen, or nearly. */
export function isOnScreen(part: HTMLElement): boolean {
  const { top, bottom } = part.getBoundingClientRect();
  return bottom > -innerHeight / 4 && top < innerHeight * 1.25;
}
