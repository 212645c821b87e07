#include "analysis/naming/distinguish.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/naming/kernel_key.h"
#include "analysis/naming/short_name_canonical.h"
#include "analysis/naming/short_name_operation.h"
#include "analysis/naming/short_name_template.h"
#include "base/demangle/demangle.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

// More than this of a short name is not given up for what differs.
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

// What each has at the places where not all are the same; empty where that is not short, or does
// not distinguish every one from the others.
std::vector<std::string> differences(const std::vector<Parts>& all) {
  const size_t count = all.front().size();
  const bool alike = std::all_of(all.begin(), all.end(),
                                 [&](const Parts& parts) { return parts.size() == count; });
  if (!alike) return {};
  std::vector<std::string> result(all.size());
  for (size_t place = 0; place < count; ++place) {
    const bool same = std::all_of(all.begin(), all.end(), [&](const Parts& parts) {
      return parts[place] == all.front()[place];
    });
    if (same) continue;
    for (size_t i = 0; i < all.size(); ++i) {
      result[i].append(result[i].empty() ? "" : ", ").append(all[i][place]);
    }
  }
  for (std::string& text : result) text = to_printable(text);
  const bool brief = std::all_of(result.begin(), result.end(), [](const std::string& text) {
    return !text.empty() && text.size() <= kLongestDifference;
  });
  const std::set<std::string> distinct(result.begin(), result.end());
  return brief && distinct.size() == result.size() ? result : std::vector<std::string>();
}

// "(float*, int)" of a function that is spelled with its parameters.
std::string parameters_of(std::string_view full_name) {
  std::string demangled;
  if (full_name.starts_with("_Z")) {
    if (auto plain = demangle(full_name)) {
      demangled = std::move(*plain);
      full_name = demangled;
    }
  }
  const std::string_view before = without_parameters(full_name);
  return std::string(trim(full_name.substr(before.size())));
}

// Of overloads, and of functions that namespaces distinguish.
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
      std::all_of(parts.begin(), parts.end(), [](const Parts& names) { return names.size() > 1; });
  if (!found.empty() && have_namespaces) return found;
  found = by([&](size_t i) { return between_underscores(path(i)); });
  if (!found.empty()) return found;
  return by([&](size_t i) { return signature(canonical[i], full_names[i]); });
}

}  // namespace

void distinguish(std::vector<Namesake>& namesakes) {
  // One entry for each kernel, in the order of the alphabet, whatever the order of the capture.
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
