"""`export --to perfetto --open`, asked as a browser would, and as nobody should. In a network of its
own, as the port is a fixed one."""
import http.client
import os
import socket
import subprocess
import sys
import time
import unittest

PAGE = "https://ui.perfetto.dev"
START = PAGE + "/#!/?url=http://127.0.0.1:9001"


class Opened:
    def __init__(self, *more):
        self.child = subprocess.Popen([os.environ["SOJOURN"], "export", "radio.sjt", "--to", "perfetto", "--open", *more],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.child.stdout.readline().rstrip("\n")
        self.path = self.url[len(START):]

    def ask(self, method="GET", path=None, **headers):
        asked = http.client.HTTPConnection("127.0.0.1", 9001, timeout=10)
        asked.request(method, self.path if path is None else path,
                      headers={key.replace("_", "-"): value for key, value in headers.items()})
        answer = asked.getresponse()
        body = answer.read()
        asked.close()
        return answer, body

    def end(self):
        out, err = self.child.communicate(timeout=30)
        return self.child.returncode, err


def expected():
    return subprocess.run([os.environ["SOJOURN"], "export", "radio.sjt", "--to", "perfetto"], check=True,
                          capture_output=True).stdout


class Open(unittest.TestCase):
    def opened(self, *more):
        opened = Opened(*more)
        self.addCleanup(lambda: (opened.child.kill(), opened.child.communicate()))
        return opened

    def test_the_page_gets_the_trace_once(self):
        opened = self.opened()
        self.assertRegex(opened.url, r"^https://ui\.perfetto\.dev/#!/\?url=http://127\.0\.0\.1:9001/[0-9a-f]{32}/radio\.pftrace$")
        asked, _ = opened.ask("OPTIONS", Origin=PAGE, Access_Control_Request_Method="GET",
                              Access_Control_Request_Private_Network="true")
        self.assertEqual(asked.status, 204)
        self.assertEqual(asked.headers["Access-Control-Allow-Private-Network"], "true")
        answer, body = opened.ask(Origin=PAGE)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Access-Control-Allow-Origin"], PAGE)
        self.assertEqual(body, expected())
        self.assertEqual(opened.end()[0], 0)
        with self.assertRaises(ConnectionRefusedError):
            opened.ask(Origin=PAGE)

    def test_others_are_refused_and_the_page_is_served_all_the_same(self):
        opened = self.opened()
        for status, ask in ((403, dict(Origin="https://evil.example")), (403, dict(Host="evil.example:9001")),
                            (403, dict(Host="127.0.0.1:80")), (403, dict(Origin="null")),
                            (404, dict(path="/")), (404, dict(path="/radio.pftrace")),
                            (404, dict(path=opened.path + "/../../../etc/passwd")),
                            (404, dict(path="/" + opened.path.split("/")[1] + "/../radio.pftrace")),
                            (404, dict(path=opened.path + "?again")), (405, dict(method="POST")),
                            (405, dict(method="HEAD"))):
            answer, body = opened.ask(**ask)
            self.assertEqual(answer.status, status, ask)
            self.assertLess(len(body), 100)
        for bytes_sent in (b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00" * 5000, b"GET " + b"a" * 40000):
            with socket.create_connection(("127.0.0.1", 9001), timeout=10) as asked:
                try:
                    asked.sendall(bytes_sent)
                    asked.recv(100)
                except ConnectionError:
                    pass
        # Silent connections, as browsers open them ahead.
        silent = [socket.create_connection(("127.0.0.1", 9001)) for _ in range(5)]
        answer, body = opened.ask(Origin=PAGE)
        self.assertEqual((answer.status, body), (200, expected()))
        self.assertEqual(opened.end()[0], 0)
        for one in silent:
            one.close()

    def test_a_fetch_that_breaks_off_was_none_and_one_at_a_time_is_served(self):
        subprocess.run([os.environ["MAKE_TRACE"], "big.sjt", "400000"], check=True, capture_output=True)
        opened = Opened.__new__(Opened)
        opened.child = subprocess.Popen([os.environ["SOJOURN"], "export", "big.sjt", "--to", "perfetto", "--open", "-o", "big.pftrace"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (opened.child.kill(), opened.child.communicate()))
        opened.url = opened.child.stdout.readline().rstrip("\n")
        opened.path = opened.url[len(START):]
        request = ("GET %s HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nOrigin: %s\r\n\r\n" % (opened.path, PAGE)).encode()
        first = socket.socket()
        first.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        first.connect(("127.0.0.1", 9001))
        first.sendall(request)
        self.assertTrue(first.recv(100).startswith(b"HTTP/1.1 200 OK"))
        self.assertEqual(opened.ask(Origin=PAGE)[0].status, 409)
        first.close()
        for _ in range(50):
            answer, body = opened.ask(Origin=PAGE)
            if answer.status == 200:
                break
            time.sleep(0.1)
        with open("big.pftrace", "rb") as file:
            self.assertEqual(body, file.read())
        self.assertEqual(opened.end()[0], 0)

    def test_nobody_comes(self):
        opened = self.opened("--open-for", "300ms")
        status, err = opened.end()
        self.assertEqual(status, 1)
        self.assertTrue(err.endswith("sojourn: no browser fetched the trace within 0.3 s\n"), err)

    def test_the_port_is_busy(self):
        with socket.create_server(("127.0.0.1", 9001)):
            done = subprocess.run([os.environ["SOJOURN"], "export", "radio.sjt", "--to", "perfetto", "--open"],
                                  capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("listen at tcp://127.0.0.1:9001: Address already in use", done.stderr)

    def test_wrong_usage(self):
        for words in (["--to", "csv", "--open"], ["--to", "perfetto", "--open-for", "3s"], ["--to", "perfetto", "--open", "-o", "-"]):
            done = subprocess.run([os.environ["SOJOURN"], "export", "radio.sjt", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, words)


if __name__ == "__main__":
    if os.environ.get("SJ_OWN_NETWORK") is None:
        os.environ["SJ_OWN_NETWORK"] = "yes"
        # An ordinary user needs a user namespace of its own.
        flags = ["--net"] if os.geteuid() == 0 else ["--net", "--map-root-user"]
        sys.exit(subprocess.run(["unshare", *flags, "sh", "-c", 'ip link set lo up && exec "$0" "$@"', sys.executable,
                                 *sys.argv]).returncode)
    unittest.main()
