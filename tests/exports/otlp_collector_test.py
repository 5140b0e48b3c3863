"""A collector that answers as it is told: what is sent again, what is not, and what people read."""
import email.utils
import http.server
import os
import re
import subprocess
import threading
import time
import unittest

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest, ExportTraceServiceResponse)

PROTOBUF = "application/x-protobuf"


def partial_success(rejected, message):
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = rejected
    answer.partial_success.error_message = message
    return answer


def rpc_status(message):
    """A google.rpc.Status, of which field 2 is the message."""
    text = message.encode()
    return b"\x08\x03\x12" + bytes([len(text)]) + text


class Answer:
    def __init__(self, status=200, body=b"", kind=PROTOBUF, closes=False, chunked=False, **headers):
        self.status, self.body, self.kind, self.closes, self.chunked = status, body, kind, closes, chunked
        self.headers = {key.replace("_", "-"): value for key, value in headers.items()}


class Collector:
    """The answers one after the other, the last one for all that follow."""

    def __init__(self, *answers):
        requests, connections, times = self.requests, self.connections, self.times = [], [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = answers[min(len(requests), len(answers) - 1)]
                requests.append((self.path, self.headers["Content-Type"], body))
                times.append(time.monotonic())
                if self.client_address not in connections:
                    connections.append(self.client_address)
                if answer.closes:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for key, one in answer.headers.items():
                    self.send_header(key, one)
                self.send_header("Content-Type", answer.kind)
                if answer.chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for byte in answer.body:
                        self.wfile.write(b"1;x=y\r\n" + bytes([byte]) + b"\r\n")
                    self.wfile.write(b"0\r\n\r\n")
                else:
                    self.send_header("Content-Length", str(len(answer.body)))
                    self.end_headers()
                    self.wfile.write(answer.body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def export(url, *more, trace="dated.sjt", to="otlp"):
    done = subprocess.run([os.environ["SOJOURN"], "export", trace, "--to", to, "-o", url, *more],
                          capture_output=True, text=True, timeout=120)
    assert done.stdout == ""
    return done


def written(*more):
    return subprocess.run([os.environ["SOJOURN"], "export", "dated.sjt", "--to", "otlp", *more],
                          capture_output=True, check=True).stdout


class Collectors(unittest.TestCase):
    def collect(self, *answers):
        collector = Collector(*answers)
        self.addCleanup(collector.close)
        return collector

    def test_all_spans_arrive_once_over_one_connection(self):
        collector = self.collect(Answer())
        done = export(collector.url, "--sample", "all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(b"".join(body for _, _, body in collector.requests), written("--sample", "all"))
        self.assertEqual({(path, kind) for path, kind, _ in collector.requests}, {("/v1/traces", PROTOBUF)})
        self.assertEqual(len(collector.connections), 1)
        spans = 0
        for _, _, body in collector.requests:
            request = ExportTraceServiceRequest()
            request.ParseFromString(body)
            count = sum(len(scope.spans) for one in request.resource_spans for scope in one.scope_spans)
            self.assertTrue(0 < count <= 1000)
            spans += count
        self.assertRegex(done.stderr, r"^%s spans of [\d,]+ packets in %d requests? to http://127\.0\.0\.1:\d+/v1/traces\n$"
                         % (format(spans, ","), len(collector.requests)))

    def test_a_path_of_the_address_is_kept_and_json_is_sent(self):
        collector = self.collect(Answer(body=b"{}", kind="application/json"))
        self.assertEqual(export(collector.url + "/otel/in", to="otlp-json").returncode, 0)
        path, kind, body = collector.requests[0]
        self.assertEqual((path, kind), ("/otel/in", "application/json"))
        self.assertIn(b'"resourceSpans"', body)

    def test_a_busy_collector_is_asked_again_when_it_says(self):
        for status in (429, 502, 503, 504):
            collector = self.collect(Answer(status, Retry_After="1"), Answer(chunked=True))
            done = export(collector.url)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(collector.requests[0], collector.requests[1])
            self.assertGreaterEqual(collector.times[1] - collector.times[0], 1.0)
            self.assertRegex(done.stderr, r"/v1/traces: %d [A-Za-z ]+: again in 1 s\n" % status)

    def test_a_date_is_a_time_to_come_back_at(self):
        date = email.utils.formatdate(time.time() + 2, usegmt=True)
        collector = self.collect(Answer(503, Retry_After=date), Answer())
        self.assertEqual(export(collector.url).returncode, 0)
        self.assertGreaterEqual(collector.times[1] - collector.times[0], 0.9)

    def test_without_a_time_the_pauses_grow(self):
        collector = self.collect(Answer(503), Answer(503), Answer())
        self.assertEqual(export(collector.url).returncode, 0)
        pauses = [after - before for before, after in zip(collector.times, collector.times[1:])]
        self.assertGreaterEqual(pauses[0], 1.0)
        self.assertGreaterEqual(pauses[1], 2.0)

    def test_it_gives_up_after_five_tries(self):
        collector = self.collect(Answer(503, Retry_After="0"))
        done = export(collector.url)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(collector.requests), 5)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"^sojourn: post to http://.*/v1/traces: 503 Service Unavailable, 5 times$")

    def test_a_collector_that_is_away_for_long_is_not_waited_for(self):
        collector = self.collect(Answer(429, Retry_After="3600"))
        done = export(collector.url)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(collector.requests), 1)
        self.assertIn("429 Too Many Requests, and not again for 3600 s", done.stderr)

    def test_other_statuses_are_final(self):
        for answer in (Answer(400, rpc_status("no such tenant")), Answer(404, b"", "text/plain"),
                       Answer(500, Retry_After="0"), Answer(301, Location="/elsewhere"),
                       Answer(400, b'{"code": 3, "message": "no such tenant"}', "application/json")):
            collector = self.collect(answer)
            done = export(collector.url)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(collector.requests), 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(": %d " % answer.status, done.stderr)
            if answer.body:
                self.assertIn("400 Bad Request: no such tenant", done.stderr)

    def test_an_error_page_is_one_line(self):
        collector = self.collect(Answer(400, b"<html>\x1b[31m\n" + b"x" * 5000, "text/html"))
        done = export(collector.url)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertNotIn("\x1b", done.stderr)
        self.assertLess(len(done.stderr), 500)

    def test_rejected_spans_are_told_and_not_sent_again(self):
        for to, answer in (("otlp", Answer(body=partial_success(2, "too old").SerializeToString())),
                           ("otlp-json", Answer(body=json_format.MessageToJson(partial_success(2, "too old")).encode(),
                                                kind="application/json"))):
            collector = self.collect(answer, Answer(body=b"" if to == "otlp" else b"{}"))
            done = export(collector.url, to=to)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.splitlines()[-1], r": 2 of [\d,]+ spans were rejected: too old$")
            self.assertEqual(len(set(body for _, _, body in collector.requests)), len(collector.requests))

    def test_a_warning_is_no_error(self):
        collector = self.collect(Answer(body=partial_success(0, "use gRPC").SerializeToString()))
        done = export(collector.url)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stderr.endswith("/v1/traces says: use gRPC\n"), done.stderr)

    def test_an_answer_of_garbage_is_a_success_without_words(self):
        self.assertEqual(export(self.collect(Answer(body=b"\xff\xff\xff\x0a\xff")).url).returncode, 0)
        self.assertEqual(export(self.collect(Answer(body=b"[1", kind="application/json")).url, to="otlp-json").returncode, 0)

    def test_a_closed_connection_is_tried_again(self):
        collector = self.collect(Answer(closes=True), Answer())
        done = export(collector.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(collector.requests[0], collector.requests[1])
        self.assertIn("the connection was closed without an answer: again in 1 s", done.stderr.replace("in 2 s", "in 1 s"))

    def test_what_came_before_a_failure_is_told(self):
        with open("several.lseq", "w") as file:
            for packet in range(600):
                file.write("1592409293.%06d D ip--mid len40:rnti7:psn%d\n" % (10 * packet, packet))
                file.write("1592409293.%06d D mid--out len40:rnti7:psn%d\n" % (10 * packet + 3, packet))
        subprocess.run([os.environ["SOJOURN"], "import", "several.lseq", "-o", "several.sjt"], check=True, capture_output=True)
        collector = self.collect(Answer(), Answer(401))
        done = export(collector.url, "--sample", "all", trace="several.sjt")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(collector.requests), 2)
        self.assertIn(": 401 Unauthorized (1,000 spans were taken before)", done.stderr)

    def test_wrong_addresses_are_refused_before_anything(self):
        for url, words in (("https://127.0.0.1:4318", "only http:// is spoken"), ("http://", "names no host"),
                           ("http://a:b@c", "names and passwords are not sent"), ("http://h:99999", "its port is no number")):
            done = export(url)
            self.assertEqual(done.returncode, 2, url)
            self.assertIn(words, done.stderr)
        done = subprocess.run([os.environ["SOJOURN"], "export", "dated.sjt", "--to", "csv", "-o", "http://127.0.0.1:1"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--to csv can be written to a file, but not posted", done.stderr)
        self.assertIsNone(re.search(r"Traceback|terminate", done.stderr))


if __name__ == "__main__":
    unittest.main()
