// Tables that sort, copy, and describe each column.
import { copyText, figure } from "./copy";
import { h, replace, type Child } from "./dom";
import { keepFocus } from "./keep_focus";
import { watchWidth } from "./wide_table";

export interface Column<Row> {
  id: string;
  title: string;
  /** Unit and denominator of the numbers, in the header's tooltip and in each copied number. */
  of?: string;
  /** Sorts the column and is copied; null is missing and sorts last. */
  value: (row: Row) => number | string | null;
  /** Formats the value. */
  format?: (value: number | null) => string;
  /** Text for a row that formatting the value cannot produce. */
  text?: (row: Row) => string;
  /** The content of a cell that is more than text. */
  cell?: (row: Row) => Child;
  /** Sorts by numbers even if cells show something else. */
  numeric?: boolean;
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
  /** Shown below an open row. */
  detail?: (row: Row) => Child;
  isOpen?: (row: Row) => boolean;
  onOpen?: (row: Row, open: boolean) => void;
  key?: (row: Row) => string;
  foot?: Child;
  /** As wide as its columns, not the page. */
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
      if (a.value === null || b.value === null)
        return a.value === b.value ? a.index - b.index : a.value === null ? 1 : -1;
      return (down ? -1 : 1) * compare(a.value, b.value) || a.index - b.index;
    })
    .map((each) => each.row);
}

const isNumeric = <Row>(column: Column<Row>, rows: Row[]): boolean =>
  (column.numeric ?? false) ||
  (column.format ?? column.text) !== undefined ||
  rows.some((row) => typeof column.value(row) === "number");

function tabSeparated<Row>(columns: Column<Row>[], rows: Row[]): string {
  const clean = (value: number | string | null) => String(value ?? "").replace(/[\t\n]/g, " ");
  const head = columns.map((column) => clean(column.title));
  return [head, ...rows.map((row) => columns.map((column) => clean(column.value(row))))]
    .map((cells) => cells.join("\t"))
    .join("\n");
}

/** The name of a row. */
function rowName<Row>(row: Row, columns: Column<Row>[]): string {
  const heading = columns.find((column) => column.heads) ?? columns[0];
  return String(heading?.value(row) ?? "");
}

function textOf<Row>(row: Row, column: Column<Row>): string {
  const value = column.value(row);
  if (column.format && typeof value !== "string") return column.format(value);
  return column.text?.(row) ?? String(value ?? "");
}

const classesOf = <Row>(column: Column<Row>, numeric: boolean): string | null =>
  [numeric ? "number" : "", column.className ?? ""].join(" ").trim() || null;

/** The header cells: created once, so that the focus stays on the one that sorts. */
function headOf<Row>(
  columns: Column<Row>[],
  numeric: boolean[],
  sortBy: ((column: Column<Row>, index: number) => void) | null,
): { element: HTMLElement; mark: (sort: string | undefined) => void } {
  const marks = columns.map(() => h("span", { class: "sort-mark", "aria-hidden": "true", hidden: true }));
  const cells = columns.map((column, index) => {
    const attributes = { scope: "col", class: classesOf(column, numeric[index]!) };
    if (!sortBy) return h("th", { ...attributes, title: column.of }, column.title);
    // In number columns the mark comes first, so that the title lines up with the numbers.
    const title = numeric[index] ? [marks[index], column.title] : [column.title, marks[index]];
    return h(
      "th",
      { ...attributes, "aria-sort": "none", "data-column": column.id },
      h("button", { type: "button", title: column.of, onclick: () => sortBy(column, index) }, title),
    );
  });
  function mark(sort: string | undefined): void {
    if (!sortBy) return;
    columns.forEach((column, index) => {
      const down = sort === `-${column.id}`;
      const up = sort === column.id;
      cells[index]!.setAttribute("aria-sort", down ? "descending" : up ? "ascending" : "none");
      marks[index]!.hidden = !down && !up;
      marks[index]!.textContent = down ? "▾" : "▴";
    });
  }
  return { element: h("thead", {}, h("tr", {}, cells)), mark };
}

export function table<Row>(options: TableOptions<Row>): TableView<Row> {
  const { columns } = options;
  const limit = options.limit ?? Infinity;
  let { rows, sort } = options;
  let all = false;
  const numeric = columns.map((column) => isNumeric(column, rows));
  const head = headOf(columns, numeric, (options.sortable ?? true) ? sortBy : null);
  const body = h("tbody");
  const more = h("p", { class: "more" });
  const inner = h(
    "table",
    { class: options.fit ? "fit" : null },
    h("caption", {}, options.caption),
    head.element,
    body,
    options.foot,
  );
  const frame = h(
    "div",
    { class: "table-scroll", tabindex: "0", role: "region", "aria-label": options.caption },
    inner,
  );
  watchWidth(frame, inner);
  const element = h(
    "div",
    { class: "table-block" },
    h(
      "div",
      { class: "table-tools" },
      h(
        "button",
        {
          class: "quiet",
          type: "button",
          "aria-label": `Copy table: ${options.caption}`,
          onclick: () =>
            void copyText(
              tabSeparated(columns, sorted(rows, columns, sort)),
              `${rows.length} rows of "${options.caption}", tab-separated`,
            ),
        },
        "Copy table",
      ),
    ),
    frame,
    more,
  );

  function sortBy(column: Column<Row>, index: number): void {
    const down = sort === `-${column.id}`;
    const up = sort === column.id;
    sort = numeric[index] ? (down ? column.id : `-${column.id}`) : up ? `-${column.id}` : column.id;
    options.onSort?.(sort);
    draw();
  }

  function cellOf(row: Row, column: Column<Row>, index: number): HTMLElement {
    const value = column.value(row);
    const classes = classesOf(column, numeric[index]!);
    let content: Child = column.cell ? column.cell(row) : null;
    if (!column.cell)
      content = numeric[index] ? figure(textOf(row, column), value, column.of ?? column.title) : String(value ?? "");
    return column.heads ? h("th", { scope: "row", class: classes }, content) : h("td", { class: classes }, content);
  }

  function toggle(row: Row, button: HTMLElement, line: HTMLElement): void {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    if (open) line.after(detailLine(row));
    else line.nextElementSibling?.remove();
    options.onOpen?.(row, open);
  }

  const detailLine = (row: Row): HTMLElement =>
    h("tr", { class: "detail" }, h("td", { colspan: columns.length }, options.detail?.(row)));

  function addRow(row: Row): void {
    const line = h(
      "tr",
      { "data-key": options.key?.(row) ?? null },
      columns.map((column, index) => cellOf(row, column, index)),
    );
    body.append(line);
    if (!options.detail) return;
    const open = options.isOpen?.(row) ?? false;
    const button = h("button", {
      class: "expander",
      type: "button",
      "aria-expanded": String(open),
      "aria-label": `Details of ${rowName(row, columns)}`,
    });
    button.addEventListener("click", () => toggle(row, button, line));
    const first = line.firstElementChild!;
    const content = [...first.childNodes];
    replace(first, h("span", { class: "row-head" }, button, content));
    if (open) body.append(detailLine(row));
  }

  function showAll(): void {
    all = true;
    draw();
    frame.focus({ preventScroll: true });
  }

  function draw(): void {
    head.mark(sort);
    keepFocus(body, () => {
      body.replaceChildren();
      const ordered = sorted(rows, columns, sort);
      const shown = all ? ordered : ordered.slice(0, limit);
      for (const row of shown) addRow(row);
      if (rows.length === 0)
        body.append(h("tr", {}, h("td", { colspan: columns.length, class: "empty" }, "No row matches.")));
      replace(
        more,
        shown.length < rows.length && [
          `${shown.length} of ${rows.length} rows. `,
          h(
            "button",
            { class: "quiet", type: "button", "aria-label": `Show all rows of ${options.caption}`, onclick: showAll },
            "Show all",
          ),
        ],
      );
    });
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

/** Rows with a name and a value. */
export function facts(rows: [string, Child][]): HTMLElement {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "");
  return h(
    "dl",
    { class: "facts" },
    shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}
