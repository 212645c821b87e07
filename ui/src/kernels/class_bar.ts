// Kernel time by class in one bar; a click on a class filters the table.
import type { App } from "../app";
import type { KernelSum } from "../data/kernel_scope";
import { h } from "../dom/dom";
import { hasRoom } from "../dom/parts";
import { exactMs, percent } from "../format/figures";

export function classBar(
  app: App,
  sums: KernelSum[],
  chosen: string[],
  onChoose: (classes: string[]) => void,
): HTMLElement[] {
  const totals = new Map<string, number>();
  for (const { kernel, total } of sums) totals.set(kernel.class, (totals.get(kernel.class) ?? 0) + total);
  const all = [...totals.values()].reduce((a, b) => a + b, 0);
  return [...totals]
    .sort((a, b) => b[1] - a[1])
    .map(([name, total]) => {
      const share = all > 0 ? total / all : 0;
      const label = app.palette.label(name);
      const short = `${label} ${percent(share)}`;
      const words = `${label}: ${exactMs(total)} ms, ${percent(share)} of this kernel time`;
      const pressed = chosen.includes(name);
      return h(
        "button",
        {
          type: "button",
          class: "segment",
          style:
            `flex-grow: ${share * 1000}; background-color: ${app.palette.css(name)}; color: ` +
            `${app.palette.textCss(name)}`,
          title: words,
          "aria-label": words,
          "aria-pressed": String(pressed),
          "data-focus": name,
          onclick: () => onChoose(pressed ? [] : [name]),
        },
        hasRoom(short, share) && h("span", {}, short),
      );
    });
}
