// The cost of a site's hit, from the measured costs of its kinds.
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "userspace/capture/bpf/calibrate.h"

namespace sojourn::capture {
namespace {

BpfCosts measured() {
  return {.hit = HitCost({{0, 400'000}, {2, 500'000}}, 50'000),
          .stamp_delay_ns = 0,
          .stamp_spread_ns = 0,
          .stepped_ps = 9'000'000,
          .return_ps = 300'000};
}

TEST_CASE("a single step and a uretprobe cost their measured surcharge") {
  tracee::Site site;
  CHECK(bpf_site_cost_ps(site, measured()) == 400'000);
  site.args.resize(2);
  CHECK(bpf_site_cost_ps(site, measured()) == 500'000);
  site.is_return = true;
  CHECK(bpf_site_cost_ps(site, measured()) == 800'000);
  site.is_stepped = true;
  CHECK(bpf_site_cost_ps(site, measured()) == 9'800'000);
}

TEST_CASE("only the costs that the sites need are measured") {
  CostNeeds needs;
  tracee::Site site;
  site.args.resize(3);
  needs.add(site);
  CHECK(needs.args == 3);
  CHECK_FALSE(needs.steps);
  CHECK_FALSE(needs.returns);
  tracee::Site other;
  other.is_return = true;
  other.is_stepped = true;
  needs.add(other);
  CHECK(needs.args == 3);
  CHECK(needs.steps);
  CHECK(needs.returns);
}

}  // namespace
}  // namespace sojourn::capture
