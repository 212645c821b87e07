// Why a GPU was idle: the cause, the work before and after, and what the launching thread did meanwhile.
import type { App } from "../../app";
import type { Gap } from "../../data/profile";
import { h, type Child } from "../../dom/dom";
import { swatch } from "../../dom/parts";
import { facts } from "../../dom/table";
import { duration } from "../../format/figures";
import { gapsLink } from "../../state/links";
import { describe, instanceWords } from "../describe";
import { hostIn, idleWords, isBetweenOperators, type HostActivity, type IdleGap } from "../gaps";
import { beginningOf, type RowRef, type Timeline } from "../model";
import { panel, quietButton, type PanelActions } from "./panel";

/** Share of a gap's length: a gap in profile.json whose start and end are this close is the same. */
const SAME = 0.05;
const SAME_NS = 2000;

/** The same gap in profile.json, which lists the longest of each stage. */
function listedGap(app: App, timeline: Timeline, gap: IdleGap): Gap | null {
  const limit = Math.max(SAME_NS, SAME * (gap.end - gap.start));
  for (const listed of app.profile.gaps) {
    const instance = app.profile.stages.find((stage) => stage.name === listed.stage)?.instances[listed.instance];
    if (!instance || (instance.device !== null && gap.device && instance.device !== gap.device)) continue;
    const at = instance.start_ns + listed.after_start_ms * 1e6;
    const start = at - beginningOf(timeline, at);
    if (Math.abs(start - gap.start) <= limit && Math.abs(start + listed.ms * 1e6 - gap.end) <= limit) return listed;
  }
  return null;
}

function launchWords(gap: IdleGap, host: HostActivity): string {
  const { call } = host;
  const after = call.startNs - gap.start;
  const when =
    after >= 0
      ? `${duration(after)} after the GPU ran out of work`
      : `${duration(-after)} before the GPU ran out of work`;
  return `${call.name}, called ${when}; the call took ${duration(call.durationNs)}`;
}

function meanwhile(gap: IdleGap, host: HostActivity, listed: Gap | null): string {
  if (listed?.host) return listed.host;
  const length = gap.end - gap.start;
  const inCalls = host.longest
    ? `in CUDA calls for ${duration(host.inCallsNs)} of it (${host.longest.name} for ${duration(host.longest.ns)})`
    : null;
  const outside =
    `outside of CUDA calls for ${duration(length - host.inCallsNs)} of ` +
    `it${host.range === null ? "" : `, in ${host.range}`}`;
  const first = host.inCallsNs > length / 2;
  return [first ? inCalls : outside, first ? outside : inCalls].filter(Boolean).join("; ");
}

function ownerOf(timeline: Timeline, gap: IdleGap): string {
  const row = (gap.after ?? gap.before)!.row;
  const step = timeline.tables.slices["step"]?.[row] ?? 0;
  const instance = timeline.tables.slices["instance"]?.[row] ?? 0;
  const words = [
    instance > 0 && instanceWords(timeline, "stages", instance - 1),
    step > 0 && instanceWords(timeline, "steps", step - 1),
  ].filter(Boolean);
  return words.length > 0 ? words.join(", ") : "outside stages";
}

/** In the middle of a capture, a gap has work on both sides. */
function workButton(app: App, timeline: Timeline, ref: RowRef | null, actions: PanelActions): Child {
  return ref
    ? quietButton(describe(timeline, app.view, ref).title, () => actions.pin(ref))
    : "nothing that was recorded";
}

export function gapPanel(app: App, timeline: Timeline, gap: IdleGap, actions: PanelActions): HTMLElement {
  const host = hostIn(timeline, gap);
  const listed = listedGap(app, timeline, gap);
  const cause = listed?.cause ?? gap.cause ?? (isBetweenOperators(gap) ? "between operators" : null);
  const why = cause && app.palette.why(cause);
  const stage = listed?.stage ?? "";
  const more = cause && gapsLink(app, stage, [cause]);
  return panel(
    "gap",
    "Why nothing runs here",
    `${idleWords(gap)} for ${duration(gap.end - gap.start)}`,
    null,
    why && h("p", {}, why),
    facts([
      [
        "cause",
        cause === null
          ? gap.after
            ? "not known"
            : "the capture ends here"
          : h("span", { class: "with-swatch" }, swatch(app, cause), app.palette.label(cause)),
      ],
      ["after", workButton(app, timeline, gap.before, actions)],
      ["before", workButton(app, timeline, gap.after, actions)],
      ["in", ownerOf(timeline, gap)],
      ["next launch", host && launchWords(gap, host)],
      ["launching thread", host && meanwhile(gap, host, listed)],
    ]),
    more && h("p", {}, h("a", { href: more }, `Longest gaps of this cause${stage ? ` in ${stage}` : ""}`)),
  );
}
