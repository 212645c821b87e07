import "./style/page.css";
import type { App, MountedView, ViewDescription } from "./app";
import { readJson } from "./data/blocks";
import type { Profile } from "./data/profile";
import { unwatchedView } from "./data/unwatched";
import { Palette, type View } from "./data/view";
import { Words } from "./data/words";
import { listenForCopies } from "./dom/copy";
import { h, replace } from "./dom/dom";
import { themeSwitch, onThemeChange } from "./dom/theme_switch";
import { parsePlace } from "./state/fragment";
import { printAllViews } from "./print";
import { kernelsView } from "./views/kernels";
import { layersView } from "./views/layers";
import { operatorsView } from "./views/operators";
import { overviewView } from "./views/overview";
import { provenanceView } from "./views/provenance";
import { rooflineView } from "./views/roofline";
import { stepsView } from "./views/steps";
import { timelineView } from "./views/timeline";

const VIEWS: ViewDescription[] = [overviewView, timelineView, kernelsView, stepsView, layersView, rooflineView, operatorsView, provenanceView];

function start(app: App, root: HTMLElement): void {
  const links = new Map(VIEWS.map((view) => [view.id, h("a", { href: `#${view.id}` }, view.title)]));
  const content = h("main", { id: "content", tabindex: "-1" });
  let current: { view: ViewDescription; mounted: MountedView } | null = null;

  function show(): void {
    const place = parsePlace(location.hash);
    const view = VIEWS.find((each) => each.id === place.view) ?? VIEWS[0]!;
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
  printAllViews(app, VIEWS, root, () => current);
  show();
}

async function main(): Promise<void> {
  const root = document.getElementById("app");
  const overview = document.getElementById("overview");
  if (!root) return;
  try {
    const [recorded, view] = await Promise.all([readJson<Profile>("profile"), readJson<View>("view")]);
    const words = new Words(overview);
    overview?.remove();
    start({ recorded, shown: unwatchedView(recorded), view, palette: new Palette(view), words }, root);
    root.dataset["ready"] = "true";
    performance.mark("llmprof-open");
  } catch (error) {
    // What C++ wrote as text stays and says what the data say.
    root.replaceChildren(h("p", { class: "warning", role: "alert" }, `The interactive page could not be started: ${error instanceof Error ? error.message : String(error)} The overview is shown as text.`));
    root.after(overview ?? "");
    throw error;
  }
}

void main();
