// SPDX-License-Identifier: BSD-2-Clause
// Prints the rows of a Parquet file as NDJSON, or the results of SQL: dump.mjs duckdb|hyparquet FILE, and dump.mjs sql,
// which reads one statement a line from standard input and prints a JSON array for each. It runs beside node_modules.
import { openSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [judge, file] = process.argv.slice(2);

/** A value as JSON with all digits of its numbers. */
function json(value) {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  return `{${Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${json(each)}`).join(',')}}`;
}

function print(rows) {
  const text = rows.map((row) => `${json(row)}\n`).join('');
  for (let bytes = Buffer.from(text); bytes.length > 0;) bytes = bytes.subarray(writeSync(1, bytes));
}

async function connect() {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  return (await DuckDBInstance.create(':memory:')).connect();
}

if (judge === 'duckdb') {
  const reader = await (await connect()).runAndReadAll(`SELECT * FROM '${file}'`);
  print(reader.getRowObjects());
} else if (judge === 'hyparquet') {
  const { parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const bytes = readFileSync(openSync(file));
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  print(await parquetReadObjects({ file: data, compressors }));
} else {
  const connection = await connect();
  for await (const line of createInterface({ input: process.stdin })) {
    const reader = await connection.runAndReadAll(line);
    print([reader.getRowObjects()]);
  }
}
