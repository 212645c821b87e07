// A block next to the canvas: its title, a close button, its content.
import { h, type Child } from "../../dom/dom";
import type { Span } from "../address";
import type { RowRef } from "../model";

/** What panels can do to the timeline. */
export interface PanelActions {
  unpin: () => void;
  deselect: () => void;
  pin: (ref: RowRef) => void;
  zoomTo: (span: Span) => void;
}

export function panel(
  kind: string,
  label: string,
  title: Child,
  close: { label: string; onClose: () => void } | null,
  ...children: Child[]
): HTMLElement {
  return h(
    "section",
    { class: `side-block ${kind}`, "aria-label": label },
    h(
      "div",
      { class: "side-head" },
      h("h2", {}, title),
      close &&
        h("button", { class: "quiet", type: "button", "aria-label": close.label, onclick: close.onClose }, "Close"),
    ),
    children,
  );
}

export const quietButton = (text: string, onClick: () => void): HTMLElement =>
  h("button", { class: "quiet", type: "button", onclick: onClick }, text);
