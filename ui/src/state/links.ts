// Links inside the page. Each is null if its target would be empty: then no link is shown.
import type { App } from "../app";
import { kernelSums, WHOLE_CAPTURE, type Scope } from "../data/kernel_scope";
import type { Gap, Profile, Stage } from "../data/profile";
import { hasTimeline, type GapsOfCause } from "../timeline/header";
import { placeHash, type Options } from "./fragment";

export type Href = string | null;

/** Kernels of these classes in a scope. */
export function kernelsLink(app: App, classes: string[], scope: Scope): Href {
  const has = kernelSums(app.profile, scope).some(({ kernel }) => classes.includes(kernel.class));
  return has ? placeHash("kernels", { class: classes.join(","), stage: scope }) : null;
}

const nameKey = (name: string, device: string): string => `${name}\n${device}`;

/** Kernels by name and device, as indices into profile.json's list. */
class KernelPlaces {
  private readonly full = new Map<string, number>();
  private readonly short = new Map<string, number>();

  constructor(profile: Profile) {
    profile.kernels.forEach((kernel, index) => {
      const short = nameKey(kernel.short_name, kernel.device);
      this.full.set(nameKey(kernel.kernel_name, kernel.device), index);
      // Kernels with the same short name: the longest comes first.
      if (!this.short.has(short)) this.short.set(short, index);
      if (!this.short.has(kernel.short_name)) this.short.set(kernel.short_name, index);
    });
  }

  byName(name: string, device: string): number | undefined {
    return this.full.get(nameKey(name, device));
  }

  byShortName(name: string, device?: string): number | undefined {
    return this.short.get(device === undefined ? name : nameKey(name, device));
  }
}

const places = new WeakMap<Profile, KernelPlaces>();

export function kernelPlaces(profile: Profile): KernelPlaces {
  const known = places.get(profile) ?? new KernelPlaces(profile);
  places.set(profile, known);
  return known;
}

/** One kernel, opened, by its index in profile.json's list. */
export function kernelLink(app: App, place: number | undefined, scope: Scope = ""): Href {
  const kernel = place === undefined ? undefined : app.profile.kernels[place];
  if (!kernel) return null;
  const within = kernelSums(app.profile, scope).some((each) => each.kernel === kernel);
  return placeHash("kernels", { q: kernel.short_name, stage: within ? scope : WHOLE_CAPTURE, open: String(place) });
}

export const gapsOf = (profile: Profile, stage: string, causes: string[]): Gap[] =>
  profile.gaps.filter((gap) => (!stage || gap.stage === stage) && (causes.length === 0 || causes.includes(gap.cause)));

export const timelineGapsOf = (app: App, stage: string, causes: string[]): GapsOfCause[] =>
  app.gaps.filter((gap) => (!stage || gap.stage === stage) && causes.includes(gap.cause));

/** Idle gaps of a stage by cause: the longest ones from profile.json, or those of the timeline. */
export function gapsLink(app: App, stage: string, causes: string[]): Href {
  const has = gapsOf(app.profile, stage, causes).length > 0 || timelineGapsOf(app, stage, causes).length > 0;
  return has ? placeHash("steps", { stage, cause: causes.join(",") }) : null;
}

export const copiesLink = (app: App): Href =>
  app.profile.copies.length > 0 ? placeHash("gpu", { at: "copies" }) : null;

export const isGpuViewShown = (profile: Profile): boolean =>
  profile.device_time.length > 0 || profile.copies.length > 0;

/** The details of a part of a stage's budget. */
export function partLink(app: App, stage: Stage, part: string): Href {
  if (part === "memory copies and fills") return copiesLink(app);
  const kernelClass = app.palette.classOf(part);
  return kernelClass !== null ? kernelsLink(app, [kernelClass], stage.name) : gapsLink(app, stage.name, [part]);
}

/** A span on the capture's own clock, in ns: the timeline opens with it selected and some room around it. */
export function spanLink(startNs: number, lengthNs: number, more: Options = {}): Href {
  return hasTimeline()
    ? placeHash("timeline", { span: `${Math.round(startNs)},${Math.round(startNs + Math.max(lengthNs, 1))}`, ...more })
    : null;
}

/** The same on the timeline's own axis. */
export function selectionLink(startNs: number, lengthNs: number): Href {
  const room = Math.max(lengthNs * 0.15, 500);
  const pair = (from: number, to: number) => `${Math.round(from)},${Math.round(to)}`;
  return hasTimeline()
    ? placeHash("timeline", {
        t: pair(startNs - room, startNs + lengthNs + room),
        sel: pair(startNs, startNs + Math.max(lengthNs, 1)),
      })
    : null;
}

export function gapSpan(app: App, gap: Gap): Href {
  const instance = app.profile.stages.find((stage) => stage.name === gap.stage)?.instances[gap.instance];
  return instance ? spanLink(instance.start_ns + gap.after_start_ms * 1e6, gap.ms * 1e6) : null;
}

export function stepSpan(app: App, index: number): Href {
  const step = app.profile.steps[index];
  return step ? spanLink(step.start_ms * 1e6, step.wall_ms * 1e6) : null;
}

/** GPU work in the timeline, with the filtered rows highlighted. */
export const timelineFilterLink = (options: Options): Href => (hasTimeline() ? placeHash("timeline", options) : null);
