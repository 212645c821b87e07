// Reads the files of `llmprof export --format arrow` with Apache Arrow's own library, loads the tables that statements
// need into DuckDB, and asks them there.
//
//     node read_tables.mjs FOLDER < {"tables": ["kernels", ...], "statements": [{"tables": [...], "sql": "..."}, ...]}
//
// Prints {"tables": {name: {"columns": [{name, type, unit, meaning}], "batches": n, "rows": [[...], ...]}},
// "answers": [rows, ...]}. Whole numbers keep all their digits.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tableFromIPC, Type } from "apache-arrow";

const folder = process.argv[2];
const asked = JSON.parse(readFileSync(0, "utf8"));

// What JSON cannot hold: numbers with more than 53 bits are written as digits.
function text(value) {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(text).join(",")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${text(item)}`).join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}

function typeName(type) {
  if (type.typeId === Type.Dictionary) return `dictionary<${typeName(type.dictionary)}>`;
  return type.toString();
}

const read = new Map();
function tableOf(name) {
  if (!read.has(name)) read.set(name, tableFromIPC(readFileSync(join(folder, `${name}.arrow`))));
  return read.get(name);
}

function rowsOf(table) {
  const columns = table.schema.fields.map((_, i) => table.getChildAt(i));
  return Array.from({ length: table.numRows }, (_, row) => columns.map((column) => column.get(row)));
}

const answer = { tables: {}, answers: [] };
for (const name of asked.tables) {
  const table = tableOf(name);
  answer.tables[name] = {
    columns: table.schema.fields.map((field) => ({
      name: field.name,
      type: typeName(field.type),
      unit: field.metadata.get("unit") ?? null,
      meaning: field.metadata.get("meaning") ?? null,
    })),
    batches: table.batches.length,
    rows: rowsOf(table),
  };
}

if (asked.statements?.length > 0) {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const types = { Int64: "BIGINT", Float64: "DOUBLE", Bool: "INTEGER", Utf8: "VARCHAR", "dictionary<Utf8>": "VARCHAR" };
  for (const name of new Set(asked.statements.flatMap((each) => each.tables))) {
    const table = tableOf(name);
    const kinds = table.schema.fields.map((field) => types[typeName(field.type)]);
    const columns = table.schema.fields.map((field, i) => `"${field.name}" ${kinds[i]}`);
    await connection.run(`CREATE TABLE "${name}" (${columns.join(", ")})`);
    const appender = await connection.createAppender(name);
    for (const row of rowsOf(table)) {
      row.forEach((value, i) => {
        if (value === null || value === undefined) appender.appendNull();
        else if (kinds[i] === "BIGINT") appender.appendBigInt(BigInt(value));
        else if (kinds[i] === "DOUBLE") appender.appendDouble(value);
        else if (kinds[i] === "INTEGER") appender.appendInteger(value ? 1 : 0);
        else appender.appendVarchar(value);
      });
      appender.endRow();
    }
    appender.closeSync();
  }
  for (const { sql } of asked.statements) {
    const reader = await connection.runAndReadAll(sql);
    answer.answers.push(reader.getRows());
  }
}
process.stdout.write(text(answer));
