// Display names for names in profile.json.
import type { App } from "../app";
import type { Job } from "../data/profile";

/** The words from C++ for a cause, a kind of collective, a link, how clocks were compared. */
export const nameOf = (app: App, name: string): string => app.view.job?.names[name] ?? name.replaceAll("_", " ");

export const stageWords = (stage: string): string => stage || "whole timeline";

/** "0 to 7", "0, 2, 5": a range if they are consecutive. */
export function rankList(ranks: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < ranks.length; ) {
    let end = i;
    while (end + 1 < ranks.length && ranks[end + 1] === ranks[end]! + 1) end++;
    parts.push(end - i < 2 ? ranks.slice(i, end + 1).join(", ") : `${ranks[i]} to ${ranks[end]}`);
    i = end + 1;
  }
  return parts.join(", ");
}

/** "tensor 4, data 2"; empty if none is known. */
export const parallelismWords = (job: Job): string =>
  job.parallelism.map(({ parallelism, size }) => `${parallelism} ${size}`).join(", ");
