#include "userspace/cli/live/view/live_keys.h"

#include <algorithm>
#include <utility>

namespace sojourn::cli {

using live_view::Key;
using present::LiveScreen;
using Wish = LiveKeys::Wish;

namespace {

constexpr char kControlL = 12;
constexpr char kControlU = 21;
constexpr int kPage = 8;

present::LiveSort next_sort(present::LiveSort sort, std::size_t steps) {
  return static_cast<present::LiveSort>((static_cast<std::size_t>(sort) + steps) %
                                        present::kLiveSorts);
}

// Several bytes may be one character.
void erase_last(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80U)
    text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

Wish LiveKeys::press(const Key& key, std::size_t places, LiveScreen& screen) {
  screen.message.clear();
  if (screen.question) return answer_key(key, screen);
  switch (key.kind) {
    case Key::Kind::kEscape:
      screen.helps = screen.chooses_columns = false;
      screen.selected = 0;
      return Wish::kNothing;
    case Key::Kind::kUp:
      move(places, -1, screen);
      return Wish::kNothing;
    case Key::Kind::kDown:
      move(places, 1, screen);
      return Wish::kNothing;
    case Key::Kind::kPageUp:
      move(places, -kPage, screen);
      return Wish::kNothing;
    case Key::Kind::kPageDown:
      move(places, kPage, screen);
      return Wish::kNothing;
    case Key::Kind::kCharacter:
      return character(key.character, screen);
    default:
      return Wish::kNothing;
  }
}

Wish LiveKeys::character(char pressed, LiveScreen& screen) {
  if (screen.chooses_columns && pressed >= '0' && pressed <= '9') {
    screen.columns.flip(static_cast<std::size_t>(pressed - '0'));
    return Wish::kNothing;
  }
  switch (pressed) {
    case 'q':
      return Wish::kQuit;
    case 'p':
    case ' ':
      return Wish::kPause;
    case 's':
      screen.sort = next_sort(screen.sort, 1);
      return Wish::kNothing;
    case 'S':
      screen.sort = next_sort(screen.sort, present::kLiveSorts - 1);
      return Wish::kNothing;
    case 't':
      screen.since_start = !screen.since_start;
      return Wish::kNothing;
    case 'c':
      screen.chooses_columns = !screen.chooses_columns;
      screen.helps = false;
      return Wish::kNothing;
    case '?':
    case 'h':
      screen.helps = !screen.helps;
      screen.chooses_columns = false;
      return Wish::kNothing;
    case '/':
      ask(Wish::kFilter, "filter: ", filter_, screen);
      return Wish::kNothing;
    case kControlL:
      return Wish::kRedraw;
    case 'e':
    case 'x':
    case 'd':
      if (screen.is_readonly) {
        screen.message = "not with --readonly";
        screen.is_error = true;
      } else if (pressed == 'd') {
        return Wish::kDump;
      } else {
        ask(pressed == 'e' ? Wish::kEnable : Wish::kDisable,
            pressed == 'e' ? "switch on the points: " : "switch off the points: ", "", screen);
      }
      return Wish::kNothing;
    default:
      return Wish::kNothing;
  }
}

void LiveKeys::ask(Wish wish, const char* question, std::string so_far, LiveScreen& screen) {
  asked_ = wish;
  screen.question = question;
  screen.answer = std::move(so_far);
}

Wish LiveKeys::answer_key(const Key& key, LiveScreen& screen) {
  switch (key.kind) {
    case Key::Kind::kEnter:
      answer_ = std::exchange(screen.answer, {});
      screen.question.reset();
      if (asked_ == Wish::kFilter)
        filter_ = answer_;
      else if (answer_.empty())
        return Wish::kNothing;
      return asked_;
    case Key::Kind::kEscape:
      screen.question.reset();
      screen.answer.clear();
      return Wish::kNothing;
    case Key::Kind::kErase:
      erase_last(screen.answer);
      return Wish::kNothing;
    case Key::Kind::kCharacter:
      if (key.character == kControlU)
        screen.answer.clear();
      else if (static_cast<unsigned char>(key.character) >= ' ')
        screen.answer += key.character;
      return Wish::kNothing;
    default:
      return Wish::kNothing;
  }
}

void LiveKeys::move(std::size_t places, int by, LiveScreen& screen) {
  if (places == 0) return;
  const auto last = static_cast<std::int64_t>(places) - 1;
  screen.selected = static_cast<std::size_t>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(screen.selected) + by, 0, last));
}

}  // namespace sojourn::cli
