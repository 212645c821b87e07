// Short names for parts of profile.json's generated types.
import type { Profile } from "../generated/profile";

export type { Profile };
export type Stage = Profile["stages"][number];
export type BudgetPart = NonNullable<Stage["shown"]["budget"]>[number];
export type Kernel = Profile["kernels"][number];
export type Finding = Profile["findings"][number];
export type Step = Profile["steps"][number];
export type Layer = Profile["layers"][number];
export type Gap = Profile["gaps"][number];
export type Operator = Profile["operators"][number];
export type Job = NonNullable<Profile["job"]>;
export type Collective = Job["collectives"][number];
export type Straggler = Job["stragglers"][number];
export type Rank = Profile["ranks"][number];
export type RankStage = Rank["between"][number];
export type Requests = NonNullable<Profile["requests"]>;
export type Request = Requests["items"][number];
export type RequestBatch = Requests["batches"][number];
export type RequestGap = Requests["slowest_gaps"][number];
export type RequestTail = Requests["tail"][number];
export type RequestTimes = Requests["ttft_ms"];
export type Times = NonNullable<Profile["token_times"]["time_to_first_token_ms"]>;

export const onCpu = (profile: Profile): boolean => profile.context.device_kind === "cpu";
export const deviceWord = (profile: Profile): string => (onCpu(profile) ? "CPU" : "GPU");
export const isServing = (profile: Profile): boolean => profile.stages_found.serving ?? false;
/** What to call an instance of a stage if the stage is not named next to it. */
export const instanceWord = (profile: Profile): string => (isServing(profile) ? "engine step" : "instance");
