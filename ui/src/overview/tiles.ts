// The key figures, in the words from C++.
import type { App } from "../app";
import type { Headline } from "../data/view";
import { figure } from "../dom/copy";
import { h } from "../dom/dom";

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function tile(line: Headline): HTMLElement {
  const { beside } = line;
  return h(
    "div",
    {},
    h("dt", {}, capital(line.name)),
    h(
      "dd",
      { class: "value" },
      figure(line.text, line.exact, `${line.unit ? `${line.unit}, ` : ""}${line.of}`),
      line.unit && h("span", { class: "unit" }, ` ${line.unit}`),
    ),
    h("dd", { class: "of" }, line.of),
    beside &&
      h(
        "dd",
        { class: "beside" },
        `${beside.words} `,
        figure(beside.text, beside.exact, `${line.name}, ${beside.words}`),
      ),
  );
}

export const tiles = (app: App): HTMLElement => h("dl", { class: "tiles" }, app.view.headlines.map(tile));
