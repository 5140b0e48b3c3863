#include "userspace/coarse/functions/function_names.h"

#include <algorithm>

#include <fnmatch.h>

#include "userspace/coarse/functions/written_name.h"
#include "userspace/symbols/demangle.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::string_view kTag = "[abi:";
constexpr std::string_view kThunk = "thunk to ";

// The place of "(int) const" in "f(int) const"; the end if there are no parameters.
std::size_t parameters_at(std::string_view shown) {
  const std::size_t last = shown.rfind(')');
  if (last == std::string_view::npos) return shown.size();
  int depth = 0;
  for (std::size_t at = last + 1; at-- > 0;) {
    if (shown[at] == ')') ++depth;
    if (shown[at] == '(' && --depth == 0) return at == 0 ? shown.size() : at;
  }
  return shown.size();
}

// The place of the name behind the return type, which demanglers show for template instances.
std::size_t name_at(std::string_view name) {
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    const char c = name[at];
    if (c == '>' || c == ')') ++depth;
    if (c == '<' || c == '(') --depth;
    if (c == ' ' && depth == 0 && !name.substr(0, at).ends_with("operator")) return at + 1;
  }
  return 0;
}

bool ends_with_part(std::string_view name, std::string_view pattern) {
  return name.size() > pattern.size() + 2 && name.ends_with(pattern) &&
         name.substr(0, name.size() - pattern.size()).ends_with("::");
}

// Where the parts of "rlc::Tx<a::b>::send" begin, the last one first.
std::vector<std::size_t> starts_of_parts(std::string_view name) {
  std::vector<std::size_t> starts;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 1;) {
    if (name[at] == '>' || name[at] == ')') ++depth;
    if (name[at] == '<' || name[at] == '(') --depth;
    if (depth == 0 && name[at] == ':' && name[at - 1] == ':') starts.push_back(at + 1);
  }
  starts.push_back(0);
  return starts;
}

// Removes ABI tags: "f[abi:cxx11](int)" is how functions that return a std::string are shown.
std::string without_tags(std::string name) {
  for (std::size_t at = 0; (at = name.find(kTag, at)) != std::string::npos;) {
    const std::size_t end = name.find(']', at);
    if (end == std::string::npos) break;
    name.erase(at, end + 1 - at);
  }
  return name;
}

bool fits_glob(std::string_view text, std::string_view pattern) {
  return fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), 0) == 0;
}

}  // namespace

FunctionName function_name(std::string_view linked) {
  // A library's symbol table has versions behind its names: "read@@GLIBC_2.2.5".
  linked = linked.substr(0, std::max<std::size_t>(1, std::min(linked.find('@'), linked.size())));
  FunctionName name{.linked = std::string(linked), .shown = {}, .clone = Clone::kNone};
  // A C name may begin with a dot.
  const std::size_t suffix = linked.find('.', 1);
  const std::string_view what =
      suffix == std::string_view::npos ? std::string_view() : linked.substr(suffix);
  if (what.contains(".cold") || what.contains(".part."))
    name.clone = Clone::kPiece;
  else if (what.contains(".constprop.") || what.contains(".isra."))
    name.clone = Clone::kChanged;
  name.shown = without_tags(symbols::demangled(linked.substr(0, suffix)));
  name.is_thunk = is_thunk(linked);
  return name;
}

bool is_thunk(std::string_view linked) {
  return linked.starts_with("_ZTh") || linked.starts_with("_ZTv") || linked.starts_with("_ZTc");
}

std::string_view behind_thunk(std::string_view name) {
  for (const std::string_view kind : {"", "non-virtual ", "virtual ", "covariant return "})
    if (name.starts_with(kind) && name.substr(kind.size()).starts_with(kThunk))
      return name.substr(kind.size() + kThunk.size());
  return name;
}

std::string_view without_parameters(std::string_view shown) {
  const std::string_view name = shown.substr(0, parameters_at(shown));
  return name.substr(name_at(name));
}

std::string place_name(std::string_view shown, std::size_t longest) {
  std::string name = tracee::printable(without_parameters(shown)).substr(0, longest);
  std::ranges::replace(name, ' ', '_');
  for (auto at = name.find("--"); at != std::string::npos; at = name.find("--"))
    name.replace(at, 2, "__");
  return name;
}

std::vector<std::string> shortest_names(std::span<const std::string> names) {
  constexpr std::size_t kLeastParts = 2;
  std::vector<std::string> shortest;
  shortest.reserve(names.size());
  for (const std::string& name : names) {
    const auto starts = starts_of_parts(name);
    const auto tells_it = [&](std::size_t start) {
      const std::string_view ending = std::string_view(name).substr(start);
      return std::ranges::count_if(names, [&](const std::string& other) {
               return other == ending || ends_with_part(other, ending);
             }) == 1;
    };
    std::size_t part = std::min(kLeastParts, starts.size()) - 1;
    while (part + 1 < starts.size() && !tells_it(starts[part])) ++part;
    shortest.push_back(name.substr(starts[part]));
  }
  return shortest;
}

std::string_view last_part(std::string_view shown) {
  const std::string_view name = without_parameters(shown);
  const std::string_view plain = name.ends_with('>') ? name.substr(0, name.find('<')) : name;
  const std::size_t colons = plain.rfind("::");
  return colons == std::string_view::npos ? plain : plain.substr(colons + 2);
}

namespace {

// "virtual thunk to f": that kind only. "thunk to f": any.
Fit fit_thunk(const FunctionName& thunk, std::string_view pattern) {
  const std::string_view wanted = behind_thunk(pattern);
  if (wanted.size() == pattern.size())
    return pattern.starts_with("_ZT") && fits_glob(thunk.linked, pattern) ? Fit::kGlob : Fit::kNot;
  const std::string_view kind = pattern.substr(0, pattern.size() - wanted.size());
  if (kind != kThunk && !thunk.shown.starts_with(kind)) return Fit::kNot;
  const FunctionName function{.linked = {},
                              .shown = std::string(behind_thunk(thunk.shown)),
                              .clone = thunk.clone,
                              .is_thunk = false};
  return fit(function, wanted);
}

}  // namespace

Fit fit(const FunctionName& name, std::string_view pattern) {
  if (name.linked == pattern) return Fit::kWhole;
  // A part (.cold) is fitted by its symbol only, because its demangled name is that of its
  // function.
  if (name.clone == Clone::kPiece) return Fit::kNot;
  if (pattern.contains(kTag))
    if (const std::string plain = without_tags(std::string(pattern)); plain != pattern)
      return fit(name, plain);
  if (name.is_thunk) return fit_thunk(name, pattern);
  if (name.shown == pattern) return Fit::kWhole;
  const std::string_view bare = without_parameters(name.shown);
  if (bare == pattern) return Fit::kWhole;
  const std::string_view full =
      std::string_view(name.shown)
          .substr(static_cast<std::size_t>(bare.data() - name.shown.data()));
  if (full == pattern) return Fit::kWhole;
  if (ends_with_part(bare, pattern) || ends_with_part(full, pattern)) return Fit::kEnding;
  switch (pattern.empty() ? Likeness::kNone : likeness(full, pattern)) {
    case Likeness::kSame:
      return Fit::kWhole;
    case Likeness::kEnding:
      return Fit::kEnding;
    case Likeness::kNone:
      break;
  }
  if (pattern.find_first_of("*?[") == std::string_view::npos) return Fit::kNot;
  return fits_glob(name.linked, pattern) || fits_glob(bare, pattern) || fits_glob(full, pattern)
             ? Fit::kGlob
             : Fit::kNot;
}

}  // namespace sojourn::coarse
