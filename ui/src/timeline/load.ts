// Reads the timeline once, when a view first needs it.
import type { App } from "../app";
import { isServing } from "../data/profile";
import { hasTimeline } from "./header";
import { readTimeline, type Timeline } from "./model";

let reading: Promise<Timeline> | null = null;

function stepWords(app: App, index: number): string {
  const step = app.profile.steps[index];
  if (!step) return `step ${index}`;
  return isServing(app.profile) ? `engine step ${step.instance}` : `step ${step.step_of_instance}`;
}

/** Resolves with the data for the first picture; its `details` settle later. */
export function loadTimeline(app: App): Promise<Timeline> | null {
  if (!hasTimeline()) return null;
  reading ??= readTimeline((index) => stepWords(app, index));
  return reading;
}

/** Resolves with all columns. */
export function loadWholeTimeline(app: App): Promise<Timeline> | null {
  const wait = async (timeline: Timeline) => {
    await timeline.details;
    return timeline;
  };
  return loadTimeline(app)?.then(wait) ?? null;
}
