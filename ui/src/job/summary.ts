// What the overview of a job says of its ranks.
import type { App } from "../app";
import { figure } from "../dom/copy";
import { h } from "../dom/dom";
import { section } from "../dom/parts";
import { counted, fineMs, percent } from "../format/figures";
import { jobNotices } from "./notices";
import { causeWords, parallelismWords } from "./words";

export function jobSummary(app: App): HTMLElement | null {
  const { job, ranks } = app.shown;
  if (!job) return null;
  const parallelism = parallelismWords(job);
  const worst = job.stragglers[0];
  const waited = worst && h("p", {}, `Rank ${worst.rank} is waited for in ${worst.stage}: `, figure(`${fineMs(worst.wait_ms_per_step)} ms`, worst.wait_ms_per_step, "ms per step of the job"), " per step", worst.share_of_step !== null && [", ", figure(percent(worst.share_of_step), worst.share_of_step, "of the job's mean step"), " of it"], worst.cause !== "unknown" && `, because ${causeWords(worst.cause)}`, ".");
  return section(
    "Ranks",
    jobNotices(job, ranks),
    h("p", {}, `${counted(job.recorded, "rank")} of ${job.world_size} on ${counted(job.hosts, "host")}${parallelism ? ` (${parallelism})` : ""}; one step on all ranks is one step here. `, h("a", { href: "#job" }, "Where each rank's time goes")),
    waited,
  );
}
