// Bounds of another host's clock at each instant of ours, from packets that both hosts saw: none
// arrives before it was sent. The clock is taken as a straight line between steps. Among all lines
// that no packet contradicts, the highest and the lowest at an instant are the bounds (a linear
// program, solved over the convex hulls of the packets). If no line is left, the clock was stepped,
// and a new piece begins. Plain data and functions without state.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace sojourn::differential {

// A packet that both hosts saw, by our clock and by the other one's.
struct Sighting {
  double ours = 0;
  double theirs = 0;
  bool is_from_us =
      false;  // we sent it: their clock showed at most that when ours did; else at least
};

// A packet and its answer, with four stamps. NTP's rule bounds the other clock by them, without the
// assumption that it runs at a constant rate. These bounds are wider than those from all packets
// together.
struct Probe {
  double sent = 0;      // by our clock
  double received = 0;  // by theirs, as the next one
  double answered = 0;
  double came = 0;  // by ours

  double ours() const { return sent + (came - sent) / 2; }
  double theirs() const { return received + (answered - received) / 2; }
  // Half of the time that the two packets were under way: so far may theirs() be off.
  double half() const { return ((came - sent) - (answered - received)) / 2; }
};

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  double middle() const { return low + (high - low) / 2; }
  double half() const { return (high - low) / 2; }
};

// The lines that packets of a stretch of time leave.
class ClockLines {
 public:
  // `drift`: the bounds of the slope without any packet.
  explicit ClockLines(Bounds drift = {});

  // In the order of our clock. False: no line would be left; it is not taken then.
  bool add(const Sighting& sighting);

  std::size_t count() const { return count_; }
  // Bounds of the line's slope: how fast their clock goes, by ours. Infinite where packets of one
  // direction only leave it open.
  Bounds drift() const { return drift_; }
  // The bounds of their clock at an instant of ours.
  Bounds at(double ours) const;

 private:
  struct Point {
    double x = 0;
    double y = 0;
  };
  using Hull = std::vector<Point>;

  static void extend(Hull& hull, Point point, double sign);
  static double slope_at(const Hull& hull, double x, double before, double after);

  Bounds drift_;
  Hull above_;  // no line passes above these: the lower hull of packets from us
  Hull below_;  // nor below these: the upper hull of packets to us
  std::size_t count_ = 0;
};

struct ClockPiece {
  double from = 0;  // by our clock, both included; pieces may overlap: the step is somewhere there
  double until = 0;
  ClockLines lines;
};

class ClockMap {
 public:
  // `sightings` in any order. One that alone makes a piece of its own is counted as stray.
  static ClockMap of(std::vector<Sighting> sightings, Bounds drift = {});

  const std::vector<ClockPiece>& pieces() const { return pieces_; }
  std::size_t stray() const { return stray_; }
  // Their clock at an instant of ours; before the first and behind the last piece its line goes on.
  Bounds at(double ours) const;
  // Our clock at an instant of theirs, by the same lines.
  Bounds ours_at(double theirs) const;

 private:
  std::vector<ClockPiece> pieces_;
  std::size_t stray_ = 0;
};

}  // namespace sojourn::differential
