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

const ranksMeasured = (profile: Profile): boolean => profile.kernels.some((kernel) => kernel.measured !== null);

const isWhole = (profile: Profile, scope: Scope): boolean =>
  scope === WHOLE_CAPTURE || (scope === "" && !ranksMeasured(profile));

/** Excludes warm-up, unless the stage has nothing else. */
function inStage(profile: Profile, stage: string): (kernel: Kernel) => { calls: number; total: number } | null {
  const steady = profile.kernels.some((kernel) => (kernel.stages[stage]?.steady_calls ?? 0) > 0);
  return (kernel) => {
    const own = kernel.stages[stage];
    if (!own) return null;
    const calls = steady ? own.steady_calls : own.calls;
    return calls === 0 ? null : { calls, total: steady ? own.steady_total_ms : own.total_ms };
  };
}

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
  const own = inStage(profile, scope);
  const sums = profile.kernels.flatMap((kernel) => {
    const time = own(kernel);
    return time ? [{ kernel, ...time, mean: time.total / time.calls }] : [];
  });
  const all = sums.reduce((sum, each) => sum + each.total, 0);
  return sums.map((each) => ({ ...each, share: all > 0 ? each.total / all : null }));
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
