// Who delayed whom: the largest delayers, and a matrix of them and those who waited.
import type { Requests } from "../data/profile";
import { h } from "../dom/dom";
import { table } from "../dom/table";
import { count } from "../format/figures";
import { nsInMs, swatchOf, type RequestWords } from "./words";

const MOST_DELAYERS = 10;
const MOST_DELAYED = 14;
const PART = "others_prefill";

type Delay = Requests["delays"][number];

const all = (delay: Delay): number => delay.ns + delay.of_first_token_ns;

/** The names with the largest sums, largest first. */
function largest(delays: Delay[], side: "by" | "of", most: number): string[] {
  const sums = new Map<string, number>();
  for (const delay of delays) sums.set(delay[side], (sums.get(delay[side]) ?? 0) + all(delay));
  return [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([name]) => name);
}

export function delayMatrix(words: RequestWords, delays: Delay[]): HTMLElement | null {
  const by = largest(delays, "by", MOST_DELAYERS);
  const of = largest(
    delays.filter((delay) => by.includes(delay.by)),
    "of",
    MOST_DELAYED,
  ).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  if (by.length === 0) return null;
  const cells = new Map(delays.map((delay) => [`${delay.by}/${delay.of}`, delay]));
  const strongest = Math.max(1, ...delays.map(all));
  const cell = (name: string, waiting: string) => {
    const delay = cells.get(`${name}/${waiting}`);
    if (!delay) return h("td", { class: "number heat none" }, "");
    const strength = Math.min(1, all(delay) / strongest) * 0.78 + 0.04;
    const title =
      `request ${waiting} waited for request ${name}: ${nsInMs(delay.ns)} ms after its first token, ` +
      `${nsInMs(delay.of_first_token_ns)} ms before it`;
    const larger = Math.max(delay.ns, delay.of_first_token_ns);
    return h(
      "td",
      { class: "number heat", style: words.palette.tint(PART, strength), title },
      delay.of_first_token_ns > delay.ns ? `${nsInMs(larger)} *` : nsInMs(larger),
    );
  };
  return h(
    "div",
    { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Who delayed whom, in ms" },
    h(
      "table",
      { class: "heat-map fit" },
      h("caption", {}, "Who delayed whom (ms); columns waited for rows"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "request"),
          of.map((name) => h("th", { scope: "col", class: "number" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        by.map((name) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, name),
            of.map((waiting) => cell(name, waiting)),
          ),
        ),
      ),
    ),
  );
}

export function delayerTable(words: RequestWords, requests: Requests): HTMLElement {
  return table({
    caption: "Requests that delayed others",
    fit: true,
    rows: requests.delayers,
    limit: MOST_DELAYERS,
    columns: [
      {
        id: "by",
        title: "request",
        heads: true,
        value: (r) => r.by,
        cell: (r) => h("span", { class: "with-swatch" }, swatchOf(words, PART), r.by),
      },
      {
        id: "ns",
        title: "others waited (ms)",
        of: "ms after the first token of those who waited, all together",
        value: (r) => r.ns,
        text: (r) => nsInMs(r.ns),
      },
      {
        id: "first",
        title: "for their first token (ms)",
        of: "ms before the first token of those who waited, all together",
        value: (r) => r.of_first_tokens_ns,
        text: (r) => nsInMs(r.of_first_tokens_ns),
      },
      { id: "requests", title: "requests", of: "that waited", value: (r) => r.requests, format: count },
      { id: "gaps", title: "gaps", of: "between tokens that it lengthened", value: (r) => r.gaps, format: count },
    ],
  }).element;
}
