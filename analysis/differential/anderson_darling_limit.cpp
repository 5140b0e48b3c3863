// The limit of A2 is the sum of Y_j / (j (j + 1)), j = 1, 2, ..., with independent Y_j that are
// chi-square distributed with `order` degrees of freedom. Its characteristic function has a closed
// form (Anderson and Darling 1952): phi(t)^order with
//   phi(t)^2 = -2 pi i t / cos(pi/2 sqrt(1 + 8 i t)).
// With d = pi/2 (sqrt(1 + 8 i t) - 1) that is 2 pi i t / sin(d), which loses no digits near t = 0.
// The chance to exceed x follows by Gil-Pelaez:
//   P = 1/2 + 1/pi * integral over t > 0 of Im(exp(-i t x) phi(t)^order) / t,
// with t = s^2, as phi falls like exp(-pi/2 sqrt(t)).
#include <algorithm>
#include <cmath>
#include <complex>

#include <boost/math/constants/constants.hpp>
#include <boost/math/quadrature/gauss.hpp>

#include "analysis/differential/anderson_darling.h"
#include "analysis/differential/quiet_math.h"

namespace sojourn::differential {
namespace {

using Complex = std::complex<double>;
constexpr double kPi = boost::math::constants::pi<double>();

// exp(z) - 1, also where z is near 0.
Complex exp_minus_1(Complex z) {
  const double sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * sine * sine,
          std::exp(z.real()) * std::sin(z.imag())};
}

// log phi(t), continuous in t: sin(d) = (i/2) exp(-i d) (1 - exp(2 i d)), where the last factor
// has a positive real part.
Complex log_phi(double t) {
  const Complex root = std::sqrt(Complex(1, 8 * t));
  const Complex d = kPi / 2 * Complex(0, 8 * t) / (root + 1.0);
  const Complex id = Complex(0, 1) * d;
  return 0.5 * (std::log(4 * kPi * t) + id - std::log(-exp_minus_1(2.0 * id)));
}

}  // namespace

double anderson_darling_limit(double a2, std::size_t order) {
  if (a2 <= 0) return 1;
  const auto power = static_cast<double>(order);
  const auto integrand = [&](double s) {
    const Complex log_value = power * log_phi(s * s) - Complex(0, s * s * a2);
    return 2 * std::exp(log_value.real()) * std::sin(log_value.imag()) / s;
  };
  // The integrand's tail below exp(-kNegligible) is less than the promised error.
  constexpr double kNegligible = 30;
  // The most radians of the integrand in a panel, which 30 points resolve.
  constexpr double kRadians = 10;
  double sum = 0;
  for (double from = 0; power * log_phi(std::max(from * from, 1e-12)).real() > -kNegligible;) {
    const double by_phase = std::sqrt(from * from + kRadians / std::max(a2, power));
    const double to = std::min(by_phase, from + 0.5);
    sum += boost::math::quadrature::gauss<double, 30, QuietMath>::integrate(integrand, from, to);
    from = to;
  }
  return std::clamp(0.5 + sum / kPi, kLeastLimitP, 1.0);
}

}  // namespace sojourn::differential
