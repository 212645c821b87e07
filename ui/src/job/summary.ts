// The overview's section on the ranks of a job.
import type { App } from "../app";
import { h } from "../dom/dom";
import { prose, section } from "../dom/parts";
import { jobNotices } from "./notices";

export function jobSummary(app: App): HTMLElement | null {
  const { job, ranks } = app.profile;
  if (!job) return null;
  const [head, ...rest] = app.view.job?.sentences ?? [];
  // The notices report missing ranks, and the text above reports the straggler.
  const others = rest.filter((sentence) => sentence.kind === "fact");
  return section(
    "Ranks",
    jobNotices(job, ranks),
    h(
      "p",
      {},
      head?.text ?? "",
      " One step on all ranks is one step here. ",
      h("a", { href: "#job" }, "Where each rank's time goes"),
    ),
    others.map((sentence) => h("p", {}, prose(sentence.text))),
  );
}
