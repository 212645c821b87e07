// Above the canvas: search, filters by stage and layer, zoom; below it: the classes, which also filter.
import type { App } from "../app";
import { kernelSums, WHOLE_CAPTURE } from "../data/kernel_scope";
import { deviceWord } from "../data/profile";
import { h, replace } from "../dom/dom";
import { keepFocus } from "../dom/keep_focus";
import { select, swatch } from "../dom/parts";
import { count, counted, duration } from "../format/figures";
import { filterOptions, matchesButClass, matchesClass, NO_FILTER } from "../kernels/filter";
import { placeHash } from "../state/fragment";
import type { Filter, Hits } from "./filter";
import type { Timeline } from "./model";

const SEARCH_DELAY_MS = 120;
const HELP = "Wheel zooms, drag pans, shift-drag selects, click explains, / searches";
const ALL_KEYS =
  "Wheel or w and s zoom, drag or a and d pan, shift and drag select a span, a click pins work or explains a " +
  "gap, arrow keys step, / searches, f zooms to what is pinned or selected, 0 shows all";

export interface ToolbarActions {
  filter: (changes: Partial<Filter>) => void;
  goToHit: (forward: boolean) => void;
  zoom: (factor: number) => void;
  showAll: () => void;
  focusCanvas: () => void;
}

/** Names that occur in a table of the timeline, in the order of their first row. */
function namesIn(timeline: Timeline, table: "stages" | "layers"): string[] {
  const names = new Set<number>(timeline.tables[table]?.["name"] ?? []);
  return [...names].map((name) => timeline.names[name] ?? "").filter(Boolean);
}

export class Toolbar {
  readonly tools: HTMLElement;
  readonly legend: HTMLElement;
  private readonly input = h("input", {
    type: "search",
    placeholder: "Search the whole capture",
    "aria-label": "Search the whole capture",
  });
  private readonly counts = h("span", { class: "counts muted", role: "status" });
  private readonly help = h("p", { class: "help muted", title: ALL_KEYS }, HELP);
  private readonly filters = h("div", { class: "timeline-filters" });
  private readonly stages: string[];
  private readonly layers: string[];
  private timer = 0;

  constructor(
    private readonly app: App,
    private readonly timeline: Timeline,
    private readonly actions: ToolbarActions,
  ) {
    this.stages = namesIn(timeline, "stages");
    this.layers = namesIn(timeline, "layers").sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const step = (forward: boolean) =>
      h(
        "button",
        {
          class: "plain",
          type: "button",
          "aria-label": forward ? "Next hit" : "Previous hit",
          onclick: () => actions.goToHit(forward),
        },
        forward ? "›" : "‹",
      );
    const zoom = (factor: number, label: string, text: string) =>
      h(
        "button",
        { class: "plain", type: "button", "aria-label": label, title: label, onclick: () => actions.zoom(factor) },
        text,
      );
    this.tools = h(
      "div",
      { class: "tools" },
      h("div", { class: "search" }, this.input, step(false), step(true)),
      this.filters,
      h(
        "div",
        { class: "zoom" },
        zoom(1 / 2, "Zoom in (w)", "+"),
        zoom(2, "Zoom out (s)", "−"),
        h("button", { class: "plain", type: "button", onclick: actions.showAll }, "Whole capture"),
      ),
      this.counts,
      this.help,
    );
    this.legend = h("div", {
      class: "legend",
      "aria-label": "Kernel classes; each shows its own kernels alone",
      role: "group",
    });
    this.listen();
  }

  private listen(): void {
    this.input.addEventListener("input", () => {
      this.stop();
      this.timer = window.setTimeout(() => this.actions.filter({ text: this.input.value }), SEARCH_DELAY_MS);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        // Enter may come before the delay after typing is over; the late search would restart at the first hit.
        this.stop();
        this.actions.filter({ text: this.input.value });
        this.actions.goToHit(!event.shiftKey);
      }
      if (event.key === "Escape") this.actions.focusCanvas();
    });
  }

  stop(): void {
    window.clearTimeout(this.timer);
  }

  focusSearch(): void {
    this.input.focus();
  }

  draw(filter: Filter): void {
    if (document.activeElement !== this.input) this.input.value = filter.text;
    const choices = (all: string, names: string[]): [string, string][] => [
      ["", all],
      ...names.map((name): [string, string] => [name, name]),
    ];
    keepFocus(this.filters, () =>
      replace(
        this.filters,
        this.stages.length > 1 &&
          select("Stage", choices("all stages", this.stages), filter.stage, (stage) => this.actions.filter({ stage })),
        this.layers.length > 1 &&
          select("Layer", choices("all layers", this.layers), filter.layer, (layer) => this.actions.filter({ layer })),
      ),
    );
    keepFocus(this.legend, () => this.drawLegend(filter));
  }

  /** The classes that occur in this capture. */
  private drawLegend(filter: Filter): void {
    const occurring = new Set(this.timeline.kernels.map((kernel) => kernel.class));
    const toggled = (index: number) =>
      filter.classes.includes(index) ? filter.classes.filter((each) => each !== index) : [...filter.classes, index];
    replace(
      this.legend,
      this.app.view.classes.map(
        (each, index) =>
          occurring.has(index) &&
          h(
            "button",
            {
              class: "with-swatch",
              type: "button",
              "aria-pressed": String(filter.classes.includes(index)),
              onclick: () => this.actions.filter({ classes: toggled(index) }),
            },
            swatch(this.app, each.id),
            each.label,
          ),
      ),
      h("span", { class: "muted" }, "Height is the busy share of a pixel's time"),
    );
  }

  drawCounts(hits: Hits | null, current: number | null): void {
    this.help.hidden = hits !== null;
    if (!hits) return void replace(this.counts, "");
    if (hits.count === 0) return void replace(this.counts, "no hit");
    const words =
      `${current === null ? "" : `${count(current + 1)} of `}${counted(hits.count, "hit")}, ` +
      `${duration(hits.totalNs)} of ${deviceWord(this.app.profile)} work`;
    const href = this.listHref(hits.filter);
    replace(this.counts, words, href && [" ", h("a", { href }, "As a list of kernels")]);
  }

  /** The same filter in the list of kernels; null if it selects all or none: copies are not kernels. */
  private listHref(filter: Filter): string | null {
    if (filter.classes.length === 0 && filter.stage === "" && filter.layer === "") return null;
    const chosen = {
      ...NO_FILTER,
      text: filter.text,
      classes: filter.classes.map((index) => this.app.view.classes[index]!.id),
      scope: filter.stage || WHOLE_CAPTURE,
      layer: filter.layer,
    };
    const has = kernelSums(this.app.profile, chosen.scope).some(
      (sum) => matchesButClass(sum, chosen) && matchesClass(sum, chosen),
    );
    return has ? placeHash("kernels", filterOptions(chosen)) : null;
  }
}
