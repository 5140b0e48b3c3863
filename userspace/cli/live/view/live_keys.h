// The effects of keys on the screen of `sojourn live`: a key changes the view, or makes a request.
// One thread owns a LiveKeys.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/present/live/live_screen.h"
#include "userspace/live/terminal_screen.h"

namespace sojourn::cli {

class LiveKeys {
 public:
  enum class Wish : std::uint8_t {
    kNothing,
    kQuit,
    kPause,
    kRedraw,
    kFilter,   // by answer()
    kEnable,   // points, by answer()
    kDisable,  // the same
    kDump,
  };

  Wish press(const live_view::Key& key, std::size_t places, present::LiveScreen& screen);
  const std::string& answer() const { return answer_; }

 private:
  Wish answer_key(const live_view::Key& key, present::LiveScreen& screen);
  Wish character(char pressed, present::LiveScreen& screen);
  void ask(Wish wish, const char* question, std::string so_far, present::LiveScreen& screen);
  static void move(std::size_t places, int by, present::LiveScreen& screen);

  Wish asked_ = Wish::kNothing;
  std::string answer_;
  std::string filter_;  // the last one, to be changed
};

}  // namespace sojourn::cli
