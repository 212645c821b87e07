import { h, type Child } from "./dom";

/** A link; only its content if it has no target. */
export function link(
  href: string | null,
  attributes: Record<string, string | null>,
  ...children: Child[]
): HTMLElement {
  return href === null ? h("span", attributes, ...children) : h("a", { href, ...attributes }, ...children);
}
