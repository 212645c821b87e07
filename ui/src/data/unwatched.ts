// What reports show first: the program without profiling. The rules are those of report.md (report/documents/unwatched_view),
// in the same order of operations, so that the digits are the same.
import type { Profile, Stage, Times } from "./profile";

const scaled = (value: number | null, by: number): number | null => (value === null ? null : value * by);

function scaledTimes<T extends Times | null>(times: T, by: number): T {
  if (times === null) return times;
  const copy = { ...times };
  for (const key of ["mean", "std", "min", "p50", "p99", "max"] as const) copy[key] = scaled(copy[key], by);
  return copy;
}

/** How much longer the recorded stage was. */
function slowdown(stage: Stage): number {
  return (stage.wall_ms.mean ?? 0) / stage.unwatched!.wall_ms;
}

function shownStage(stage: Stage): Stage {
  const own = stage.unwatched;
  if (!own) return { ...stage };
  // Where only windows were traced, a recorded instance is longer than its recorded steps.
  const slower = 1 + own.added_by_tracing_share;
  return {
    ...stage,
    wall_ms: scaledTimes(stage.wall_ms, 1 / slowdown(stage)),
    step_wall_ms: scaledTimes(stage.step_wall_ms, 1 / slower),
    wall_ms_per_step: own.wall_ms_per_step ?? stage.wall_ms_per_step,
    budget: stage.budget && own.budget.map((part) => ({ ...part, share_of_traced: part.share, total_ns: 0 })),
    idle_ms: own.idle_ms,
    idle_share_of_wall: own.idle_share_of_wall,
    gpu_busy_share_of_wall: own.gpu_busy_ms / own.wall_ms,
    mfu: { ...stage.mfu, wall: scaled(stage.mfu.wall, slower) },
    mbu: { ...stage.mbu, wall: scaled(stage.mbu.wall, slower) },
    wall_over_floor: scaled(stage.wall_over_floor, 1 / slower),
  };
}

function shownTokenTimes(profile: Profile): Profile["token_times"] {
  const times = { ...profile.token_times };
  const known = (name: string) => profile.stages.find((stage) => stage.name === name && stage.unwatched);
  const prefill = known("prefill");
  const decode = known("decode");
  if (prefill) times.time_to_first_token_ms = scaledTimes(times.time_to_first_token_ms, 1 / slowdown(prefill));
  if (decode) {
    const slower = slowdown(decode);
    times.time_per_output_token_ms = scaledTimes(times.time_per_output_token_ms, 1 / slower);
    times.tokens_per_s = scaled(times.tokens_per_s, slower);
    times.tokens_per_s_per_sequence = scaled(times.tokens_per_s_per_sequence, slower);
    times.by_batch = times.by_batch.map((row) => ({
      ...row,
      step_wall_ms: scaledTimes(row.step_wall_ms, 1 / slower),
      tokens_per_s: scaled(row.tokens_per_s, slower),
    }));
  }
  if (times.request_ms !== null && prefill && decode) {
    times.request_ms = prefill.unwatched!.wall_ms + decode.unwatched!.wall_ms;
  }
  return times;
}

const totalWall = (stage: Stage): number => (stage.wall_ms.mean ?? 0) * stage.wall_ms.count;

export function unwatchedView(profile: Profile): Profile {
  if (!profile.stages.some((stage) => stage.unwatched)) return profile;
  const token_times = shownTokenTimes(profile);
  const stages = profile.stages.map(shownStage);
  const wall = stages.reduce((sum, stage) => sum + totalWall(stage), 0);
  if (wall > 0) {
    let busy = 0;
    for (const stage of stages) {
      stage.share_of_stage_time = totalWall(stage) / wall;
      busy += totalWall(stage) * (stage.gpu_busy_share_of_wall ?? 0);
    }
    if (token_times.gpu_busy_share_of_wall !== null) token_times.gpu_busy_share_of_wall = busy / wall;
  }
  return { ...profile, token_times, stages };
}
