// The frame around the views: the title, links, the footer; it opens the view that the address names.
import type { PageApp, ViewDescription } from "./app";
import { listenForCopies } from "./dom/copy";
import { h, replace } from "./dom/dom";
import { themeSwitch, onThemeChange } from "./dom/theme_switch";
import { followHeader } from "./dom/wide_table";
import { printAllViews } from "./print";
import {
  entryKey,
  KeptEntries,
  rememberScrolling,
  restorePlace,
  scrollToRemembered,
  type Entry,
} from "./state/entries";
import { parsePlace } from "./state/fragment";

export function startShell<Shown extends PageApp>(
  app: Shown,
  views: ViewDescription<Shown>[],
  root: HTMLElement,
): void {
  const links = new Map(views.map((view) => [view.id, h("a", { href: `#${view.id}` }, view.title)]));
  const content = h("main", { id: "content", tabindex: "-1" });
  const left = new KeptEntries();
  let current: Entry | null = null;

  function mark(view: ViewDescription<Shown>): void {
    content.dataset["view"] = view.id;
    for (const [id, link] of links) {
      if (id === view.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    links.get(view.id)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    document.title = `${view.title}: ${app.view.title}`;
  }

  function show(): void {
    const place = parsePlace(location.hash);
    const view = views.find((each) => each.id === place.view) ?? views[0]!;
    const key = entryKey();
    if (current?.key === key) return;
    const first = current === null;
    if (current) left.keep(current);
    const kept = left.take(key);
    const mounted = kept?.mounted ?? view.mount(app, place.options, false);
    mark(view);
    replace(content, mounted.element);
    current = { key, view: view.id, mounted };
    mounted.redraw?.();
    if (kept) restorePlace(kept, content);
    else {
      if (!first) content.focus({ preventScroll: true });
      scrollToRemembered(content);
      mounted.arrive?.();
    }
  }

  const header = h(
    "header",
    { class: "top" },
    h(
      "div",
      { class: "brand" },
      h("span", { class: "product" }, "llmprof"),
      h("span", { class: "title" }, app.view.title),
      themeSwitch(),
    ),
    h("nav", { "aria-label": "Views" }, [...links.values()]),
  );
  replace(
    root,
    h(
      "a",
      {
        class: "skip",
        href: "#content",
        onclick: (event: Event) => {
          event.preventDefault();
          content.focus();
        },
      },
      "Skip to the content",
    ),
    header,
    content,
    h(
      "footer",
      { class: "bottom" },
      `Made by ${app.view.made_by}. This page is one file: it holds its data and loads nothing.`,
    ),
  );
  followHeader(header);
  listenForCopies();
  history.scrollRestoration = "manual";
  window.addEventListener("hashchange", show);
  rememberScrolling();
  onThemeChange(() => current?.mounted.redraw?.());
  let resizing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(() => current?.mounted.redraw?.());
  });
  printAllViews(app, views, root, () => current);
  show();
}
