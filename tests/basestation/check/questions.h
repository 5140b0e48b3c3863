// Checks of a truth file. Each rule is a function that returns the first violation in words, or
// nothing; so a test checks hundreds of thousands of records with one assertion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/basestation/truth.h"

namespace sojourn::basestation {

class Questions {
 public:
  explicit Questions(const truth::Truth& truth);

  const truth::Truth& truth() const { return truth_; }
  // The hits of this point, in time order; none for a name that is not in the file.
  const std::vector<const truth::Hit*>& hits(std::string_view where) const;
  std::uint64_t value(const truth::Hit& hit, std::string_view field) const;
  std::size_t dropped_in(std::string_view place) const;

  std::string parents_come_first() const;
  std::string repeats_come_later() const;
  std::string fields_name_the_packet() const;
  std::string delivered_packets_are_covered() const;
  std::string unfinished_packets_have_no_output() const;
  std::string queues_add_up() const;
  std::string numbers_count_on(std::string_view where, std::string_view field,
                               std::uint64_t modulus) const;
  std::string harq_rounds_follow(std::string_view where) const;
  std::string am_repeats_cover_sent_bytes() const;
  std::string am_numbers_are_free_when_used() const;

 private:
  // The field's place among the point's values, or npos.
  std::size_t field_index(std::uint16_t point, std::string_view field) const;
  bool reaches_input(const truth::Hit& output, truth::PacketId packet) const;
  bool is_input(const truth::Hit& hit) const;
  bool is_output(const truth::Hit& hit) const;
  std::string show(const truth::Hit& hit) const;

  const truth::Truth& truth_;
  std::vector<std::vector<std::string>> fields_;          // of each point
  std::vector<std::vector<const truth::Hit*>> by_point_;  // hits
};

}  // namespace sojourn::basestation
