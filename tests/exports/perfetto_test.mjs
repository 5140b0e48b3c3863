// Perfetto's own trace_processor on an export, compared with `sojourn` on the trace.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { TraceProcessor } from './trace_processor.mjs';

const sojourn = (...words) => execFileSync(process.env.SOJOURN, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
const rows = (trace, what, ...more) => lines(sojourn('export', trace, '--to', 'jsonl', '--what', what, ...more));

async function opened(trace, ...more) {
  sojourn('export', `${trace}.sjt`, '--to', 'perfetto', '-o', `${trace}.pftrace`, ...more);
  const read = await TraceProcessor.open(`${trace}.pftrace`);
  const errors = await read.query("select name, value from stats where severity in ('error', 'data_loss') and value != 0");
  assert.deepEqual(errors, [], 'trace_processor counts errors');
  return read;
}

// A list without an order, to compare.
const sorted = (list) => list.map((one) => JSON.stringify(one)).sort();
const isPlace = (track) => /^[DU] /.test(track ?? '') && !track.endsWith(' packets');

const kSlices = `select s.ts, s.dur, s.name, s.track_id, t.name as track,
    (select int_value from args a where a.arg_set_id = s.arg_set_id and a.key = 'debug.journey') as journey
  from slice s join track t on s.track_id = t.id`;

for (const trace of ['radio', 'lossy'])
  test(`${trace}: stays, packets and flows are those that --json tells`, async () => {
    const read = await opened(trace);
    const slices = await read.query(kSlices);
    const stays = rows(`${trace}.sjt`, 'hops').map((hop) => [hop.journey, `${hop.dir} ${hop.place}`, hop.entered_ns, hop.stay_ns]);
    const lanes = slices.filter(({ track }) => isPlace(track));
    assert.deepEqual(sorted(lanes.map((one) => [Number(one.journey), one.track, Number(one.ts), Number(one.dur)])), sorted(stays));
    const journeys = lines(sojourn('journeys', `${trace}.sjt`, '--json'));
    assert.ok(journeys.length > 0);
    const packets = slices.filter(({ track }) => track?.endsWith(' packets'));
    assert.deepEqual(
      sorted(packets.map((one) => [Number(one.journey), one.track, one.name, Number(one.ts)])),
      sorted(journeys.map((one) => [one.id, `${one.dir} packets`, one.outcome, one.start_ns])));

    // Stays in a lane do not overlap, so no slice is nested.
    assert.deepEqual(await read.query("select s.id from slice s join track t on s.track_id = t.id where depth != 0 and t.name glob '[DU] *'"), []);

    // A flow goes through all steps of a journey, in the order of time.
    const flows = await read.query(`select f.trace_id as flow, o.ts as out_ns, o.name as out_point, i.ts as in_ns, i.name as in_point
      from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id`);
    const expected = journeys.flatMap(({ id, events }) =>
      events.slice(1).map((event, at) => [id, events[at].point, events[at].t_ns, event.point, event.t_ns]));
    assert.deepEqual(
      sorted(flows.map((one) => [Number(BigInt.asUintN(32, BigInt(one.flow))), one.out_point, Number(one.out_ns), one.in_point, Number(one.in_ns)])),
      sorted(expected));
    read.close();
  });

test('radio: a filter chooses journeys', async () => {
  const read = await opened('radio', '--where', 'dir == U');
  const tracks = await read.query('select distinct t.name as track from slice s join track t on s.track_id = t.id');
  assert.ok(tracks.some(({ track }) => track === 'U packets'));
  assert.ok(!tracks.some(({ track }) => track?.startsWith('D ')));
  read.close();
});

test("radio: a script's activities and markers are slices and instants, with their attributes", async () => {
  writeFileSync('made.lua', `local stay, since = activity('stay', { 'len', 'sn' }), {}
local long = marker('long', { 'len' })
on('D ip.in--*', function(e) since[e.gsn] = e.t_ns if e.len > 1000 then long(e.len) end end)
on('D pdcp.in--pdcp.tx', function(e) if since[e.gsn] then stay(since[e.gsn], e.len, -e.psn) end end)\n`);
  const made = lines(sojourn('events', 'radio.sjt', '--json', '--time', 'mono', '--script', 'made.lua', '--points', 'A *'));
  assert.ok(made.some(({ point }) => point === 'stay') && made.some(({ point }) => point === 'long'));
  const read = await opened('radio', '--script', 'made.lua');
  const value = (name) => `(select int_value from args a where a.arg_set_id = s.arg_set_id and a.key = 'debug.${name}') as ${name}`;
  const slices = await read.query(`select s.ts, s.dur, s.name, t.name as track, ${value('len')}, ${value('sn')}
    from slice s join track t on s.track_id = t.id where s.name in ('stay', 'long')`);
  assert.deepEqual(
    sorted(slices.map((one) => [one.name, Number(one.ts), Number(one.dur), Number(one.len), one.name === 'stay' ? Number(one.sn) : null, one.name === 'stay' ? one.track : null])),
    sorted(made.map(({ point, t_ns, fields }) =>
      [point, t_ns - (fields.dur_ns ?? 0), fields.dur_ns ?? 0, fields.len, fields.sn ?? null, point === 'stay' ? 'A stay' : null])));
  read.close();
});

test('lossy: what was lost is said', async () => {
  const read = await opened('lossy');
  const found = await read.query("select name, int_value, str_value from metadata where name glob 'trace_attribute.*'");
  const said = Object.fromEntries(found.map(({ name, int_value, str_value }) => [name.slice('trace_attribute.'.length), str_value ?? Number(int_value)]));
  assert.equal(said.events_lost, JSON.parse(sojourn('report', 'lossy.sjt', '--json')).lost);
  assert.equal(said.trace, 'lossy.sjt');
  read.close();
});

test('hostile: names, counters, turns on the CPU and the wall clock are read', async () => {
  const read = await opened('hostile');
  const samples = rows('hostile.sjt', 'queues');
  const counters = await read.query('select c.ts, c.value, t.name as queue from counter c join counter_track t on c.track_id = t.id order by c.ts');
  assert.deepEqual(counters.map(({ ts, value }) => [Number(ts), Number(value)]), samples.map(({ t_ns, depth }) => [t_ns, depth]));
  assert.equal(counters.at(-1).queue, samples.at(-1).queue); // 10 kB
  for (const { queue } of counters) assert.doesNotMatch(queue, /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/);
  const threads = await read.query('select tid, name from thread where tid != 0 and tid != 42 order by tid');
  assert.deepEqual(threads.map(({ tid }) => Number(tid)), samples.map((_, at) => at + 1));
  assert.equal(threads[0].name, 'a "quote", a comma');
  const turns = await read.query('select s.ts, s.dur, t.tid, s.cpu from sched s join thread t using (utid) where t.tid != 0 order by s.ts');
  assert.deepEqual(turns.map(({ ts, dur, tid }) => [Number(ts), Number(dur), Number(tid)]), samples.map((_, at) => [10000 * (at + 1), 4000, at + 1]));
  const wall = await read.query("select to_realtime(10001) as ns");
  assert.equal(BigInt(wall[0].ns), 1700000000000010001n);
  read.close();
});

test('a long trace takes at most 15 bytes an event, and nothing goes wrong in it', async () => {
  const events = Number(execFileSync(process.env.MAKE_TRACE, ['long.sjt', '200000'], { encoding: 'utf8' }));
  const read = await opened('long');
  assert.ok(statSync('long.pftrace').size < 15 * events);
  const hops = rows('long.sjt', 'hops').length;
  const [{ count }] = await read.query(`select count(*) as count from (${kSlices}) where track glob '[DU] *' and track not glob '* packets'`);
  assert.equal(Number(count), hops);
  read.close();
});
