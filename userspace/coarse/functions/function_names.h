// Names of functions, mangled and demangled, and which of them a name in a map fits. No state.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::coarse {

// The meaning of a compiler's suffix of a symbol, such as "f.constprop.0".
enum class Clone {
  kNone,     // the function itself, also where the linker made the name unique
  kChanged,  // .constprop, .isra: its arguments are not those of the source
  kPiece,    // .cold, .part: not the function's beginning
};

// A thunk corrects `this`, or the result, for a call through a base class, and goes on to the
// method. It is another function, although it is shown with the method's name.
struct FunctionName {
  std::string linked;  // "_ZN3rlc2Tx4sendEi.constprop.0"
  std::string shown;   // "rlc::Tx::send(int)", "non-virtual thunk to rlc::Tx::send(int)"
  Clone clone = Clone::kNone;
  bool is_thunk = false;
};

FunctionName function_name(std::string_view linked);

// Returns whether the mangled name is a thunk's: _ZTh, _ZTv or _ZTc.
bool is_thunk(std::string_view linked);
// "rlc::Tx::send(int)" of "virtual thunk to rlc::Tx::send(int)", and of "thunk to ..." in a map. A
// name of no thunk is returned unchanged.
std::string_view behind_thunk(std::string_view name);

// "rlc::Tx::send" of "void rlc::Tx::send<int>(int) const" would be "rlc::Tx::send<int>".
std::string_view without_parameters(std::string_view shown);
// The function's name as the name of a place, cut to its longest length.
std::string place_name(std::string_view shown, std::size_t longest);
// Each name with its class, "Tx::send", and with as many more namespaces in front as it takes to
// tell it from the others.
std::vector<std::string> shortest_names(std::span<const std::string> names);
// "send"
std::string_view last_part(std::string_view shown);

// From the best fit to none. A thunk is fitted by "thunk to NAME" only.
enum class Fit {
  kWhole,   // the linker's name, or people's, with parameters or without (written_name.h)
  kEnding,  // the demangled name, without namespaces or classes in front
  kGlob,
  kNot,
};
Fit fit(const FunctionName& name, std::string_view pattern);

}  // namespace sojourn::coarse
