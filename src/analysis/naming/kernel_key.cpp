#include "analysis/naming/kernel_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/naming/short_name.h"
#include "base/demangle/demangle.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kLongestName = 64UL << 10U;

// Length of a cast such as "(int)" in front of a number; 0 if there is none.
size_t cast_length(std::string_view text) {
  constexpr std::array<std::string_view, 12> kCasts = {
      "(int)",           "(bool)",        "(unsigned int)", "(unsigned long)",
      "(long)",          "(char)",        "(short)",        "(unsigned short)",
      "(unsigned char)", "(signed char)", "(long long)",    "(unsigned long long)"};
  for (const std::string_view cast : kCasts) {
    if (!text.starts_with(cast) || text.size() == cast.size()) continue;
    const char next = text[cast.size()];
    if (is_digit(next) || next == '-') return cast.size();
  }
  return 0;
}

// Writes "{lambda(float)#2}" for nsys's "[lambda(float) (instance 2)]" at the front of `text`;
// returns the length it replaces.
size_t lambda_length(std::string_view text, std::string& key) {
  constexpr std::string_view kOpen = "[lambda";
  constexpr std::string_view kInstance = "(instance ";
  if (!text.starts_with(kOpen)) return 0;
  const size_t instance = text.find(kInstance);
  if (instance == std::string_view::npos) return 0;
  size_t end = instance + kInstance.size();
  while (end < text.size() && is_digit(text[end])) ++end;
  if (!text.substr(end).starts_with(")]")) return 0;
  key += "{lambda";
  key += kernel_key(text.substr(kOpen.size(), instance - kOpen.size()));
  key += '#';
  key += text.substr(instance + kInstance.size(), end - instance - kInstance.size());
  key += '}';
  return end + 2;
}

size_t unnamed_length(std::string_view text) {
  constexpr std::array<std::string_view, 2> kUnnamed = {"<unnamed>::", "(anonymous namespace)::"};
  for (const std::string_view unnamed : kUnnamed) {
    if (text.starts_with(unnamed)) return unnamed.size();
  }
  return 0;
}

// A word before "::" is a namespace or a class and is dropped.
std::string canonical(std::string_view name) {
  std::string key;
  key.reserve(name.size());
  size_t word = 0;  // where the current identifier starts in `key`
  for (size_t i = 0; i < name.size();) {
    if (is_identifier(name[i])) {
      key += name[i++];
      continue;
    }
    const std::string_view rest = name.substr(i);
    if (const size_t cast = cast_length(rest); cast > 0) {
      i += cast;
    } else if (const size_t lambda = lambda_length(rest, key); lambda > 0) {
      i += lambda;
      word = key.size();
    } else if (const size_t unnamed = unnamed_length(rest); unnamed > 0) {
      i += unnamed;
    } else if (rest.starts_with("::")) {
      key.resize(word);
      i += 2;
    } else {
      if (name[i] != ' ') key += name[i];
      word = key.size();
      ++i;
    }
  }
  return key;
}

// The name itself if it is not mangled.
std::string demangled(std::string_view name) {
  auto plain = name.starts_with("_Z") ? demangle(name) : std::nullopt;
  return plain ? std::move(*plain) : std::string(name);
}

// A demangled name without the "(...)" of its parameters.
std::string_view without_parameters(std::string_view name) {
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (!name.ends_with(')')) return name;
  size_t depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

// A difference may take at most this much of a short name.
constexpr size_t kLongestDifference = 28;

using Parts = std::vector<std::string>;

std::string spoken_argument(std::string_view argument) {
  std::string type = spoken_type(argument);
  if (!type.empty()) return type;
  return argument.find_first_of("<{(") == std::string_view::npos
             ? std::string(argument.substr(argument.rfind(':') + 1))
             : std::string(own_identifier(argument));
}

Parts template_arguments(std::string_view canonical) {
  const TemplateName name = split_template(canonical);
  Parts parts;
  parts.reserve(name.args.size());
  for (const std::string_view argument : name.args) parts.push_back(spoken_argument(argument));
  return parts;
}

// Each name's parts at the positions that are not the same in all; empty if they are not short or
// do not distinguish all names.
std::vector<std::string> differences(const std::vector<Parts>& all) {
  const size_t count = all.front().size();
  const bool alike =
      std::ranges::all_of(all, [&](const Parts& parts) { return parts.size() == count; });
  if (!alike) return {};
  std::vector<std::string> result(all.size());
  for (size_t place = 0; place < count; ++place) {
    const bool same = std::ranges::all_of(
        all, [&](const Parts& parts) { return parts[place] == all.front()[place]; });
    if (same) continue;
    for (size_t i = 0; i < all.size(); ++i) {
      result[i].append(result[i].empty() ? "" : ", ").append(all[i][place]);
    }
  }
  for (std::string& text : result) text = to_printable(text);
  const bool brief = std::ranges::all_of(result, [](const std::string& text) {
    return !text.empty() && text.size() <= kLongestDifference;
  });
  const std::set<std::string> distinct(result.begin(), result.end());
  return brief && distinct.size() == result.size() ? result : std::vector<std::string>();
}

// "(float*, int)" of a function that is spelled with its parameters.
std::string parameters_of(std::string_view full_name) {
  const std::string name = demangled(full_name);
  return std::string(trim(std::string_view(name).substr(without_parameters(name).size())));
}

// For overloads, and for functions that only their namespaces distinguish.
Parts signature(std::string_view canonical, std::string_view full_name) {
  Parts parts = template_arguments(canonical);
  for (std::string& name : split_at("::", split_template(canonical).path)) {
    parts.push_back(std::move(name));
  }
  parts.push_back(parameters_of(full_name));
  return parts;
}

std::vector<std::string> how_they_differ(const std::vector<std::string>& canonical,
                                         const std::vector<std::string_view>& full_names) {
  std::vector<Parts> parts(canonical.size());
  const auto by = [&](const auto& parts_of) {
    for (size_t i = 0; i < canonical.size(); ++i) parts[i] = parts_of(i);
    return differences(parts);
  };
  const auto path = [&](size_t i) { return split_template(canonical[i]).path; };
  auto found = by([&](size_t i) { return template_arguments(canonical[i]); });
  if (!found.empty()) return found;
  found = by([&](size_t i) { return split_at("::", path(i)); });
  const bool have_namespaces =
      std::ranges::all_of(parts, [](const Parts& names) { return names.size() > 1; });
  if (!found.empty() && have_namespaces) return found;
  found = by([&](size_t i) { return between_underscores(path(i)); });
  if (!found.empty()) return found;
  return by([&](size_t i) { return signature(canonical[i], full_names[i]); });
}

}  // namespace

std::string kernel_key(std::string_view name) {
  const std::string plain = demangled(name.substr(0, kLongestName));
  name = plain;
  if (name.starts_with("void ")) name.remove_prefix(5);
  return canonical(without_parameters(name));
}

void distinguish(std::vector<Namesake>& namesakes) {
  // One entry per kernel, in alphabetical order, independent of the capture's order.
  std::map<std::string_view, std::string_view> name_of_kernel;
  for (const Namesake& namesake : namesakes) {
    name_of_kernel.try_emplace(namesake.kernel, namesake.full_name);
  }
  if (name_of_kernel.size() < 2) return;
  std::vector<std::string> canonical;
  std::vector<std::string_view> full_names;
  for (const auto& [kernel, name] : name_of_kernel) {
    canonical.push_back(canonical_kernel_name(name));
    full_names.push_back(name);
  }
  const std::vector<std::string> differ = how_they_differ(canonical, full_names);
  std::map<std::string_view, std::string> difference_of_kernel;
  size_t number = 0;
  for (const auto& [kernel, name] : name_of_kernel) {
    difference_of_kernel[kernel] =
        differ.empty() ? fmt::format("variant {}", number + 1) : differ[number];
    ++number;
  }
  for (Namesake& namesake : namesakes) {
    const std::string& difference = difference_of_kernel[namesake.kernel];
    const size_t room = kLongestShortName - difference.size() - 3;
    namesake.short_name = fmt::format("{} [{}]", shortened(namesake.short_name, room), difference);
  }
}

}  // namespace llmprof::analysis
