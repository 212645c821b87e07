// Caveats about a job: missing ranks, waits that are lower bounds, why ranks are not compared.
import type { Job, Rank } from "../data/profile";
import { h, type Child } from "../dom/dom";
import { prose } from "../dom/parts";
import { counted } from "../format/figures";
import { rankList } from "./words";

export function jobNotices(job: Job, ranks: Rank[]): Child {
  const detail = (rank: number) => ranks.find((each) => each.rank === rank)?.state_detail;
  const died = job.died.map((rank) => (detail(rank) ? `${rank} (${detail(rank)})` : String(rank)));
  return [
    died.length > 0 &&
      h(
        "p",
        { class: "warning" },
        `${job.died.length === 1 ? "Rank" : "Ranks"} ${died.join(", ")} ended before the program did.`,
      ),
    job.missing.length > 0 &&
      h(
        "p",
        { class: "warning" },
        `No capture of ${job.missing.length === 1 ? "rank" : "ranks"} ${rankList(job.missing)} was read: ` +
          `${counted(job.recorded, "rank")} of ${job.world_size} ${job.recorded === 1 ? "is" : "are"} here.`,
      ),
    job.lower_bound &&
      h(
        "p",
        { class: "note" },
        "Not all ranks were recorded: reported waits are lower bounds, because a missing rank may have arrived " +
          "even later.",
      ),
    job.why_not !== null && h("p", { class: "note" }, "The ranks could not be compared: ", prose(job.why_not)),
  ];
}
