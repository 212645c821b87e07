// If no stage was found: the kernel time of the whole recording by class.
import type { App } from "../app";
import { h } from "../dom/dom";
import { hasRoom, swatch } from "../dom/parts";
import { table } from "../dom/table";
import { count, ms, percent } from "../format/figures";
import { kernelsLink } from "../state/links";

export function classShares(app: App): HTMLElement | null {
  const { classes } = app.profile;
  if (classes.length === 0) return null;
  type Share = (typeof classes)[number];
  const words = (each: Share) =>
    `${app.palette.label(each.class)}: ${ms(each.total_ms)} ms, ${percent(each.share)} of kernel time`;
  const short = (each: Share) => `${app.palette.label(each.class)} ${percent(each.share)}`;
  const href = (each: Share) => kernelsLink(app, [each.class], "");
  const view = table<Share>({
    caption: "Kernel time by class",
    fit: true,
    rows: classes,
    columns: [
      {
        id: "class",
        title: "class",
        value: (c) => app.palette.label(c.class),
        heads: true,
        cell: (c) => h("a", { class: "with-swatch", href: href(c) }, swatch(app, c.class), app.palette.label(c.class)),
      },
      { id: "total", title: "total (ms)", of: "ms, sum of its kernels", value: (c) => c.total_ms, format: ms },
      { id: "share", title: "share of kernel time", value: (c) => c.share, format: percent },
      { id: "calls", title: "calls", value: (c) => c.calls, format: count },
    ],
  });
  const bar = classes.map((each) =>
    h(
      "a",
      {
        href: href(each),
        class: "part work",
        style:
          `width: ${each.share * 100}%; background-color: ${app.palette.css(each.class)}; color: ` +
          `${app.palette.textCss(each.class)}`,
        title: words(each),
        "aria-label": words(each),
      },
      hasRoom(short(each), each.share) && h("span", {}, short(each)),
    ),
  );
  return h(
    "div",
    {},
    h("div", { class: "budget-bar", role: "group", "aria-label": "Kernel time by class" }, bar),
    view.element,
  );
}
