// What grew in GPU memory: totals by moment, the rows that changed, and PyTorch's figures.
import type { BytesChange, MemoryMomentChange, MemoryRowChange, PytorchMemoryChange } from "../data/diff";
import { h, type Child } from "../dom/dom";
import { note, prose, section } from "../dom/parts";
import { type Column, table } from "../dom/table";
import { bytes, change } from "../format/figures";
import type { CompareApp } from "./app";
import { differenceBar } from "./interval";

const signedBytes = (value: number | null): string => (value !== null && value > 0 ? "+" : "") + bytes(value);

/** Columns of both sides and their difference. */
function changeColumns<Row>(of: (row: Row) => BytesChange, largest: number): Column<Row>[] {
  return [
    { id: "base", title: "base", of: "B", value: (r) => of(r).base_bytes, format: bytes },
    { id: "new", title: "new", of: "B", value: (r) => of(r).new_bytes, format: bytes },
    {
      id: "difference",
      title: "difference",
      of: "B, new minus base",
      value: (r) => of(r).difference_bytes,
      format: signedBytes,
      className: "strong",
    },
    {
      id: "drawn",
      title: "drawn",
      value: (r) => Math.abs(of(r).difference_bytes),
      cell: (r) => differenceBar(of(r).difference_bytes, largest),
      className: "drawn narrow",
    },
    { id: "relative", title: "change", of: "difference over base", value: (r) => of(r).relative, format: change },
    {
      id: "fate",
      title: "row",
      value: (r) => of(r).change,
      cell: (r) => h("span", { class: `chip finding-${of(r).change}` }, of(r).change),
      className: "nowrap",
    },
  ];
}

const largestOf = (rows: BytesChange[]): number => Math.max(...rows.map((row) => Math.abs(row.difference_bytes)), 1);

function totals(moments: { moment: MemoryMomentChange; name: string }[]): Child {
  if (moments.length === 0) return null;
  return table<{ moment: MemoryMomentChange; name: string }>({
    caption: "GPU memory used at each moment, without other processes",
    sortable: false,
    fit: true,
    rows: moments,
    columns: [
      { id: "device", title: "device", value: (r) => r.moment.device },
      { id: "moment", title: "moment", value: (r) => r.name, heads: true },
      ...changeColumns<(typeof moments)[number]>((r) => r.moment.own, largestOf(moments.map((row) => row.moment.own))),
    ],
  }).element;
}

const changedRows = (moment: MemoryMomentChange): MemoryRowChange[] =>
  moment.rows.filter((row) => row.change !== "same");

function rowsOf(app: CompareApp, moment: MemoryMomentChange, name: string): Child {
  const rows = changedRows(moment);
  if (rows.length === 0) return null;
  return [
    h("h3", {}, `${moment.device}, ${name}`),
    table<MemoryRowChange>({
      caption: `What grew on ${moment.device}: ${name}`,
      sortable: false,
      fit: true,
      rows,
      columns: [
        { id: "part", title: "used for", value: (r) => app.view.memory?.parts[r.part] ?? r.part, heads: true },
        { id: "owner", title: "by", value: (r) => r.owner },
        ...changeColumns<MemoryRowChange>((r) => r, largestOf(rows)),
      ],
    }).element,
  ];
}

function pytorch(app: CompareApp, rows: PytorchMemoryChange[]): Child {
  if (rows.length === 0) return null;
  return [
    h("h3", {}, "Inside PyTorch", h("span", { class: "muted" }, " by its memory snapshots")),
    table<PytorchMemoryChange>({
      caption: "Figures of PyTorch's memory snapshots",
      sortable: false,
      fit: true,
      rows,
      columns: [
        { id: "device", title: "device", value: (r) => r.device },
        {
          id: "figure",
          title: "PyTorch's memory",
          value: (r) => app.view.memory?.pytorch[r.figure] ?? r.figure,
          heads: true,
        },
        ...changeColumns<PytorchMemoryChange>((r) => r, largestOf(rows)),
      ],
    }).element,
  ];
}

export function memorySection(app: CompareApp): Child {
  const { memory } = app.diff;
  if (!memory) return null;
  const moments = memory.moments.map((moment, index) => ({
    moment,
    name: app.view.memory?.moments[index] ?? moment.kind,
  }));
  // Most moments differ in the same rows: these are shown once.
  const shown = new Set<string>();
  const distinct = moments.filter(({ moment }) => {
    const key = JSON.stringify([moment.device, changedRows(moment)]);
    return !shown.has(key) && shown.add(key);
  });
  return section(
    "GPU memory",
    app.view.memory?.missing.map((text) => h("p", { class: "warning" }, prose(text))),
    totals(moments),
    distinct.map(({ moment, name }) => rowsOf(app, moment, name)),
    pytorch(app, memory.pytorch),
    note(
      prose(
        "Rows that changed by less than 2 MiB are left out; `diff.json` has all of them. Bytes are means over the " +
          "runs of a side.",
      ),
    ),
  );
}
