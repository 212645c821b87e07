// What GPU memory is used for at one time, as a table.
import { bar } from "../dom/parts";
import { h } from "../dom/dom";
import { table } from "../dom/table";
import { bytes, count, percent } from "../format/figures";
import { bytesOf, usedOf, type LedgerRow, type Part, type Point } from "./model";
import { partLabel, type MemoryWords } from "./words";

const shareCell = (share: number | null) =>
  h("span", { class: "share-cell" }, bar(share), h("span", {}, percent(share)));

/** The rows of a moment, which know who allocated what. */
export function momentTable(words: MemoryWords, name: string, rows: LedgerRow[]): HTMLElement {
  return table<LedgerRow>({
    caption: `Use of GPU memory: ${name}`,
    rows,
    sort: "-bytes",
    fit: true,
    columns: [
      {
        id: "part",
        title: "used for",
        value: (row) => words.palette.label(row.part),
        cell: (row) => partLabel(words, row.part),
        heads: true,
      },
      { id: "owner", title: "by", of: "the library that allocated it", value: (row) => row.owner },
      { id: "bytes", title: "memory", of: "B", value: (row) => row.bytes, format: bytes },
      {
        id: "share",
        title: "of used",
        of: "of the memory in use at this moment",
        value: (row) => row.share,
        cell: (row) => shareCell(row.share),
        numeric: true,
      },
      {
        id: "allocations",
        title: "allocations",
        of: "recorded allocations",
        value: (row) => row.allocations,
        format: count,
      },
      {
        id: "basis",
        title: "how it is known",
        value: (row) => words.view.bases[row.basis] ?? row.basis,
        className: "prose",
      },
    ],
  }).element;
}

/** The parts of a point between the moments. */
export function pointTable(words: MemoryWords, name: string, point: Point, parts: Part[]): HTMLElement {
  const used = usedOf(point);
  const shareOf = (part: Part) => (used > 0 ? bytesOf(point, part) / used : null);
  return table<Part>({
    caption: `Use of GPU memory: ${name}`,
    rows: parts.filter((part) => bytesOf(point, part) !== 0),
    sort: "-bytes",
    fit: true,
    columns: [
      {
        id: "part",
        title: "used for",
        value: (part) => words.palette.label(part),
        cell: (part) => partLabel(words, part),
        heads: true,
      },
      { id: "bytes", title: "memory", of: "B", value: (part) => bytesOf(point, part), format: bytes },
      {
        id: "share",
        title: "of used",
        of: "of the memory in use at this time",
        value: shareOf,
        cell: (part) => shareCell(shareOf(part)),
        numeric: true,
      },
    ],
  }).element;
}
