import { h, type Child } from "./dom";

/** A link, or what it would be around where it leads nowhere. */
export function link(
  href: string | null,
  attributes: Record<string, string | null>,
  ...children: Child[]
): HTMLElement {
  return href === null ? h("span", attributes, ...children) : h("a", { href, ...attributes }, ...children);
}
