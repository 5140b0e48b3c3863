// How Boost.Math is used: it computes in doubles everywhere, so that a page finds what the command
// line finds, and it reports nothing by exceptions, which WebAssembly lacks. Who calls it passes
// only what a function is defined for.
#pragma once

#include <boost/math/policies/policy.hpp>

namespace sojourn::differential {

namespace math_policies = boost::math::policies;
using QuietMath =
    math_policies::policy<math_policies::domain_error<math_policies::ignore_error>,
                          math_policies::pole_error<math_policies::ignore_error>,
                          math_policies::overflow_error<math_policies::ignore_error>,
                          math_policies::underflow_error<math_policies::ignore_error>,
                          math_policies::denorm_error<math_policies::ignore_error>,
                          math_policies::evaluation_error<math_policies::ignore_error>,
                          math_policies::rounding_error<math_policies::ignore_error>,
                          math_policies::indeterminate_result_error<math_policies::ignore_error>,
                          math_policies::promote_float<false>,
                          math_policies::promote_double<false>>;

}  // namespace sojourn::differential
