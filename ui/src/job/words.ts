// Display names for names in profile.json.
import type { App } from "../app";
import type { Job } from "../data/profile";

/** The words from C++ for a cause, a kind of collective, a link. */
export const nameOf = (app: App, name: string): string => app.view.job?.names[name] ?? name.replaceAll("_", " ");

export const stageWords = (stage: string): string => stage || "whole timeline";

const METHODS: Record<string, string> = {
  reference: "its clock is the job's",
  shared: "the same clock",
  collectives: "ends of collectives",
  wall_clock: "the hosts' wall clocks",
  none: "not joined to the others",
};
export const methodWords = (method: string): string => METHODS[method] ?? method;

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

/** "tensor 4, data 2", from the groups; empty if none is known. */
export function parallelismWords(job: Job): string {
  const sizes = new Map<string, number>();
  for (const group of job.groups)
    if (group.parallelism !== "unknown")
      sizes.set(group.parallelism, Math.max(sizes.get(group.parallelism) ?? 0, group.size));
  return [...sizes]
    .filter(([, size]) => size > 1)
    .map(([name, size]) => `${name} ${size}`)
    .join(", ");
}
