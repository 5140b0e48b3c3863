#include "userspace/capture/bpf/probe_order.h"

#include <utility>

namespace sojourn::capture {

namespace {

void pack_test(base::Packer& words, const filter::FieldTest& test) {
  words.put(test.field).put(test.low).put(test.width).put(test.is_negated);
}

constexpr std::size_t kTestBytes = sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t) + 1;

filter::FieldTest unpack_test(base::Unpacker& words) {
  filter::FieldTest test;
  test.field = words.take<std::uint32_t>();
  test.low = words.take<std::uint64_t>();
  test.width = words.take<std::uint64_t>();
  test.is_negated = words.take<bool>();
  return test;
}

void pack_site(base::Packer& words, const tracee::Site& site) {
  words.put(site.file).put(site.offset).put(site.semaphore_offset).put(site.point).put(site.group);
  words.put(site.is_stepped).put(site.is_return).put_text(site.probe);
  words.put_all(site.args).put_all(site.chains).put_all(site.tests);
}

tracee::Site unpack_site(base::Unpacker& words) {
  tracee::Site site;
  site.file = words.take<std::size_t>();
  site.offset = words.take<std::uint64_t>();
  site.semaphore_offset = words.take<std::uint64_t>();
  site.point = words.take<model::PointId>();
  site.group = words.take<std::uint32_t>();
  site.is_stepped = words.take<bool>();
  site.is_return = words.take<bool>();
  site.probe = words.take_text();
  site.args = words.take_all<sj_arg>();
  site.chains = words.take_all<sj_chain>();
  site.tests = words.take_all<sj_test>();
  return site;
}

// Checks the order. It may name any file: a link traps in its process only, and reveals nothing of
// a file.
Result<void> check(const ProbeOrder& order) {
  for (const tracee::Site& site : order.points.sites)
    if (site.file >= order.points.files.size() || site.args.size() > SJ_MAX_ARGS ||
        site.tests.size() > SJ_MAX_TESTS)
      return fail("a site that cannot be");
  return {};
}

}  // namespace

base::Packer pack(const ProbeOrder& order) {
  base::Packer words;
  words.put(order.pid).put(order.mechanism.has_value());
  words.put(order.mechanism.value_or(Mechanism::kUprobeMulti));
  words.put(order.ring_bytes).put(order.objects);
  words.put(order.keep.size());
  for (const auto& tests : order.keep) {
    words.put(tests.size());
    for (const filter::FieldTest& test : tests) pack_test(words, test);
  }
  words.put(order.points.files.size());
  for (const tracee::MappedFile& file : order.points.files)
    words.put_text(file.name).put_text(file.path);
  words.put(order.points.sites.size());
  for (const tracee::Site& site : order.points.sites) pack_site(words, site);
  return words;
}

Result<ProbeOrder> unpack_probe_order(base::Unpacker& words) {
  ProbeOrder order;
  order.pid = words.take<pid_t>();
  const bool is_chosen = words.take<bool>();
  const auto mechanism = words.take<Mechanism>();
  if (is_chosen) order.mechanism = mechanism;
  order.ring_bytes = words.take<std::size_t>();
  order.objects = words.take<std::size_t>();
  for (std::size_t left = words.take_count(sizeof(std::size_t)); left > 0; --left) {
    auto& tests = order.keep.emplace_back();
    for (std::size_t more = words.take_count(kTestBytes); more > 0; --more)
      tests.push_back(unpack_test(words));
  }
  for (std::size_t left = words.take_count(2 * sizeof(std::size_t)); left > 0; --left) {
    tracee::MappedFile file;
    file.name = words.take_text();
    file.path = words.take_text();
    order.points.files.push_back(std::move(file));
  }
  for (std::size_t left = words.take_count(4 * sizeof(std::size_t)); left > 0; --left)
    order.points.sites.push_back(unpack_site(words));
  if (!words.is_sound() || order.objects == 0) return fail("this is no order for probes");
  SJ_CHECK(check(order));
  return order;
}

}  // namespace sojourn::capture
