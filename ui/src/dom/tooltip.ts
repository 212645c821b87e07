// One box that follows the pointer.
import { h, replace, type Child } from "./dom";

let box: HTMLElement | null = null;

export function showTooltip(x: number, y: number, ...children: Child[]): void {
  box ??= document.body.appendChild(h("div", { class: "tooltip", role: "tooltip" }));
  replace(box, ...children);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? Math.max(4, x - 14 - width) : x + 14;
  const top = y + 16 + height > innerHeight ? Math.max(4, y - 12 - height) : y + 16;
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}

export function hideTooltip(): void {
  if (box) box.hidden = true;
}
