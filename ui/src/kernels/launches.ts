// The launches of a kernel, slowest first, each with its place in the timeline.
import type { App } from "../app";
import { scopeWords } from "../data/kernel_scope";
import type { Kernel } from "../data/profile";
import { h, replace } from "../dom/dom";
import { note } from "../dom/parts";
import { table } from "../dom/table";
import { count, counted, exactMs } from "../format/figures";
import { placeHash } from "../state/fragment";
import { instanceWords } from "../timeline/describe";
import { launchesOf } from "../timeline/kernel_launches";
import { loadWholeTimeline } from "../timeline/load";
import type { Timeline } from "../timeline/model";
import type { KernelFilter } from "./filter";

const SHOWN = 10;
const LISTED = 200;

type Launch = ReturnType<typeof launchesOf>[number];

function launchTable(timeline: Timeline, kernel: Kernel, launches: Launch[]): HTMLElement {
  const { slices } = timeline.tables;
  const value = (launch: Launch, column: string) => slices[column]?.[launch.row] ?? 0;
  const start = (launch: Launch) => timeline.tracks[launch.track]!.start[launch.row]! / 1e6;
  const instance = (launch: Launch) =>
    value(launch, "instance") > 0
      ? instanceWords(timeline, "stages", value(launch, "instance") - 1)
      : "outside stages";
  const step = (launch: Launch) =>
    value(launch, "step") > 0 ? timeline.stepWords(timeline.tables.steps["index"]![value(launch, "step") - 1]!) : "";
  const layer = (launch: Launch) =>
    value(launch, "layer") > 0 ? (timeline.names[value(launch, "layer") - 1] ?? "") : "";
  const shape = (launch: Launch) => (value(launch, "shape") > 0 ? timeline.shapes[value(launch, "shape") - 1]! : null);
  const extent = (numbers: number[] | undefined) => numbers?.join(" x ") ?? "";
  const words = (each: Launch) => exactMs(start(each));
  return table<Launch>({
    caption: `Launches of ${kernel.short_name}, slowest first`,
    fit: true,
    rows: launches.slice(0, LISTED),
    limit: SHOWN,
    sort: "-time",
    columns: [
      {
        id: "start",
        title: "starts (ms)",
        of: "ms after the capture's first event",
        heads: true,
        value: start,
        cell: (l) =>
          h(
            "a",
            {
              href: placeHash("timeline", { pin: `slices:${l.row}` }),
              "aria-label": `Launch at ${words(l)} ms in the timeline`,
            },
            words(l),
          ),
      },
      { id: "time", title: "time (ms)", value: (l) => l.ns / 1e6, format: exactMs },
      { id: "stage", title: "stage", value: instance },
      { id: "step", title: "step", value: step },
      { id: "layer", title: "layer", value: layer },
      { id: "grid", title: "grid", value: (l) => extent(shape(l)?.slice(0, 3)) },
      { id: "block", title: "block", value: (l) => extent(shape(l)?.slice(3, 6)) },
    ],
  }).element;
}

/** Filled once the timeline is read; null without one. */
export function launchList(app: App, kernel: Kernel, filter: KernelFilter): HTMLElement | null {
  const loading = loadWholeTimeline(app);
  if (!loading) return null;
  const element = h(
    "div",
    { class: "launches" },
    h("p", { class: "muted", role: "status" }, "Reading the timeline..."),
  );
  void loading.then((timeline) => {
    const launches = launchesOf(timeline, app.profile, kernel, filter.scope, filter.layer);
    const where = `${scopeWords(app.profile, filter.scope)}${filter.layer ? `, ${filter.layer}` : ""}`;
    if (launches.length === 0) return replace(element);
    const all =
      launches.length > LISTED
        ? `the ${LISTED} slowest of ${count(launches.length)} launches`
        : counted(launches.length, "launch", "launches");
    replace(
      element,
      h("h4", {}, "Launches, slowest first"),
      launchTable(timeline, kernel, launches),
      note(`${all.charAt(0).toUpperCase()}${all.slice(1)} in ${where}.`),
    );
  });
  return element;
}
