// The policy for Boost.Math: it computes in doubles everywhere, so that a page has the same results
// as the command line, and it throws no exceptions, which WebAssembly lacks. Callers pass only
// arguments for which a function is defined.
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
