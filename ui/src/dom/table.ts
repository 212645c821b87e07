// Tables that sort, copy, and say what each column is of.
import { copyText, figure } from "./copy";
import { h, replace, type Child } from "./dom";

export interface Column<Row> {
  id: string;
  title: string;
  /** What the numbers are of: unit and denominator, in the header's tooltip and in each copied number. */
  of?: string;
  /** Sorts the column and is copied; null is missing and sorts last. */
  value: (row: Row) => number | string | null;
  /** How a number is shown. */
  text?: (row: Row) => string;
  /** What a cell shows where it is more than text. */
  cell?: (row: Row) => Child;
  /** Names the row: a header cell. */
  heads?: boolean;
  className?: string;
}

export interface TableOptions<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  /** "-total" sorts by the column "total", largest first; none keeps the given order. */
  sort?: string;
  onSort?: (sort: string) => void;
  sortable?: boolean;
  limit?: number;
  /** Shown below a row that is open. */
  detail?: (row: Row) => Child;
  isOpen?: (row: Row) => boolean;
  onOpen?: (row: Row, open: boolean) => void;
  key?: (row: Row) => string;
  foot?: Child;
  /** As wide as its columns, not as the page. */
  fit?: boolean;
}

export interface TableView<Row> {
  element: HTMLElement;
  setRows: (rows: Row[]) => void;
}

function compare(a: number | string | null, b: number | string | null): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sorted<Row>(rows: Row[], columns: Column<Row>[], sort: string | undefined): Row[] {
  if (!sort) return rows;
  const down = sort.startsWith("-");
  const column = columns.find((each) => each.id === sort.replace(/^-/, ""));
  if (!column) return rows;
  return rows
    .map((row, index) => ({ row, index, value: column.value(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return a.value === b.value ? a.index - b.index : a.value === null ? 1 : -1;
      return (down ? -1 : 1) * compare(a.value, b.value) || a.index - b.index;
    })
    .map((each) => each.row);
}

const isNumeric = <Row>(column: Column<Row>, rows: Row[]): boolean =>
  column.text !== undefined || rows.some((row) => typeof column.value(row) === "number");

function tabSeparated<Row>(columns: Column<Row>[], rows: Row[]): string {
  const clean = (value: number | string | null) => String(value ?? "").replace(/[\t\n]/g, " ");
  const head = columns.map((column) => clean(column.title));
  return [head, ...rows.map((row) => columns.map((column) => clean(column.value(row))))].map((cells) => cells.join("\t")).join("\n");
}

export function table<Row>(options: TableOptions<Row>): TableView<Row> {
  const { columns } = options;
  const sortable = options.sortable ?? true;
  const limit = options.limit ?? 200;
  let rows = options.rows;
  let sort = options.sort;
  let all = false;
  const numeric = columns.map((column) => isNumeric(column, rows));
  const head = h("thead");
  const body = h("tbody");
  const more = h("p", { class: "more" });
  const element = h(
    "div",
    { class: "table-block" },
    h(
      "div",
      { class: "table-tools" },
      h("button", { class: "quiet", type: "button", onclick: () => void copyText(tabSeparated(columns, sorted(rows, columns, sort)), `${rows.length} rows of "${options.caption}", tab-separated`) }, "Copy table"),
    ),
    h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": options.caption }, h("table", { class: options.fit ? "fit" : null }, h("caption", {}, options.caption), head, body, options.foot)),
    more,
  );

  function sortBy(column: Column<Row>, index: number): void {
    const down = sort === `-${column.id}`;
    const up = sort === column.id;
    sort = numeric[index] ? (down ? column.id : `-${column.id}`) : up ? `-${column.id}` : column.id;
    options.onSort?.(sort);
    draw();
  }

  function drawHead(): void {
    replace(
      head,
      h(
        "tr",
        {},
        columns.map((column, index) => {
          const down = sort === `-${column.id}`;
          const state = down ? "descending" : sort === column.id ? "ascending" : "none";
          const classes = [numeric[index] ? "number" : "", column.className ?? ""].join(" ").trim();
          if (!sortable) return h("th", { scope: "col", class: classes, title: column.of }, column.title);
          const mark = state !== "none" && h("span", { class: "sort-mark", "aria-hidden": "true" }, down ? "▾" : "▴");
          // Beside numbers the mark stands in front, so that the title ends where they do.
          const title = numeric[index] ? [mark, column.title] : [column.title, mark];
          return h("th", { scope: "col", class: classes, "aria-sort": state, "data-column": column.id }, h("button", { type: "button", title: column.of, onclick: () => sortBy(column, index) }, title));
        }),
      ),
    );
  }

  function cellOf(row: Row, column: Column<Row>, index: number): HTMLElement {
    const value = column.value(row);
    const classes = [numeric[index] ? "number" : "", column.className ?? ""].join(" ").trim() || null;
    let content: Child = column.cell ? column.cell(row) : null;
    if (!column.cell) content = numeric[index] ? figure(column.text?.(row) ?? String(value ?? ""), value, column.of ?? column.title) : String(value ?? "");
    return column.heads ? h("th", { scope: "row", class: classes }, content) : h("td", { class: classes }, content);
  }

  function toggle(row: Row, button: HTMLElement, line: HTMLElement): void {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    if (open) line.after(detailLine(row));
    else line.nextElementSibling?.remove();
    options.onOpen?.(row, open);
  }

  const detailLine = (row: Row): HTMLElement => h("tr", { class: "detail" }, h("td", { colspan: columns.length }, options.detail?.(row)));

  function addRow(row: Row): void {
    const line = h("tr", { "data-key": options.key?.(row) ?? null }, columns.map((column, index) => cellOf(row, column, index)));
    body.append(line);
    if (!options.detail) return;
    const open = options.isOpen?.(row) ?? false;
    const button = h("button", { class: "expander", type: "button", "aria-expanded": String(open), "aria-label": "Details" });
    button.addEventListener("click", () => toggle(row, button, line));
    const first = line.firstElementChild!;
    const content = [...first.childNodes];
    replace(first, h("span", { class: "row-head" }, button, content));
    if (open) body.append(detailLine(row));
  }

  function draw(): void {
    drawHead();
    body.replaceChildren();
    const ordered = sorted(rows, columns, sort);
    const shown = all ? ordered : ordered.slice(0, limit);
    for (const row of shown) addRow(row);
    if (rows.length === 0) body.append(h("tr", {}, h("td", { colspan: columns.length, class: "empty" }, "No row matches.")));
    replace(more, shown.length < rows.length && [`${shown.length} of ${rows.length} rows. `, h("button", { class: "quiet", type: "button", onclick: () => { all = true; draw(); } }, "Show all")]);
  }

  draw();
  return {
    element,
    setRows(next) {
      rows = next;
      draw();
    },
  };
}

/** Rows of a name and a value. */
export function facts(rows: [string, Child][]): HTMLElement {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "");
  return h("dl", { class: "facts" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
