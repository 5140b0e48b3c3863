// Commands that read a trace from a pipe or a socket.
#include <filesystem>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

test::Ended shell(const std::string& line) {
  return test::run({"sh", "-c", line});
}

TEST_CASE("a trace is read from standard input as from its file") {
  const Traces traces;
  const std::string path = traces.path("radio");
  for (const std::string command : {"report --json", "events --limit 20", "check --json"}) {
    CAPTURE(command);
    const test::Ended piped = shell("cat '" + path + "' | '" SJ_SOJOURN "' " + command + " -");
    CAPTURE(piped.err);
    CHECK(piped.exit_code == 0);
    CHECK(piped.out == shell("'" SJ_SOJOURN "' " + command + " '" + path + "'").out);
  }
}

TEST_CASE("a stream that is cut, empty or no trace is reported as a file would be") {
  const Traces traces;
  const std::string path = traces.path("radio");
  const auto bytes = std::filesystem::file_size(path) * 3 / 4;
  const test::Ended cut =
      shell("head -c " + std::to_string(bytes) + " '" + path + "' | '" SJ_SOJOURN "' check -");
  CHECK(cut.exit_code == 1);
  CHECK(cut.err.contains("damaged in 1 place"));
  require_error(shell("'" SJ_SOJOURN "' report - </dev/null"), "standard input: no sojourn trace");
  require_error(shell("echo nonsense nonsense | '" SJ_SOJOURN "' report -"), "no sojourn trace");
}

TEST_CASE("streams from an address without a server, or from other machines, are errors") {
  const Traces traces;
  const test::Ended none = sojourn({"check", "unix:" + traces.directory().path("nobody")});
  CHECK(none.exit_code == 1);
  CHECK(none.err.contains("connect to unix:"));
  const test::Ended far = sojourn({"report", "tcp://192.0.2.1:9000"});
  CHECK(far.exit_code == 2);
  CHECK(far.err.contains("ssh -L"));
  for (const std::string command : {"report", "live"}) {
    const test::Ended port = sojourn({command, "tcp://127.0.0.1:99999"});
    CAPTURE(command, port.err);
    CHECK(port.exit_code == 2);
    CHECK(port.err.contains("ports end at 65535"));
    CHECK_FALSE(port.err.contains("reading "));
  }
}

TEST_CASE("a stream by TLS wants a token, and its recorder a certificate") {
  const test::Ended no_token =
      shell("env -u SOJOURN_TOKEN -u SOJOURN_TOKEN_FILE '" SJ_SOJOURN "' report tls://127.0.0.1:1");
  CHECK(no_token.exit_code == 1);
  CHECK(no_token.err.contains("tls:// wants a token: set SOJOURN_TOKEN_FILE"));
  const test::Ended nobody =
      shell("SOJOURN_TOKEN=0123456789abcdef '" SJ_SOJOURN "' report tls://127.0.0.1:1");
  CHECK(nobody.exit_code == 1);
  CHECK(nobody.err.contains("connect to tls://127.0.0.1:1: Connection refused"));

  const auto refused = [](const std::string& options) {
    const test::Ended ended = shell("'" SJ_SOJOURN "' record -p 1 " + options);
    CAPTURE(options, ended.err);
    CHECK(ended.exit_code == 2);
    return ended.err;
  };
  CHECK(refused("--listen tls://0.0.0.0:9000").contains("--tls-cert FILE and --tls-key FILE"));
  CHECK(refused("--tls-cert x --tls-key y --listen 127.0.0.1:0").contains("are for --listen tls:"));
  CHECK(refused("--tls-ca x").contains("--tls-ca is for --stream tls:"));
  CHECK(refused("--token-file x").contains("--token-file is for"));
  CHECK(refused("--unread-only").contains("wants --listen or --stream"));
  CHECK(refused("--listen 0.0.0.0:9000").contains("tls://0.0.0.0:9000 is encrypted"));
  CHECK(refused("--metrics tls://127.0.0.1:9464").contains("only streams of a trace know TLS"));
}

TEST_CASE("commands that need a whole file refuse a stream with the reason") {
  const Traces traces;
  const std::string page = traces.directory().path("page.html");
  const test::Ended ended = sojourn({"report", "-", "--html", page});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("write the stream to one first"));
}

TEST_CASE("no spool is left behind, and a full disk is an error") {
  const Traces traces;
  const test::TemporaryDirectory spool;
  const test::Ended read = shell("cat '" + traces.path("radio") + "' | TMPDIR='" + spool.path() +
                                 "' '" SJ_SOJOURN "' check -");
  CHECK(read.exit_code == 0);
  CHECK(std::filesystem::is_empty(spool.path()));
  const test::Ended full = shell("trap '' XFSZ; ulimit -f 1; cat '" + traces.path("radio") + "' '" +
                                 traces.path("radio") + "' | '" SJ_SOJOURN "' check -");
  CHECK(full.exit_code == 1);
  CHECK(full.err.contains("in a temporary file: File too large"));
}

}  // namespace
}  // namespace sojourn::cli_tests
