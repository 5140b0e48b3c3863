// Parquet files, as hyparquet reads them, against the same tables as JSON lines.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';

const sojourn = (...words) => execFileSync(process.env.SOJOURN, words, { encoding: 'utf8', maxBuffer: 1 << 28 });

function read(path) {
  const bytes = readFileSync(path);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

const exact = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line.replace(/([:])(-?\d{16,})([,}])/g, '$1"$2"$3')));

async function requireSame(trace, what, ...more) {
  const file = `${trace}-${what}.parquet`;
  sojourn('export', `${trace}.sjt`, '--to', 'parquet', '--what', what, '-o', file, ...more);
  const rows = await parquetReadObjects({ file: read(file), compressors: { GZIP: (bytes) => gunzipSync(bytes) } });
  const expected = exact(sojourn('export', `${trace}.sjt`, '--to', 'jsonl', '--what', what, ...more));
  assert.equal(rows.length, expected.length);
  const text = (value) => (typeof value === 'boolean' ? value : String(value));
  for (let at = 0; at < rows.length; ++at) {
    const found = Object.fromEntries(Object.entries(rows[at]).filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => [key, text(value)]));
    assert.deepEqual(found, Object.fromEntries(Object.entries(expected[at]).map(([key, value]) => [key, text(value)])));
  }
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
test('several groups of rows', async () => {
  execFileSync(process.env.MAKE_TRACE, ['groups.sjt', '70000']);
  assert.ok((await requireSame('groups', 'events')) > 2 * 32768);
  assert.equal(parquetMetadata(read('groups-events.parquet')).row_groups.length, 3);
});
test('what was lost is in the metadata', async () => {
  await requireSame('lossy', 'journeys');
  const notes = Object.fromEntries(parquetMetadata(read('lossy-journeys.parquet')).key_value_metadata.map(({ key, value }) => [key, value]));
  assert.equal(notes.events_lost, String(JSON.parse(sojourn('report', 'lossy.sjt', '--json')).lost));
  assert.equal(notes.trace, 'lossy.sjt');
});
