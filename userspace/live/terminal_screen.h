// The terminal that `sojourn live` draws on, by ncurses: its own colours, none with NO_COLOR, at
// any size. The terminal is restored when this is destroyed, while the process is stopped, and when
// it dies by a fault. There is one at a time, and one thread owns it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/present/live/gauges.h"
#include "analysis/present/live/screen_line.h"

namespace sojourn::live_view {

struct Key {
  enum class Kind { kCharacter, kEnter, kEscape, kErase, kUp, kDown, kPageUp, kPageDown, kOther };
  Kind kind = Kind::kOther;
  char character = 0;  // a byte of UTF-8, or a control character
};

class TerminalScreen {
 public:
  // Fails if the terminal cannot do it.
  static Result<std::optional<TerminalScreen>> open();
  TerminalScreen(TerminalScreen&& other) noexcept;
  TerminalScreen& operator=(TerminalScreen&&) = delete;
  ~TerminalScreen();

  std::size_t width() const;
  std::size_t height() const;
  present::Glyphs glyphs() const { return glyphs_; }

  // `shows_cursor`: the user is typing, so the cursor stands behind the last line.
  void draw(const std::vector<present::ScreenLine>& lines, bool shows_cursor);
  std::optional<Key> next_key();  // nothing: no key was pressed

  void redraw();     // over the output of other programs
  void take_size();  // the terminal's size has changed
  void suspend();    // stops the process until the shell continues it
  void resume();     // other programs may have used the terminal meanwhile

 private:
  explicit TerminalScreen(present::Glyphs glyphs, bool has_colours)
      : glyphs_(glyphs), has_colours_(has_colours) {}

  unsigned long attributes(present::Look look) const;

  present::Glyphs glyphs_;
  bool has_colours_;
  bool is_open_ = true;
};

}  // namespace sojourn::live_view
