// Details of the pinned row; for a stage, a step or a layer also the sums of its work.
import type { App } from "../../app";
import { copyText } from "../../dom/copy";
import { h, type Child } from "../../dom/dom";
import { swatch } from "../../dom/parts";
import { facts } from "../../dom/table";
import { count, duration, exactMs } from "../../format/figures";
import { placeHash } from "../../state/fragment";
import { copiesLink, kernelLink, kernelPlaces, kernelsLink, type Href } from "../../state/links";
import { describe } from "../describe";
import type { RowRef, Timeline } from "../model";
import { sumOwned } from "../sums";
import { panel, quietButton, type PanelActions } from "./panel";
import { sumFacts, sumTables } from "./sum_tables";

/** Values of a step in profile.json. */
function stepFacts(app: App, index: number): [string, Child][] {
  const step = app.profile.steps[index];
  if (!step) return [];
  return [
    ["sequences", step.batch !== null && count(step.batch)],
    ["tokens", step.tokens !== null && count(step.tokens)],
    ["context tokens", step.context_tokens !== null && count(step.context_tokens)],
  ];
}

/** A link to more of the same kind. */
function moreOf(app: App, timeline: Timeline, ref: RowRef): [string, Href] | null {
  const track = timeline.tracks[ref.track]!;
  const column = (name: string) => timeline.tables[track.table][name]?.[ref.row] ?? 0;
  if (track.table === "slices") {
    const kernel = timeline.kernels[column("kernel")]!;
    if (column("kind") === 1 || column("kind") === 2) return ["All copies and fills", copiesLink(app)];
    const places = kernelPlaces(app.profile);
    const place =
      places.byName(timeline.names[kernel.name] ?? "", track.device ?? "") ??
      places.byShortName(timeline.names[kernel.short] ?? "");
    return ["All launches of it", kernelLink(app, place)];
  }
  const name = timeline.names[column("name")] ?? "";
  if (track.table === "stages")
    return [
      `Kernels of ${name}`,
      kernelsLink(app, [...new Set(app.profile.kernels.map((kernel) => kernel.class))], name) &&
        placeHash("kernels", { stage: name }),
    ];
  if (track.table === "steps")
    return [
      "Among all steps",
      app.profile.steps[column("index")]
        ? placeHash("steps", { stage: app.profile.steps[column("index")]!.stage, step: String(column("index")) })
        : null,
    ];
  return null;
}

export function pinnedPanel(app: App, timeline: Timeline, ref: RowRef, actions: PanelActions): HTMLElement {
  const { title, full, rows, startNs, durationNs, classIndex } = describe(timeline, app.view, ref);
  const own = classIndex === null ? null : app.view.classes[classIndex];
  const track = timeline.tracks[ref.track]!;
  const sums = sumOwned(timeline, ref);
  const more = moreOf(app, timeline, ref);
  return panel(
    "pinned",
    "Pinned",
    [own && [swatch(app, own.id), " "], title],
    { label: "Unpin", onClose: actions.unpin },
    full !== null && h("p", { class: "full-name" }, h("code", {}, full)),
    facts([
      ["duration", durationNs > 0 && duration(durationNs)],
      ["start", `${exactMs(startNs / 1e6)} ms after the capture's first event`],
      ...rows,
      ...(track.table === "steps" ? stepFacts(app, timeline.tables.steps["index"]?.[ref.row] ?? -1) : []),
      ...(sums ? sumFacts(sums) : []),
    ]),
    h(
      "p",
      {},
      quietButton("Zoom to it", () => actions.zoomTo([startNs, startNs + Math.max(durationNs, 50)])),
      more?.[1] && [" ", h("a", { href: more[1] }, more[0])],
      full !== null && [" ", quietButton("Copy full name", () => void copyText(full, "the full name"))],
    ),
    sums && sumTables(app, timeline, sums, `Pinned ${track.table.replace(/s$/, "")}`),
  );
}
