// Layers by class, as a table that is a heat map: color means class, strength means time.
import type { App, MountedView, ViewDescription } from "../app";
import type { Layer } from "../data/profile";
import { copyText, figure } from "../dom/copy";
import { h, replace } from "../dom/dom";
import { link } from "../dom/link";
import { keepFocus } from "../dom/keep_focus";
import { note, notKnown, section, select } from "../dom/parts";
import { table } from "../dom/table";
import { watchWidth } from "../dom/wide_table";
import { count, fineMs, percent } from "../format/figures";
import { placeHash, setOptions } from "../state/fragment";
import { hasTimeline } from "../timeline/header";

const VIEW = "layers";

interface Group {
  id: string;
  label: string;
  stage: string;
  modelLayers: number | null;
  layers: Layer[];
}

function groupsOf(app: App): Group[] {
  const groups = new Map<string, Group>();
  for (const layer of app.profile.layers) {
    const id = `${layer.stage}/${layer.model_layers ?? ""}`;
    const label = layer.model_layers === null ? layer.stage : `${layer.stage}, model of ${layer.model_layers} layers`;
    const group = groups.get(id) ?? { id, label, stage: layer.stage, modelLayers: layer.model_layers, layers: [] };
    group.layers.push(layer);
    groups.set(id, group);
  }
  return [...groups.values()];
}

function classesOf(layers: Layer[]): string[] {
  const totals = new Map<string, number>();
  for (const layer of layers)
    for (const [name, ms] of Object.entries(layer.classes)) totals.set(name, (totals.get(name) ?? 0) + ms);
  return [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

/** The kernels of one layer, which only the timeline distinguishes. */
const layerHref = (layer: Layer): string | null =>
  layer.part || layer.outside || !hasTimeline()
    ? null
    : placeHash("kernels", { stage: layer.stage, layer: layer.name });

function heatMap(app: App, group: Group, withParts: boolean): HTMLElement {
  const layers = group.layers.filter((layer) => withParts || !layer.part);
  const classes = classesOf(layers);
  // Work outside layers can take far longer than any layer, and would make all layers pale.
  const strongest = Math.max(
    ...layers.filter((layer) => !layer.outside).flatMap((layer) => Object.values(layer.classes)),
    1e-12,
  );
  const longest = Math.max(...layers.filter((layer) => !layer.outside).map((layer) => layer.ms_per_step), 1e-12);
  const row = (layer: Layer) =>
    h(
      "tr",
      { class: layer.part ? "part" : layer.outside ? "outside" : null },
      h(
        "th",
        { scope: "row", title: layer.note },
        link(layerHref(layer), {}, layer.name),
        layer.note && h("span", { class: "muted" }, " *"),
      ),
      h(
        "td",
        { class: "number total" },
        h(
          "span",
          { class: "bar", "aria-hidden": "true" },
          h("span", { style: `width: ${Math.min(1, layer.ms_per_step / longest) * 100}%` }),
        ),
        figure(fineMs(layer.ms_per_step), layer.ms_per_step, `ms of kernel time per pass in ${layer.name}`),
      ),
      h("td", { class: "number" }, figure(count(layer.kernels_per_step), layer.kernels_per_step, "kernels per pass")),
      classes.map((name) => {
        const ms = layer.classes[name];
        if (ms === undefined) return h("td", { class: "number heat none" }, "");
        const strength = Math.min(1, ms / strongest) * 0.78 + 0.04;
        return h(
          "td",
          { class: "number heat", style: app.palette.tint(name, strength) },
          figure(fineMs(ms), ms, `ms of ${app.palette.label(name)} per pass in ${layer.name}`),
        );
      }),
    );
  const inner = h(
    "table",
    { class: "heat-map" },
    h("caption", {}, `Layers of ${group.label}: kernel time by class, ms per forward pass`),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "layer"),
        h("th", { scope: "col", class: "number" }, "all (ms per pass)"),
        h("th", { scope: "col", class: "number" }, "kernels"),
        classes.map((name) =>
          h(
            "th",
            { scope: "col", class: "number", title: `ms of ${app.palette.label(name)} per forward pass` },
            h("span", { class: "swatch", style: `background-color: ${app.palette.css(name)}`, "aria-hidden": "true" }),
            ` ${app.palette.label(name)}`,
          ),
        ),
      ),
    ),
    h("tbody", {}, layers.map(row)),
  );
  const frame = h(
    "div",
    { class: "table-scroll", tabindex: "0", role: "region", "aria-label": `Layers of ${group.label} by class` },
    inner,
  );
  watchWidth(frame, inner);
  const text = () =>
    [
      ["layer", "ms per pass", "kernels per pass", ...classes].join("\t"),
      ...layers.map((layer) =>
        [
          layer.name,
          layer.ms_per_step,
          layer.kernels_per_step,
          ...classes.map((name) => layer.classes[name] ?? ""),
        ].join("\t"),
      ),
    ].join("\n");
  return h(
    "div",
    { class: "table-block" },
    h(
      "div",
      { class: "table-tools" },
      h(
        "button",
        {
          class: "quiet",
          type: "button",
          "aria-label": `Copy table: layers of ${group.label}`,
          onclick: () => void copyText(text(), `${layers.length} layers of ${group.label}, tab-separated`),
        },
        "Copy table",
      ),
    ),
    frame,
  );
}

function partsTable(app: App, group: Group): HTMLElement | null {
  const summary = app.profile.layer_summary.stages.find(
    (each) => each.stage === group.stage && each.model_layers === group.modelLayers,
  );
  if (!summary || summary.parts.length === 0) return null;
  return section(
    "Parts of the stage",
    table({
      caption: `Parts of ${group.label}`,
      fit: true,
      rows: summary.parts,
      columns: [
        { id: "name", title: "part of the stage", value: (p) => p.name, heads: true },
        {
          id: "ms",
          title: "kernel time (ms per pass)",
          of: "ms per forward pass, all layers together",
          value: (p) => p.ms_per_step,
          format: fineMs,
        },
        {
          id: "share",
          title: "share of kernel time",
          of: "of the kernel time inside and outside layers",
          value: (p) => p.share_of_kernel_time,
          format: percent,
        },
      ],
    }).element,
  );
}

function mount(app: App, options: URLSearchParams, printing: boolean): MountedView {
  const groups = groupsOf(app);
  const body = h("div");
  let group =
    groups.find((each) => each.id === options.get("of")) ??
    groups.find((each) => each.stage === "decode") ??
    groups[0];
  let parts = options.get("parts") === "1";

  function groupBody(own: Group, withParts: boolean): HTMLElement {
    const summary = app.profile.layer_summary.stages.find(
      (each) => each.stage === own.stage && each.model_layers === own.modelLayers,
    );
    const words =
      summary &&
      `${summary.layers} layers, each with ${fineMs(summary.mean_ms_per_step)} ms of kernel time per pass on ` +
        `average (${fineMs(summary.min_ms_per_step)} to ${fineMs(summary.max_ms_per_step)} ms); ` +
        `${summary.passes === 1 ? "one pass" : `mean of ${count(summary.passes)} passes`}, warm-up excluded.`;
    const notes = own.layers
      .filter((layer) => layer.note)
      .map((layer) => h("p", { class: "muted" }, `* ${layer.name}: ${layer.note}`));
    return h("div", {}, words && h("p", {}, words), heatMap(app, own, withParts), notes, partsTable(app, own));
  }

  function draw(): void {
    if (!group) return;
    const own = group;
    const hasParts = own.layers.some((layer) => layer.part);
    const check = h("input", { type: "checkbox", checked: parts });
    check.addEventListener("change", () => {
      parts = check.checked;
      setOptions(VIEW, { parts: parts ? "1" : "" });
      draw();
    });
    keepFocus(body, () =>
      replace(
        body,
        h(
          "div",
          { class: "filters" },
          groups.length > 1 &&
            select(
              "Stage",
              groups.map((each): [string, string] => [each.id, each.label]),
              own.id,
              (id) => {
                group = groups.find((each) => each.id === id);
                setOptions(VIEW, { of: id });
                draw();
              },
            ),
          hasParts && h("label", { class: "check" }, check, " parts of layers"),
        ),
        groupBody(own, parts),
      ),
    );
  }

  if (printing)
    replace(
      body,
      groups.map((own) => section(`Layers in ${own.label}`, groupBody(own, false))),
    );
  else draw();
  const why = app.profile.layer_summary.why_not;
  return {
    element: h(
      "div",
      { class: "view" },
      h("h1", {}, "Layers"),
      groups.length === 0 ? notKnown(why, "no layers were found in these stages") : body,
      groups.length > 0 &&
        note(
          "Cells are kernel time in ms per forward pass. A cell's color is its class, its strength the time, on " +
            "one scale for all layers.",
        ),
    ),
  };
}

export const layersView: ViewDescription = { id: VIEW, title: "Layers", mount };
