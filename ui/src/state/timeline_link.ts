import { placeHash } from "./fragment";

/** A place of the timeline by the capture's own clock, in ns, with a little room around it. */
export function timelineLink(startNs: number, lengthNs: number): string {
  const room = Math.max(lengthNs * 0.15, 500);
  return placeHash("timeline", { at: `${Math.round(startNs - room)},${Math.round(startNs + lengthNs + room)}` });
}
