// Small parts that several views share.
import type { PageApp } from "../app";
import { h, type Child } from "./dom";

export function swatch(app: PageApp, part: string): HTMLElement {
  const idle = app.palette.classOf(part) === null;
  return h("span", {
    class: idle ? "swatch idle" : "swatch",
    style: `background-color: ${app.palette.css(part)}`,
    "aria-hidden": "true",
  });
}

export const classLabel = (app: PageApp, kernelClass: string): HTMLElement =>
  h("span", { class: "with-swatch" }, swatch(app, kernelClass), app.palette.label(kernelClass));

export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), ...children);
}

/** A share of a whole as a bar; the number is next to it. */
export function bar(share: number | null, className = ""): HTMLElement {
  const width = Math.min(1, Math.max(0, share ?? 0)) * 100;
  return h(
    "span",
    { class: `bar ${className}`.trim(), "aria-hidden": "true" },
    h("span", { style: `width: ${width}%` }),
  );
}

/** Whether a text fits in a part of a bar about 600 pixels wide; narrower bars cut it off. */
export const hasRoom = (text: string, share: number): boolean => share * 600 > text.length * 6.6 + 12;

export const note = (...children: Child[]): HTMLElement => h("p", { class: "muted" }, ...children);

/** Text between backticks is code, as in report.md. */
export function prose(text: string): Child {
  return text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? h("code", {}, part) : part));
}

/** "Not available: ..." with what is missing in this input. */
export function notKnown(why: string | null | undefined, otherwise: string): HTMLElement {
  const text = why ?? otherwise;
  return h("p", { class: "not-known" }, "Not available: ", prose(text), /[.!?]$/.test(text) ? "" : ".");
}

export function select(
  label: string,
  choices: [string, string][],
  value: string,
  onChange: (value: string) => void,
): HTMLElement {
  const element = h(
    "select",
    {},
    choices.map(([id, text]) => h("option", { value: id, selected: id === value }, text)),
  );
  element.addEventListener("change", () => onChange(element.value));
  return h("label", { class: "field" }, h("span", {}, label), element);
}
