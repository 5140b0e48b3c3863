// Parquet files, as DuckDB reads them, against the same tables as JSON lines; and the queries of
// docs/exports.md, against what `sojourn report` says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';

const sojourn = (...words) => execFileSync(process.env.SOJOURN, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const ask = (sql) => connection.runAndReadAll(sql);

// Numbers of more digits than a double has stay texts.
const exact = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line.replace(/([:])(-?\d{16,})([,}])/g, '$1"$2"$3')));
const text = (value) => (typeof value === 'boolean' ? value : String(value));
const texts = (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null).map(([key, value]) => [key, text(value)]));

function exported(trace, what, ...more) {
  const file = `${trace}-${what}.parquet`;
  sojourn('export', `../${trace}.sjt`, '--to', 'parquet', '--what', what, '-o', file, ...more);
  return file;
}

async function requireSame(trace, what, ...more) {
  const file = exported(trace, what, ...more);
  const rows = (await ask(`select * from read_parquet('${file}')`)).getRowObjectsJS();
  const expected = exact(sojourn('export', `../${trace}.sjt`, '--to', 'jsonl', '--what', what, ...more));
  assert.equal(rows.length, expected.length);
  for (let at = 0; at < rows.length; ++at) assert.deepEqual(texts(rows[at]), texts(expected[at]));
  return rows.length;
}

for (const what of ['journeys', 'hops', 'events', 'in-flight'])
  test(`radio: ${what}`, async () => assert.ok((await requireSame('radio', what)) > 0));
test('radio: causes', async () => assert.ok((await requireSame('radio', 'causes', '--deadline', '1us')) > 0));
test('hostile: queues and events, whatever they are called', async () => {
  assert.ok((await requireSame('hostile', 'queues')) > 0);
  assert.ok((await requireSame('hostile', 'events')) > 0);
});
test('a table without rows is a file', async () => assert.equal(await requireSame('radio', 'queues'), 0));

test('several groups of rows, and whole numbers as whole numbers', async () => {
  execFileSync(process.env.MAKE_TRACE, ['../many.sjt', '70000']);
  const count = await requireSame('many', 'events');
  assert.ok(count > 2 * 32768);
  const groups = (await ask("select distinct row_group_id as number from parquet_metadata('many-events.parquet') order by number")).getRowObjectsJS();
  assert.deepEqual(groups.map(({ number }) => Number(number)), [0, 1, 2]);
  const types = Object.fromEntries((await ask("describe select * from 'many-events.parquet'")).getRowObjectsJS().map((one) => [one.column_name, one.column_type]));
  assert.equal(types.t_ns, 'UBIGINT');
  assert.equal(types.point, 'VARCHAR');
});

test("a script's activities and columns are rows and cells", async () => {
  writeFileSync('made.lua', `local stay, since = activity('stay', { 'size' }), {}
column { name = 'half', role = 'property', points = 'D *', value = function(e) return (e.len or 0) // 2 end }
on('D ip.in--*', function(e) since[e.gsn] = e.t_ns end)
on('D pdcp.in--pdcp.tx', function(e) if since[e.gsn] then stay(since[e.gsn], -e.len) end end)\n`);
  assert.ok((await requireSame('radio', 'events', '--script', 'made.lua')) > 0);
  const [[made, least]] = (await ask("select count(*), min(field_size) from 'radio-events.parquet' where dir = 'A' and field_dur_ns > 0")).getRowsJS();
  assert.ok(made > 0n && least < 0n);
  const [[halves]] = (await ask("select count(field_half) from 'radio-events.parquet' where dir = 'D'")).getRowsJS();
  assert.ok(halves > 0n);
});

// The queries that the page of exports tells people to type.
const page = readFileSync(process.env.EXPORTS, 'utf8');
const queries = /```\n-- DuckDB[^\n]*\n((?:select [^\n]*;\n)+)```/.exec(page)[1].trim().split('\n');

test('the queries of the page run, and tell what report tells', async () => {
  sojourn('export', '../many.sjt', '--to', 'parquet', '--what', 'journeys', '-o', 'journeys.parquet');
  sojourn('export', '../many.sjt', '--to', 'parquet', '--what', 'hops', '-o', 'hops.parquet');
  assert.equal(queries.length, 2);
  const [byPlace, bySecond] = [await ask(queries[0]), await ask(queries[1])].map((result) => result.getRowsJS());
  const report = JSON.parse(sojourn('report', '../many.sjt', '--json'));
  assert.deepEqual([...new Set(byPlace.map(([place]) => place))].sort(), [...new Set(report.hops.map(({ at }) => at))].sort());
  const slowest = Math.max(...['D', 'U'].map((dir) => report.journeys[dir].latency_us?.max ?? 0));
  assert.equal(Math.max(...bySecond.map(([, ns]) => Number(ns))), Math.round(1000 * slowest));
});
