"""Spans, as the messages of OpenTelemetry's own package read them, against what sojourn says."""
import base64
import collections
import json
import os
import subprocess
import unittest

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

UNIX_OF_MONOTONIC = 1700000000000000000 - 1000000  # dated.sjt


def sojourn(*words, succeeds=True):
    done = subprocess.run([os.environ["SOJOURN"], *words], capture_output=True)
    if succeeds and done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return done


def lines(*words):
    return [json.loads(line) for line in sojourn(*words).stdout.splitlines()]


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def attributes(owner):
    found = {pair.key: value(pair.value) for pair in owner.attributes}
    assert len(found) == len(owner.attributes), "a key is there twice"
    return found


def exported(trace, *more):
    data = TracesData()
    data.ParseFromString(sojourn("export", trace, "--to", "otlp", *more).stdout)
    assert not data.UnknownFields() if hasattr(data, "UnknownFields") else True
    return data


def spans_of(data):
    return [span for one in data.resource_spans for scope in one.scope_spans for span in scope.spans]


def by_trace(spans):
    traces = collections.defaultdict(list)
    for span in spans:
        traces[span.trace_id].append(span)
    return traces


def stays_of(spans):  # without links, which lead to spans that may have been left out
    plain = []
    for span in spans:
        if not span.parent_span_id:
            continue
        one = Span()
        one.CopyFrom(span)
        one.ClearField("links")
        plain.append(one.SerializeToString())
    return sorted(plain)


class Otlp(unittest.TestCase):
    def setUp(self):
        self.data = exported("dated.sjt", "--sample", "all")
        self.spans = spans_of(self.data)
        self.traces = by_trace(self.spans)
        self.journeys = {one["id"]: one for one in lines("journeys", "dated.sjt", "--json")}
        self.root = {}
        for trace, spans in self.traces.items():
            roots = [span for span in spans if not span.parent_span_id]
            self.assertEqual(len(roots), 1)
            self.root[trace] = roots[0]

    def journey_of(self, trace):
        return self.journeys[attributes(self.root[trace])["sojourn.journey"]]

    def test_ids_are_sound(self):
        for trace, spans in self.traces.items():
            self.assertEqual(len(trace), 16)
            self.assertNotEqual(trace, bytes(16))
            ids = [span.span_id for span in spans]
            self.assertEqual(len(set(ids)), len(ids))
            for span in spans:
                self.assertEqual(len(span.span_id), 8)
                self.assertNotEqual(span.span_id, bytes(8))
                self.assertIn(span.parent_span_id, (b"", self.root[trace].span_id))
                self.assertEqual(span.kind, Span.SPAN_KIND_INTERNAL)
                self.assertLessEqual(span.start_time_unix_nano, span.end_time_unix_nano)

    def test_a_trace_is_a_journey(self):
        self.assertEqual(len(self.traces), len(self.journeys))
        seen = set()
        for trace, root in self.root.items():
            journey, told = self.journey_of(trace), attributes(root)
            seen.add(journey["id"])
            self.assertEqual(root.name, journey["dir"] + " packet")
            self.assertEqual(root.start_time_unix_nano, journey["start_ns"] + UNIX_OF_MONOTONIC)
            self.assertEqual(root.end_time_unix_nano - root.start_time_unix_nano,
                             max(journey["latency_ns"], journey.get("inside_ns", 0)))
            self.assertEqual(told["sojourn.outcome"], journey["outcome"])
            self.assertEqual(told["sojourn.segments"], journey["segments"])
            self.assertEqual(told["sojourn.retransmissions"], journey["retransmissions"])
            self.assertEqual(told.get("sojourn.latency_ns"),
                             journey["latency_ns"] if journey.get("at_one_point") is False else None)
            ids = {key[len("sojourn.id."):]: one for key, one in told.items() if key.startswith("sojourn.id.")}
            self.assertTrue(ids)
            for key, one in ids.items():
                if key in journey["ids"]:
                    self.assertEqual(one, journey["ids"][key])
            failed = journey["outcome"] in ("dropped", "incomplete")
            self.assertEqual(root.status.code, Status.STATUS_CODE_ERROR if failed else Status.STATUS_CODE_UNSET)
            self.assertEqual(root.status.message, journey["outcome"] if failed else "")
        self.assertEqual(seen, set(self.journeys))

    def test_stays_are_spans(self):
        found = collections.Counter()
        for trace, spans in self.traces.items():
            for span in spans:
                if span.parent_span_id and not span.name.endswith(" again"):
                    told = attributes(span)
                    found[(self.journey_of(trace)["id"], span.name, span.start_time_unix_nano - UNIX_OF_MONOTONIC,
                           span.end_time_unix_nano - span.start_time_unix_nano, told["sojourn.from_point"],
                           told.get("sojourn.to_point"), told.get("sojourn.inside", False), told["thread.id"])] += 1
        hops = collections.Counter(
            (hop["journey"], hop["dir"] + " " + hop["place"], hop["entered_ns"], hop["stay_ns"], hop["from_point"],
             hop.get("to_point"), hop["inside"], hop["entered_tid"])
            for hop in lines("export", "dated.sjt", "--to", "jsonl", "--what", "hops"))
        self.assertTrue(hops)
        self.assertEqual(found, hops)

    def test_repeats_are_linked_to_the_earlier_transmission(self):
        repeats = 0
        for trace, spans in self.traces.items():
            events = self.journey_of(trace)["events"]
            expected = collections.Counter((event["point"], event["t_ns"]) for event in events if "repeat_of" in event)
            again = [span for span in spans if span.name.endswith(" again")]
            self.assertEqual(collections.Counter((attributes(span)["sojourn.to_point"],
                                                  span.end_time_unix_nano - UNIX_OF_MONOTONIC) for span in again), expected)
            own = {span.span_id: span for span in spans}
            for span in again:
                links = [link for link in span.links if attributes(link)["sojourn.link"] == "repeat"]
                self.assertEqual([link.trace_id for link in links], [trace])
                earlier = own[links[0].span_id]
                event = next(one for one in events if one["t_ns"] == span.end_time_unix_nano - UNIX_OF_MONOTONIC
                             and "repeat_of" in one)
                if earlier.parent_span_id:
                    self.assertEqual(earlier.end_time_unix_nano - UNIX_OF_MONOTONIC, events[event["repeat_of"]]["t_ns"])
                repeats += 1
        self.assertGreater(repeats, 0)

    def test_packets_of_one_block_are_linked(self):
        # Two packets of one block both have an event that neither begins with.
        sharers = collections.defaultdict(set)
        for journey in self.journeys.values():
            for event in journey["events"]:
                if event["parents"] or "repeat_of" in event:
                    sharers[(event["stream"], event["seq"])].add(journey["id"])
        expected = {frozenset((a, b)) for ids in sharers.values() for a in ids for b in ids if a != b}
        found = []
        by_id = {(span.trace_id, span.span_id): span for span in self.spans}
        for span in self.spans:
            for link in span.links:
                if attributes(link)["sojourn.link"] != "same block":
                    continue
                other = by_id[(link.trace_id, link.span_id)]
                self.assertNotEqual(link.trace_id, span.trace_id)
                self.assertEqual(other.end_time_unix_nano, span.end_time_unix_nano)
                self.assertEqual(attributes(other)["sojourn.to_point"], attributes(span)["sojourn.to_point"])
                found.append(frozenset(self.journey_of(one)["id"] for one in (span.trace_id, link.trace_id)))
        self.assertEqual(len(found), len(set(found)), "two packets are linked twice")
        self.assertEqual(set(found), expected)
        self.assertTrue(expected)

    def test_fields_are_those_of_the_event(self):
        events = {(event["point"], event["t_ns"]): {**event["ids"], **event["properties"]}
                  for journey in self.journeys.values() for event in journey["events"]}
        for span in self.spans:
            told = attributes(span)
            if "sojourn.to_point" in told:
                fields = {key[len("sojourn.field."):]: one for key, one in told.items() if key.startswith("sojourn.field.")}
                self.assertEqual(fields, events[(told["sojourn.to_point"], span.end_time_unix_nano - UNIX_OF_MONOTONIC)])

    def test_the_resource_says_what_is_missing(self):
        for one in self.data.resource_spans:
            told = attributes(one.resource)
            self.assertEqual(told["service.name"], "radio")
            self.assertEqual(told["process.pid"], 4242)
            self.assertEqual(told["sojourn.trace"], "dated.sjt")
            report = json.loads(sojourn("report", "dated.sjt", "--json").stdout)
            self.assertEqual(told["sojourn.events_lost"], report["lost"])
            self.assertEqual([scope.scope.name for scope in one.scope_spans], ["sojourn"])

    def test_json_says_the_same(self):
        def as_protobuf_has_it(spans):  # its ids are in hexadecimal, others' bytes in base64
            for span in spans:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
                as_protobuf_has_it(span.get("links", []))

        read = TracesData()
        for batch in lines("export", "dated.sjt", "--to", "otlp-json", "--sample", "all"):
            for scope in batch["resourceSpans"][0]["scopeSpans"]:
                as_protobuf_has_it(scope["spans"])
            read.MergeFrom(ParseDict(batch, TracesData()))
        self.assertEqual(read, self.data)

    def test_the_slowest_and_a_sample_are_chosen(self):
        few = by_trace(spans_of(exported("dated.sjt", "--worst", "2", "--sample", "3")))
        chosen = collections.defaultdict(set)
        for spans in few.values():
            root = next(span for span in spans if not span.parent_span_id)
            told = attributes(root)
            chosen[told["sojourn.chosen"]].add(told["sojourn.journey"])
            self.assertEqual(stays_of(self.traces[root.trace_id]), stays_of(spans))
        slowest = set()
        for direction in "DU":
            timed = [(one["latency_ns"], one["id"]) for one in self.journeys.values()
                     if one["dir"] == direction and one.get("at_one_point") is False]
            slowest |= {number for _, number in sorted(timed)[-2:]}
        self.assertEqual(chosen["worst"], slowest)
        self.assertLessEqual(len(chosen["sample"]), 3)
        self.assertEqual(len(chosen["sample"] | chosen["worst"]), len(few))
        self.assertEqual(few, by_trace(spans_of(exported("dated.sjt", "--worst", "2", "--sample", "3"))))
        none = exported("dated.sjt", "--worst", "0", "--sample", "0")
        self.assertEqual(spans_of(none), [])
        only = spans_of(exported("dated.sjt", "--where", "dir == U", "--sample", "all"))
        self.assertEqual({span.name[0] for span in only}, {"U"})

    def test_a_script_chooses_packets_and_its_activities_are_spans(self):
        with open("otlp.lua", "w") as file:
            file.write("""local stay, since = activity('stay', { 'size' }), {}
local long = marker('long')
column { name = 'half', role = 'property', points = 'D *', value = function(e) return (e.len or 0) // 2 end }
filter_journeys(function(j) return j.dir == 'D' end)
on('D ip.in--*', function(e) since[e.gsn] = e.t_ns end)
on('D pdcp.in--pdcp.tx', function(e) if since[e.gsn] then stay(since[e.gsn], -e.len) end if e.len > 500 then long() end end)
""")
        script = ("--script", "otlp.lua")
        traces = by_trace(spans_of(exported("dated.sjt", "--sample", "all", *script)))
        journeys = {one["id"]: one for one in lines("journeys", "dated.sjt", "--json", *script)}
        self.assertTrue(0 < len(journeys) < len(self.journeys))
        self.assertEqual(len(traces), len(journeys))
        made = 0
        for spans in traces.values():
            root = next(span for span in spans if not span.parent_span_id)
            journey = journeys[attributes(root)["sojourn.journey"]]
            found = collections.Counter()
            for span in spans:
                told = attributes(span)
                if span.name.startswith("A "):
                    self.assertEqual(span.parent_span_id, root.span_id)
                    found[(span.name[2:], span.end_time_unix_nano - UNIX_OF_MONOTONIC, told["thread.id"],
                           span.end_time_unix_nano - span.start_time_unix_nano, told.get("sojourn.field.size"))] += 1
                elif "sojourn.field.len" in told:
                    self.assertEqual(told["sojourn.field.half"], told["sojourn.field.len"] // 2)
            expected = collections.Counter(
                (one["name"], one.get("end_ns", one.get("t_ns")), one["tid"], one["fields"].get("dur_ns", 0),
                 one["fields"].get("size")) for one in journey["activities"] + journey["markers"])
            self.assertEqual(found, expected)
            made += sum(found.values())
        self.assertGreater(made, 5)
        few = by_trace(spans_of(exported("dated.sjt", "--worst", "1", "--sample", "0", *script)))
        self.assertEqual(len(few), 1)

    def test_hostile_names_are_read(self):
        spans = spans_of(exported("hostile.sjt", "--sample", "all"))
        self.assertTrue(spans)
        names = {attributes(span).get("thread.name") for span in spans}
        self.assertIn('a "quote", a comma', names)
        for batch in lines("export", "hostile.sjt", "--to", "otlp-json", "--sample", "all"):
            self.assertTrue(batch["resourceSpans"])

    def test_batches_are_bounded(self):
        with open("many.lseq", "w") as file:
            for packet in range(1500):
                file.write("1592409293.%06d D ip--mid len40:rnti7:psn%d\n" % (10 * packet, packet))
                file.write("1592409293.%06d D mid--out len40:rnti7:psn%d\n" % (10 * packet + 3, packet))
        sojourn("import", "many.lseq", "-o", "many.sjt")
        batches = sojourn("export", "many.sjt", "--to", "otlp-json", "--sample", "all").stdout.splitlines()
        sizes = [len(json.loads(batch)["resourceSpans"][0]["scopeSpans"][0]["spans"]) for batch in batches]
        self.assertEqual(sizes, [1000, 1000, 1000])
        spans = spans_of(exported("many.sjt"))
        self.assertEqual(len(by_trace(spans)), len({span.trace_id for span in spans}))
        self.assertTrue(1000 <= len(by_trace(spans)) <= 1100)

    def test_a_trace_without_a_wall_clock_is_refused(self):
        refused = sojourn("export", "radio.sjt", "--to", "otlp", succeeds=False)
        self.assertEqual(refused.returncode, 1)
        self.assertEqual(len(refused.stderr.splitlines()), 1)
        self.assertIn(b"since 1970", refused.stderr)


if __name__ == "__main__":
    unittest.main()
