// Makes ncurses define functions only: its macros are called erase, move and the like.
#define NCURSES_NOMACROS 1

#include "userspace/live/terminal_screen.h"

#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <curses.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#undef lines  // <term.h> defines a macro for each capability

namespace sojourn::live_view {

namespace {

using present::Look;

enum Pair : short { kDownPair = 1, kUpPair, kBarPair, kSparkPair, kWarningPair, kBadPair };

// The bytes that the handler of a crash writes to leave the terminal usable. They are prepared in
// advance, because a handler may call next to nothing.
struct Restoration {
  termios before{};
  std::array<char, 256> words{};
  std::size_t size = 0;
};
Restoration restoration;

constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

void restore_and_die(int signal) {
  [[maybe_unused]] const ssize_t written =
      write(STDOUT_FILENO, restoration.words.data(), restoration.size);
  tcsetattr(STDIN_FILENO, TCSANOW, &restoration.before);
  // SA_RESETHAND: this time it ends the process as it would have.
  raise(signal);
}

void add_words(const char* capability) {
  const char* const words = tigetstr(capability);
  if (words == nullptr || reinterpret_cast<std::intptr_t>(words) == -1) return;
  const std::size_t size = std::strlen(words);
  if (size > restoration.words.size() - restoration.size) return;
  std::memcpy(restoration.words.data() + restoration.size, words, size);
  restoration.size += size;
}

void prepare_restoration() {
  restoration.size = 0;
  for (const char* const capability : {"sgr0", "cnorm", "rmkx", "rmcup"}) add_words(capability);
  struct sigaction action{};
  action.sa_handler = restore_and_die;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int fault : kFaults) sigaction(fault, &action, nullptr);
}

void forget_restoration() {
  for (const int fault : kFaults) signal(fault, SIG_DFL);
}

bool start_colours() {
  const char* const refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  if (!has_colors() || start_color() == ERR) return false;
  const short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
  init_pair(kDownPair, COLOR_CYAN, background);
  init_pair(kUpPair, COLOR_MAGENTA, background);
  init_pair(kBarPair, COLOR_CYAN, background);
  init_pair(kSparkPair, COLOR_GREEN, background);
  init_pair(kWarningPair, COLOR_YELLOW, background);
  init_pair(kBadPair, COLOR_RED, background);
  return true;
}

void set_modes() {
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, true);
  nodelay(stdscr, true);
  curs_set(0);
}

}  // namespace

Result<std::optional<TerminalScreen>> TerminalScreen::open() {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return std::nullopt;
  if (tcgetattr(STDIN_FILENO, &restoration.before) != 0) return std::nullopt;
  // Only the locale's encoding of characters is used. It is set for the whole process: ncurses does
  // not see a locale of one thread.
  std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe)
  const bool is_utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  set_escdelay(50);
  // initscr() would end the process if it does not know the terminal.
  const char* const term = std::getenv("TERM");
  if (newterm(nullptr, stdout, stdin) == nullptr)
    return fail("terminal \"{}\": not known to ncurses: --plain prints lines",
                term == nullptr ? "" : term);
  set_modes();
  const bool has_colours = start_colours();
  prepare_restoration();
  return std::optional<TerminalScreen>(
      TerminalScreen(is_utf8 ? present::Glyphs::kBlocks : present::Glyphs::kAscii, has_colours));
}

TerminalScreen::TerminalScreen(TerminalScreen&& other) noexcept
    : glyphs_(other.glyphs_),
      has_colours_(other.has_colours_),
      is_open_(std::exchange(other.is_open_, false)) {}

TerminalScreen::~TerminalScreen() {
  if (!is_open_) return;
  endwin();
  forget_restoration();
}

std::size_t TerminalScreen::width() const {
  return static_cast<std::size_t>(std::max(getmaxx(stdscr), 0));
}

std::size_t TerminalScreen::height() const {
  return static_cast<std::size_t>(std::max(getmaxy(stdscr), 0));
}

unsigned long TerminalScreen::attributes(Look look) const {
  const auto pair = [this](Pair which) -> chtype {
    return has_colours_ ? static_cast<chtype>(COLOR_PAIR(which)) : 0;
  };
  switch (look) {
    case Look::kPlain:
      return A_NORMAL;
    case Look::kDim:
      return A_DIM;
    case Look::kStrong:
    case Look::kKey:
      return A_BOLD;
    case Look::kTitle:
    case Look::kSelected:
      return A_REVERSE;
    case Look::kHeader:
      return A_BOLD | A_UNDERLINE;
    case Look::kDown:
      return A_BOLD | pair(kDownPair);
    case Look::kUp:
      return A_BOLD | pair(kUpPair);
    case Look::kBar:
      return pair(kBarPair);
    case Look::kSpark:
      return pair(kSparkPair);
    case Look::kWarning:
      return A_BOLD | pair(kWarningPair);
    case Look::kBad:
      return A_BOLD | pair(kBadPair);
  }
  return A_NORMAL;
}

void TerminalScreen::draw(const std::vector<present::ScreenLine>& lines, bool shows_cursor) {
  werase(stdscr);
  const int rows = getmaxy(stdscr);
  for (int row = 0; row < rows && static_cast<std::size_t>(row) < lines.size(); ++row) {
    wmove(stdscr, row, 0);
    for (const present::ScreenSpan& span : lines[static_cast<std::size_t>(row)]) {
      wattrset(stdscr, static_cast<int>(attributes(span.look)));
      // The last column of the last row does not take a character without scrolling, which is off.
      waddnstr(stdscr, span.text.c_str(), static_cast<int>(span.text.size()));
    }
  }
  wattrset(stdscr, A_NORMAL);
  curs_set(shows_cursor ? 1 : 0);
  wrefresh(stdscr);
}

std::optional<Key> TerminalScreen::next_key() {
  const int code = wgetch(stdscr);
  switch (code) {
    case ERR:
      return std::nullopt;
    case KEY_ENTER:
    case '\r':
    case '\n':
      return Key{.kind = Key::Kind::kEnter};
    case 27:
      return Key{.kind = Key::Kind::kEscape};
    case KEY_BACKSPACE:
    case 127:
    case 8:
      return Key{.kind = Key::Kind::kErase};
    case KEY_UP:
      return Key{.kind = Key::Kind::kUp};
    case KEY_DOWN:
      return Key{.kind = Key::Kind::kDown};
    case KEY_PPAGE:
      return Key{.kind = Key::Kind::kPageUp};
    case KEY_NPAGE:
      return Key{.kind = Key::Kind::kPageDown};
    default:
      return code > 255 ? Key{}
                        : Key{.kind = Key::Kind::kCharacter, .character = static_cast<char>(code)};
  }
}

void TerminalScreen::redraw() {
  clearok(stdscr, true);
}

void TerminalScreen::take_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row != 0 && size.ws_col != 0)
    resizeterm(size.ws_row, size.ws_col);
  redraw();
}

void TerminalScreen::suspend() {
  endwin();
  raise(SIGSTOP);
  // The process goes on here when the shell has brought it back.
  resume();
}

void TerminalScreen::resume() {
  set_modes();
  take_size();
}

}  // namespace sojourn::live_view
