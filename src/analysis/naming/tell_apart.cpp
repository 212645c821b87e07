#include "analysis/naming/tell_apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/naming/kernel_key.h"
#include "analysis/naming/short_name_canonical.h"
#include "analysis/naming/short_name_template.h"
#include "analysis/naming/short_name_types.h"
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

Parts between_underscores(std::string_view canonical) {
  Parts parts;
  while (!canonical.empty()) {
    const size_t end = std::min(canonical.find('_'), canonical.size());
    if (end > 0) parts.emplace_back(canonical.substr(0, end));
    canonical.remove_prefix(std::min(end + 1, canonical.size()));
  }
  return parts;
}

// What each has at the places where not all are the same; empty where that is not short, or does
// not tell every one from the others.
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

std::vector<std::string> how_they_differ(const std::vector<std::string>& canonical) {
  std::vector<Parts> parts;
  std::transform(canonical.begin(), canonical.end(), std::back_inserter(parts),
                 [](const std::string& name) { return template_arguments(name); });
  auto found = differences(parts);
  if (!found.empty()) return found;
  std::transform(canonical.begin(), canonical.end(), parts.begin(), [](const std::string& name) {
    return between_underscores(split_template(name).path);
  });
  return differences(parts);
}

}  // namespace

void tell_apart(std::vector<Namesake>& namesakes) {
  // One entry for each kernel, in the order of the alphabet, whatever the order of the capture.
  std::map<std::string, std::string> canonical_of_key;
  for (const Namesake& namesake : namesakes) {
    canonical_of_key.try_emplace(kernel_key(namesake.full_name),
                                 canonical_kernel_name(namesake.full_name));
  }
  if (canonical_of_key.size() < 2) return;
  std::vector<std::string> canonical;
  canonical.reserve(canonical_of_key.size());
  for (const auto& [key, name] : canonical_of_key) canonical.push_back(name);
  const std::vector<std::string> differ = how_they_differ(canonical);
  std::map<std::string, std::string> difference_of_key;
  size_t number = 0;
  for (const auto& [key, name] : canonical_of_key) {
    difference_of_key[key] =
        differ.empty() ? fmt::format("variant {}", number + 1) : differ[number];
    ++number;
  }
  for (Namesake& namesake : namesakes) {
    const std::string& difference = difference_of_key[kernel_key(namesake.full_name)];
    const size_t room = kLongestShortName - difference.size() - 3;
    namesake.short_name = fmt::format("{} [{}]", shortened(namesake.short_name, room), difference);
  }
}

}  // namespace llmprof::analysis
