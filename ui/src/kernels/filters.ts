// The controls that filter kernels.
import type { App } from "../app";
import { scopeChoices } from "../data/kernel_scope";
import { h, type Child } from "../dom/dom";
import { select } from "../dom/parts";
import { hasTimeline } from "../timeline/header";
import { NO_FILTER, NO_LIBRARY, type KernelFilter } from "./filter";

/** Layers to filter by, which needs the single launches in the timeline. */
function layerNames(app: App): string[] {
  return hasTimeline()
    ? [...new Set(app.profile.layers.filter((layer) => !layer.part && !layer.outside).map((layer) => layer.name))]
    : [];
}

function classChoices(app: App, filter: KernelFilter): [string, string][] {
  const label = (name: string) => app.palette.label(name);
  const one = [...new Set(app.profile.kernels.map((kernel) => kernel.class))]
    .sort((a, b) => label(a).localeCompare(label(b)))
    .map((name): [string, string] => [name, label(name)]);
  const several: [string, string][] =
    filter.classes.length > 1 ? [[filter.classes.join(","), filter.classes.map(label).join(", ")]] : [];
  return [["", "all classes"], ...several, ...one];
}

export function filterControls(
  app: App,
  filter: KernelFilter,
  update: (changes: Partial<KernelFilter>) => void,
): Child {
  const libraries = [...new Set(app.profile.kernels.map((kernel) => kernel.library ?? NO_LIBRARY))].sort();
  const layers = layerNames(app);
  const scopes = scopeChoices(app.profile);
  return [
    scopes.length > 1 && select("Stage", scopes, filter.scope, (scope) => update({ scope })),
    layers.length > 0 &&
      select(
        "Layer",
        [["", "all layers"], ...layers.map((name): [string, string] => [name, name])],
        filter.layer,
        (layer) => update({ layer }),
      ),
    select("Class", classChoices(app, filter), filter.classes.join(","), (classes) =>
      update({ classes: classes.split(",").filter(Boolean) }),
    ),
    libraries.length > 1 &&
      select(
        "Library",
        [["", "all libraries"], ...libraries.map((library): [string, string] => [library, library])],
        filter.library,
        (library) => update({ library }),
      ),
    h("button", { class: "quiet", type: "button", onclick: () => update(NO_FILTER) }, "Clear filters"),
  ];
}
