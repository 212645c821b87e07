// Requests of a client on both sides: quantities with intervals, and what their time was spent on.
import { msOf, type RequestPartChange } from "../data/diff";
import { h, type Child } from "../dom/dom";
import { table } from "../dom/table";
import { ms, timeChange } from "../format/figures";
import type { CompareApp } from "./app";
import { differenceBar } from "./interval";
import { quantitiesOf } from "./quantities";

const REQUESTS = "requests";

function partsTable(app: CompareApp, caption: string, rows: RequestPartChange[]): Child {
  if (rows.length === 0) return null;
  const largest = Math.max(...rows.map((row) => Math.abs(row.difference_ns)), 1);
  return [
    h("h3", {}, caption, h("span", { class: "muted" }, " mean per request")),
    table<RequestPartChange>({
      caption: `${caption}, by part`,
      sortable: false,
      fit: true,
      rows,
      columns: [
        { id: "part", title: "part", value: (r) => app.view.request_parts[r.part] ?? r.part, heads: true },
        {
          id: "base",
          title: "base (ms)",
          of: "ns per request",
          value: (r) => r.base_ns,
          text: (r) => ms(msOf(r.base_ns)),
        },
        {
          id: "new",
          title: "new (ms)",
          of: "ns per request",
          value: (r) => r.new_ns,
          text: (r) => ms(msOf(r.new_ns)),
        },
        {
          id: "difference",
          title: "difference (ms)",
          of: "ns per request",
          value: (r) => r.difference_ns,
          text: (r) => timeChange(msOf(r.difference_ns)),
          className: "strong",
        },
        {
          id: "drawn",
          title: "drawn",
          value: (r) => Math.abs(r.difference_ns),
          cell: (r) => differenceBar(r.difference_ns, largest),
          className: "drawn narrow",
        },
      ],
    }).element,
  ];
}

export function requestsSection(app: CompareApp): Child {
  const { requests } = app.diff;
  if (!requests) return null;
  return h(
    "section",
    { class: "stage-diff", "data-stage": REQUESTS },
    h("h2", {}, REQUESTS),
    quantitiesOf(app, REQUESTS),
    partsTable(app, "Time from sent to end", requests.parts),
    partsTable(app, "Time to first token", requests.first_token_parts),
  );
}
