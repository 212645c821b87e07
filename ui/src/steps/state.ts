// The state of the steps view: options of its address.
import type { App } from "../app";
import { isServing } from "../data/profile";

export interface StepsState {
  stage: string;
  /** Causes of gaps; all if empty. */
  causes: string[];
  step: number | null;
}

export const stateOf = (options: URLSearchParams): StepsState => ({
  stage: options.get("stage") ?? "",
  causes: (options.get("cause") ?? "").split(",").filter(Boolean),
  step: options.has("step") ? Number(options.get("step")) : null,
});

export function where(app: App, instance: number, step: number | null): string {
  if (isServing(app.profile)) return `engine step ${instance}`;
  return step === null ? `instance ${instance}` : `instance ${instance}, step ${step}`;
}
