// Printing: all views as one document, in the light theme, with a picture of the timeline as shown.
import type { MountedView, PageApp, ViewDescription } from "./app";
import { h } from "./dom/dom";

export function printAllViews<Shown extends PageApp>(
  app: Shown,
  views: ViewDescription<Shown>[],
  root: HTMLElement,
  current: () => { view: string; mounted: MountedView } | null,
): void {
  let printed: HTMLElement | null = null;
  let theme: string | undefined;

  function sectionOf(view: ViewDescription<Shown>): HTMLElement {
    const open = current();
    if (view.id === "timeline") {
      const canvas = open?.view === "timeline" ? root.querySelector<HTMLCanvasElement>("canvas.timeline") : null;
      const picture = canvas
        ? h("img", {
            src: canvas.toDataURL("image/png"),
            alt: "The timeline as it was shown when the page was printed",
          })
        : h("p", { class: "muted" }, "The timeline is interactive: open it before printing, and its picture is here.");
      return h("section", { class: "view" }, h("h2", {}, view.title), picture);
    }
    const mounted = view.mount(app, new URLSearchParams(), true);
    mounted.element.classList.add("printed-view");
    pending.push(mounted);
    return mounted.element;
  }

  let pending: MountedView[] = [];

  window.addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset["theme"];
    document.documentElement.dataset["theme"] = "light";
    current()?.mounted.redraw?.();
    pending = [];
    printed = h("div", { class: "printed" }, h("h1", {}, app.view.title), views.map(sectionOf));
    document.body.append(printed);
    for (const details of printed.querySelectorAll<HTMLDetailsElement>(".finding details, .more-findings"))
      details.open = true;
    document.documentElement.classList.add("printing");
    for (const mounted of pending) mounted.redraw?.();
  });

  window.addEventListener("afterprint", () => {
    printed?.remove();
    printed = null;
    document.documentElement.classList.remove("printing");
    if (theme === undefined) delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    current()?.mounted.redraw?.();
  });
}
