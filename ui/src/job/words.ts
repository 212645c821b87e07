// Names in profile.json that readers know by other words.
import type { Job } from "../data/profile";

const CAUSES: Record<string, string> = {
  longer_kernels: "its kernels take longer",
  late_launch: "its work is launched later",
  more_tokens: "it has more tokens",
  lower_clock: "its clock is lower",
  unknown: "not known",
};
export const causeWords = (cause: string): string => CAUSES[cause] ?? cause.replaceAll("_", " ");

export const kindWords = (kind: string): string => kind.replaceAll("_", "-");

const METHODS: Record<string, string> = {
  reference: "its clock is the job's",
  shared: "one clock of the host",
  collectives: "ends of matched collectives",
  wall_clock: "the hosts' wall clocks",
  none: "not aligned",
};
export const methodWords = (method: string): string => METHODS[method] ?? method;

/** "0 to 7", "0, 2, 5": a range where they follow each other. */
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

/** "tensor 4, data 2", from the groups; empty where none is known. */
export function parallelismWords(job: Job): string {
  const sizes = new Map<string, number>();
  for (const group of job.groups) if (group.parallelism !== "unknown") sizes.set(group.parallelism, Math.max(sizes.get(group.parallelism) ?? 0, group.size));
  return [...sizes].map(([name, size]) => `${name} ${size}`).join(", ");
}
