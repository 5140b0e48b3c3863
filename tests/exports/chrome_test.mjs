// Chrome's JSON, as Perfetto's trace_processor reads it, against what `sojourn` says of the trace.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { TraceProcessor } from './trace_processor.mjs';

const sojourn = (...words) => execFileSync(process.env.SOJOURN, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
const sorted = (list) => list.map((one) => JSON.stringify(one)).sort();

for (const trace of ['radio', 'lossy', 'hostile'])
  test(`${trace}: stays and packets are those of the tables`, async () => {
    sojourn('export', `${trace}.sjt`, '--to', 'chrome', '-o', `${trace}.json`);
    const events = JSON.parse(readFileSync(`${trace}.json`, 'utf8'));
    assert.ok(events.traceEvents.every(({ ph }) => 'Mbe'.includes(ph)));
    assert.equal(events.otherData.events_lost, JSON.parse(sojourn('report', `${trace}.sjt`, '--json')).lost);
    const read = await TraceProcessor.open(`${trace}.json`);
    assert.deepEqual(await read.query("select name, value from stats where severity in ('error', 'data_loss') and value != 0"), []);
    const slices = await read.query(`select ts, dur, name, category,
      (select int_value from args a where a.arg_set_id = s.arg_set_id and a.key = 'args.journey') as journey from slice s`);
    const table = (what) => lines(sojourn('export', `${trace}.sjt`, '--to', 'jsonl', '--what', what));
    const stays = table('hops').map((hop) => [hop.journey, hop.dir, hop.place, hop.entered_ns, hop.stay_ns]);
    const packets = table('journeys').map((one) => [one.journey, one.dir, 'packet', one.start_ns, Math.max(one.end_ns - one.start_ns, one.inside_ns ?? 0)]);
    assert.ok(packets.length > 0);
    assert.deepEqual(
      sorted(slices.map((one) => [Number(one.journey), one.category, one.name, Number(one.ts), Number(one.dur)])),
      sorted([...stays, ...packets]));
    read.close();
  });
