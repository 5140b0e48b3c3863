#include "userspace/coarse/functions/data_path.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "userspace/coarse/functions/function_names.h"

namespace sojourn::coarse {

namespace {

constexpr unsigned kEnough = 3;

using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 30> kLayers = {
    "pdcp",   "rlc",  "mac",   "phy",  "gtp",  "gtpu",  "gtpv1u",  "sdap",   "f1u",   "f1ap",
    "nru",    "l1",   "l2",    "fapi", "ofh",  "dlsch", "ulsch",   "pdsch",  "pusch", "harq",
    "bearer", "lapd", "lapdm", "rsl",  "abis", "l1sap", "gsm0503", "gsmtap", "rtp",   "ipa"};
constexpr std::array<std::string_view, 28> kVerbs = {
    "enqueue", "dequeue", "push",     "pop",     "put",        "pull",    "send",
    "recv",    "receive", "transmit", "tx",      "rx",         "deliver", "handle",
    "process", "write",   "forward",  "submit",  "assemble",   "encode",  "decode",
    "encrypt", "decrypt", "cipher",   "segment", "reassemble", "sendmsg", "recvmsg"};
constexpr std::array<std::string_view, 12> kWeakVerbs = {
    "get", "take",   "read",   "run",      "work",   "data",
    "do",  "lookup", "insert", "schedule", "answer", "question"};
constexpr std::array<std::string_view, 5> kTaking = {"dequeue", "pop", "get", "take", "pull"};
constexpr std::array<std::string_view, 8> kQueues = {"queue",  "ring", "fifo",  "mailbox",
                                                     "buffer", "msgq", "stack", "wqueue"};
constexpr std::array<std::string_view, 22> kUnits = {
    "pdu",   "sdu",     "msg",   "msgb",   "packet",   "pkt",     "frame",   "slot",
    "burst", "tb",      "pdus",  "sdus",   "block",    "message", "request", "response",
    "query", "command", "reply", "client", "question", "answer"};
// A function with one of these words does something else, or is called for everything.
constexpr std::array<std::string_view, 25> kOthers = {
    "log",    "print", "format", "string",  "metric",    "metrics",  "stat",     "stats", "init",
    "config", "cfg",   "create", "destroy", "alloc",     "size",     "length",   "len",   "new",
    "dump",   "parse", "test",   "timer",   "allocator", "iterator", "exception"};
constexpr std::array<std::string_view, 11> kForeign = {
    "std::",  "__gnu_cxx::", "fmt::",  "boost::", "spdlog::",    "nlohmann::",
    "YAML::", "google::",    "asn1::", "absl::",  "__cxxabiv1::"};

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// "handleSdu_impl" is handle, sdu, impl; "DNSPacket" dns, packet.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    const bool ends_acronym = at + 1 < name.size() && is_small(name[at + 1]);
    const bool begins = is_upper(c) && at != 0 && (is_lower(name[at - 1]) || ends_acronym);
    if ((begins || !(is_upper(c) || is_lower(c))) && !words.back().empty()) words.emplace_back();
    if (is_upper(c)) words.back() += static_cast<char>(c - 'A' + 'a');
    if (is_lower(c)) words.back() += c;
  }
  return words;
}

bool has_any(const std::vector<std::string>& words, Words of) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return std::ranges::find(of, word) != of.end(); });
}

}  // namespace

unsigned data_path_score(std::string_view shown) {
  if (behind_thunk(shown).size() != shown.size()) return 0;
  const std::string_view name = without_parameters(shown);
  for (const std::string_view foreign : kForeign)
    if (shown.starts_with(foreign) || name.starts_with(foreign)) return 0;
  if (name.contains('~') || name.contains("operator") || name.contains("lambda") ||
      name.contains("{") || name.starts_with("__"))
    return 0;
  const std::string_view last = last_part(shown);
  const std::vector<std::string> own = words_of(last);
  const std::vector<std::string> all = words_of(name.substr(0, name.find('<')));
  if (has_any(own, kOthers)) return 0;
  const unsigned verb = has_any(own, kVerbs) ? 2U : (has_any(own, kWeakVerbs) ? 1U : 0U);
  // A name without a verb is a type's or a helper's.
  if (verb == 0) return 0;
  // The class or namespace in front of the name, and the parameters behind it.
  const auto name_end = static_cast<std::size_t>(name.data() - shown.data()) + name.size();
  const std::string_view of = name.substr(0, name.size() - last.size());
  const bool is_about_units =
      has_any(words_of(of), kUnits) || has_any(words_of(shown.substr(name_end)), kUnits);
  const unsigned score = verb + (is_about_units ? 1U : 0U) + (has_any(all, kLayers) ? 2U : 0U) +
                         (has_any(all, kQueues) ? 2U : 0U) + (has_any(own, kUnits) ? 1U : 0U);
  return score >= kEnough ? score : 0;
}

bool takes_out(std::string_view shown) {
  return has_any(words_of(last_part(shown)), kTaking);
}

bool may_take_objects(std::string_view shown) {
  return shown.ends_with(')') || shown.ends_with(") const");
}

bool is_of_toolchain(std::string_view file) {
  const std::string_view base = file.substr(file.rfind('/') + 1);
  constexpr std::array<std::string_view, 28> kNames = {
      "libc.",      "libc-",       "libm.",        "libpthread",     "ld-linux",   "libstdc++",
      "libgcc_s",   "libdl.",      "librt.",       "libasan",        "libtsan",    "[vdso]",
      "libcrypto.", "libssl.",     "libgcrypt.",   "liblzma.",       "libzstd.",   "libz.",
      "liblz4.",    "libsystemd.", "libjemalloc.", "libgnutls.",     "libnettle.", "libhogweed.",
      "libmbed",    "libkrb5.",    "libk5crypto.", "libgssapi_krb5."};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return base.starts_with(name); });
}

}  // namespace sojourn::coarse
