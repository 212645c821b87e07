// The launches that kernel sums cover: those of the measured stages, as in the terminal; of one stage; or of the whole
// capture, with warm-up, initialization and autotuning.
import type { Kernel, Profile } from "./profile";

/**
 * As in the address: "" means the measured stages (without stages, the capture), "*" the capture, otherwise a stage's
 * name.
 */
export type Scope = string;
export const WHOLE_CAPTURE = "*";

export interface KernelSum {
  kernel: Kernel;
  calls: number;
  total: number;
  mean: number;
  /** Of the time of all kernels in the scope. */
  share: number | null;
}

const ranksMeasured = (profile: Profile): boolean => profile.measured_kernels_all_devices.length > 0;

const isWhole = (profile: Profile, scope: Scope): boolean =>
  scope === WHOLE_CAPTURE || (scope === "" && !ranksMeasured(profile));

export function kernelSums(profile: Profile, scope: Scope): KernelSum[] {
  if (isWhole(profile, scope))
    return profile.kernels.map((kernel) => ({
      kernel,
      calls: kernel.calls,
      total: kernel.total_ms,
      mean: kernel.mean_ms,
      share: kernel.share,
    }));
  if (scope === "")
    return profile.kernels.flatMap((kernel) =>
      kernel.measured
        ? [
            {
              kernel,
              calls: kernel.measured.calls,
              total: kernel.measured.total_ms,
              mean: kernel.measured.mean_ms,
              share: kernel.measured.share,
            },
          ]
        : [],
    );
  const withWarmup = profile.stages.find((stage) => stage.name === scope)?.shown.warmup_only ?? false;
  return profile.kernels.flatMap((kernel) => {
    const own = kernel.stages[scope];
    if (!own || own.mean_ms === null) return [];
    const calls = withWarmup ? own.calls : own.steady_calls;
    const total = withWarmup ? own.total_ms : own.steady_total_ms;
    return [{ kernel, calls, total, mean: own.mean_ms, share: own.share }];
  });
}

/** "the measured stages": the scope of sums and shares. */
export function scopeWords(profile: Profile, scope: Scope): string {
  if (isWhole(profile, scope)) return "the whole capture";
  return scope === "" ? "the measured stages" : scope;
}

/** Whether statistics of single launches, which always cover all launches, apply to this scope. */
export const isOfAllLaunches = isWhole;

/** The options of the stage selector. */
export function scopeChoices(profile: Profile): [Scope, string][] {
  const stages = profile.stages.map((stage): [Scope, string] => [stage.name, stage.name]);
  return ranksMeasured(profile)
    ? [["", "measured stages"], ...stages, [WHOLE_CAPTURE, "whole capture"]]
    : [["", "whole capture"]];
}
