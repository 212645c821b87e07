// What is around the views: the title, the links between them, the footer; it opens the view that the address names.
import type { MountedView, PageApp, ViewDescription } from "./app";
import { listenForCopies } from "./dom/copy";
import { h, replace } from "./dom/dom";
import { themeSwitch, onThemeChange } from "./dom/theme_switch";
import { printAllViews } from "./print";
import { parsePlace } from "./state/fragment";

export function startShell<Shown extends PageApp>(app: Shown, views: ViewDescription<Shown>[], root: HTMLElement): void {
  const links = new Map(views.map((view) => [view.id, h("a", { href: `#${view.id}` }, view.title)]));
  const content = h("main", { id: "content", tabindex: "-1" });
  let current: { view: ViewDescription<Shown>; mounted: MountedView } | null = null;

  function show(): void {
    const place = parsePlace(location.hash);
    const view = views.find((each) => each.id === place.view) ?? views[0]!;
    if (current?.view === view) {
      current.mounted.onPlace?.(place.options);
      return;
    }
    const first = current === null;
    current?.mounted.close?.();
    content.dataset["view"] = view.id;
    const mounted = view.mount(app, place.options, false);
    replace(content, mounted.element);
    current = { view, mounted };
    for (const [id, link] of links) {
      if (id === view.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    links.get(view.id)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    document.title = `${view.title}: ${app.view.title}`;
    if (!first) {
      window.scrollTo(0, 0);
      content.focus({ preventScroll: true });
    }
    mounted.redraw?.();
  }

  replace(
    root,
    h("a", { class: "skip", href: "#content", onclick: (event: Event) => { event.preventDefault(); content.focus(); } }, "Skip to the content"),
    h(
      "header",
      { class: "top" },
      h("div", { class: "brand" }, h("span", { class: "product" }, "llmprof"), h("span", { class: "title" }, app.view.title), themeSwitch()),
      h("nav", { "aria-label": "Views" }, [...links.values()]),
    ),
    content,
    h("footer", { class: "bottom" }, `Made by ${app.view.made_by}. This page is one file: it holds its data and loads nothing.`),
  );
  listenForCopies();
  window.addEventListener("hashchange", show);
  onThemeChange(() => current?.mounted.redraw?.());
  let resizing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(() => current?.mounted.redraw?.());
  });
  printAllViews(app, views, root, () => current);
  show();
}
