// Time above its lower bound: by part of the budget, and by kernel.
import type { App } from "../app";
import { instanceWord, type Profile } from "../data/profile";
import { h } from "../dom/dom";
import { link } from "../dom/link";
import { note, prose, section, swatch } from "../dom/parts";
import { table, type Column } from "../dom/table";
import { fineMs, ms } from "../format/figures";
import { kernelLink, kernelPlaces, partLink } from "../state/links";

type OfStage = Profile["recoverable"][number];
type Part = OfStage["parts"][number];
type Kernel = OfStage["kernels"][number];

const SHOWN_KERNELS = 8;

function columnsOf<Row extends Part | Kernel>(stage: OfStage, unit: string): Column<Row>[] {
  return [
    { id: "ms", title: "time (ms)", of: `ms per ${unit}, mean`, value: (r) => r.ms, format: ms },
    {
      id: "floor",
      title: "lower bound (ms)",
      of: `ms per ${unit}, the least time that it could take`,
      value: (r) => r.floor_ms,
      format: ms,
    },
    {
      id: "saving",
      title: "potential saving (ms)",
      of: `ms per ${unit} above the lower bound, an upper limit`,
      value: (r) => r.recoverable_ms,
      format: ms,
    },
    ...(stage.tokens === null
      ? []
      : [
          {
            id: "token",
            title: "per output token (ms)",
            of: "ms of potential saving per output token",
            value: (r: Row) => r.recoverable_ms_per_output_token,
            format: fineMs,
          },
        ]),
  ];
}

function partHref(app: App, { stage }: OfStage, { part }: Part): string | null {
  const own = app.profile.stages.find((each) => each.name === stage);
  return own ? partLink(app, own, part) : null;
}

function boundWords(stage: OfStage): string {
  const most =
    stage.most_ms === null
      ? ""
      : ` The stage takes less time unprofiled, so no potential saving is larger than ${ms(stage.most_ms)} ms.`;
  return stage.bound_ms === null
    ? `Wall time ${ms(stage.wall_ms)} ms; the hardware's lower bound is not known.${most}`
    : `Wall time ${ms(stage.wall_ms)} ms; the hardware's lower bound, end to end, is ${ms(stage.bound_ms)} ms.${most}`;
}

export function savingsByPart(app: App): HTMLElement | null {
  const stages = app.profile.recoverable
    .map((stage) => ({ stage, parts: stage.parts.filter((part) => part.shown) }))
    .filter((each) => each.parts.length > 0);
  if (stages.length === 0) return null;
  const unit = instanceWord(app.profile);
  return section(
    "Potential savings by part",
    stages.map(({ stage, parts }) =>
      h(
        "div",
        {},
        h("h3", {}, stage.stage),
        table<Part>({
          caption: `Potential savings in ${stage.stage}, by part`,
          rows: parts,
          columns: [
            {
              id: "part",
              title: "part",
              value: (p) => app.palette.label(p.part),
              heads: true,
              cell: (p) =>
                link(
                  partHref(app, stage, p),
                  { class: "with-swatch" },
                  swatch(app, p.part),
                  app.palette.label(p.part),
                ),
            },
            ...columnsOf<Part>(stage, unit),
            {
              id: "rule",
              title: "how the bound was found",
              className: "prose",
              value: (p) => p.floor_rule ?? "",
              cell: (p) => prose(p.floor_rule ?? ""),
            },
          ],
        }).element,
        note(boundWords(stage)),
      ),
    ),
    note(
      "A potential saving is the time above the lower bound: an upper limit, not a promise. Parts that could " +
        "save less than 1 % of the wall time are in profile.json.",
    ),
  );
}

export function savingsByKernel(app: App): HTMLElement | null {
  const stages = app.profile.recoverable
    .map((stage) => ({
      stage,
      kernels: stage.kernels.filter((kernel) => kernel.recoverable_ms > 0).slice(0, SHOWN_KERNELS),
    }))
    .filter((each) => each.kernels.length > 0);
  if (stages.length === 0) return null;
  const unit = instanceWord(app.profile);
  const basis = (kernel: Kernel) => app.view.names[kernel.floor_basis] ?? kernel.floor_basis;
  return section(
    "Potential savings by kernel",
    stages.map(({ stage, kernels }) =>
      h(
        "div",
        {},
        h("h3", {}, stage.stage),
        table<Kernel>({
          caption: `Potential savings in ${stage.stage}, by kernel`,
          rows: kernels,
          columns: [
            {
              id: "name",
              title: "kernel",
              value: (k) => k.short_name,
              heads: true,
              className: "name",
              cell: (k) =>
                link(
                  kernelLink(app, kernelPlaces(app.profile).byShortName(k.short_name, k.device), stage.stage),
                  {},
                  k.short_name,
                ),
            },
            ...columnsOf<Kernel>(stage, unit),
            {
              id: "basis",
              title: "basis of the bound",
              className: "prose",
              value: (k) => basis(k),
              cell: (k) => h("span", { title: k.floor_rule ?? "" }, basis(k)),
            },
          ],
        }).element,
      ),
    ),
  );
}
