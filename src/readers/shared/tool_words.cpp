#include "readers/shared/tool_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

#include "base/text.h"

namespace llmprof::readers {
namespace {

using trace::MemoryPlace;

struct Direction {
  std::string_view full;
  std::string_view brief;
};
constexpr std::array<Direction, 14> kDirections = {{{"Unknown", ""},
                                                    {"Host-to-Device", "HtoD"},
                                                    {"Device-to-Host", "DtoH"},
                                                    {"Host-to-Array", "HtoA"},
                                                    {"Array-to-Host", "AtoH"},
                                                    {"Array-to-Array", "AtoA"},
                                                    {"Array-to-Device", "AtoD"},
                                                    {"Device-to-Array", "DtoA"},
                                                    {"Device-to-Device", "DtoD"},
                                                    {"Host-to-Host", "HtoH"},
                                                    {"Peer-to-Peer", "PtoP"},
                                                    {"Unified Host-to-Device", ""},
                                                    {"Unified Device-to-Host", ""},
                                                    {"Unified Device-to-Device", ""}}};

}  // namespace

MemoryPlace nsys_memory_place(int64_t kind) {
  static constexpr std::array<MemoryPlace, 7> kPlaces = {
      MemoryPlace::pageable, MemoryPlace::pinned, MemoryPlace::device, MemoryPlace::array,
      MemoryPlace::managed,  MemoryPlace::device, MemoryPlace::managed};
  const bool known = kind >= 0 && std::cmp_less(kind, kPlaces.size());
  return known ? kPlaces[static_cast<size_t>(kind)] : MemoryPlace::unknown;
}

MemoryPlace named_memory_place(std::string_view name) {
  static constexpr std::pair<std::string_view, MemoryPlace> kNames[] = {
      {"Pageable", MemoryPlace::pageable},
      {"Pinned", MemoryPlace::pinned},
      {"Host", MemoryPlace::host},
      {"Device", MemoryPlace::device},
      {"Device Static", MemoryPlace::device},
      {"Array", MemoryPlace::array},
      {"Managed", MemoryPlace::managed},
      {"Managed Static", MemoryPlace::managed}};
  for (const auto& [spelling, place] : kNames) {
    if (name == spelling) return place;
  }
  return MemoryPlace::unknown;
}

std::string_view copy_direction(uint32_t kind) {
  return kDirections[kind < kDirections.size() ? kind : 0].full;
}

std::string_view copy_direction(std::string_view brief) {
  for (const Direction& direction : kDirections) {
    if (!brief.empty() && brief == direction.brief) return direction.full;
  }
  return brief;
}

std::string cuda_version(uint64_t number) {
  if (number < 1000 || number > 1'000'000) return {};
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::optional<int> time_unit_power(std::string_view unit) {
  static constexpr std::pair<std::string_view, int> kUnits[] = {
      {"ns", 0},           {"nsec", 0},    {"nsecond", 0},     {"nanosecond", 0},
      {"nanoseconds", 0},  {"us", 3},      {"\xC2\xB5s", 3},   {"\xCE\xBCs", 3},
      {"usec", 3},         {"usecond", 3}, {"microsecond", 3}, {"microseconds", 3},
      {"ms", 6},           {"msec", 6},    {"msecond", 6},     {"millisecond", 6},
      {"milliseconds", 6}, {"s", 9},       {"sec", 9},         {"second", 9},
      {"seconds", 9}};
  for (const auto& [name, power] : kUnits) {
    if (equals_ignoring_case(unit, name)) return power;
  }
  return std::nullopt;
}

std::optional<trace::Extent> parse_extent(std::string_view text) {
  trace::Extent extent{};
  size_t found = 0;
  while (!text.empty()) {
    const size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
    if (length > 0) {
      const auto value = parse_int(text.substr(0, length));
      if (!value || *value > UINT32_MAX || found == extent.size()) return std::nullopt;
      extent[found++] = static_cast<uint32_t>(*value);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return found == extent.size() ? std::optional(extent) : std::nullopt;
}

std::optional<uint32_t> rank_of_path(const std::filesystem::path& path) {
  constexpr int kMostFolders = 3;
  uint32_t rank = 0;
  const auto matches = [&](const std::filesystem::path& name, const std::string& pattern) {
    const std::string text = name.string();
    std::smatch found;
    if (!std::regex_match(text, found, std::regex(pattern, std::regex::icase))) return false;
    rank = static_cast<uint32_t>(parse_int(found[1].str()).value_or(0));
    return true;
  };
  // SGLang's processes of tensor parallelism number the ranks; a worker is PyTorch's own word. The
  // last of several counts; neither the word nor the number is a part of a longer one.
  for (const std::string word : {"rank", "tp-", "worker"}) {
    const std::string pattern = "(?:.*[^a-z0-9])?" + word + "[-_]?([0-9]{1,6})(?:[^a-z0-9].*)?";
    if (matches(path.filename(), pattern)) return rank;
  }
  std::filesystem::path folder = path.parent_path();
  for (int i = 0; i < kMostFolders && folder.has_filename(); ++i) {
    if (matches(folder.filename(), "rank[-_]?([0-9]{1,6})")) return rank;
    folder = folder.parent_path();
  }
  return std::nullopt;
}

}  // namespace llmprof::readers
