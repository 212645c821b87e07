#include "report/format/class_colors.h"

#include <algorithm>
#include <array>
#include <utility>

namespace llmprof::report {
namespace {

// Okabe and Ito's eight hues for the classes that take the most time, shades between them for the
// others. Each stands out from the background by 3 to 1, and any two differ for people with normal
// vision, protanopia and deuteranopia (class_colors_test.cpp).
constexpr std::array<NamedColor, 16> kClassColors = {{
    {"gemm", {"#0072b2", "#3698f5"}},
    {"gemv", {"#2f9bdc", "#b8e4ff"}},
    {"attention", {"#d55e00", "#f0813a"}},
    {"norm", {"#009e73", "#4fc9a0"}},
    {"rope", {"#0b4a3e", "#83d887"}},
    {"elementwise", {"#b38e0a", "#d9dd2b"}},
    {"copy/cast", {"#b0428c", "#e6a4e9"}},
    {"reduction", {"#6b4e0c", "#b07a10"}},
    {"softmax", {"#e4576b", "#fce3c3"}},
    {"sampling/top-k", {"#a4622a", "#ffb02e"}},
    {"embedding/gather", {"#8a4fd0", "#8f7fd0"}},
    {"moe routing", {"#40281c", "#94694a"}},
    {"quantise", {"#5f9aa0", "#e9ffa0"}},
    {"communication", {"#8e1f5c", "#d0378f"}},
    {"memset/memcpy", {"#2c2f86", "#4f6bf5"}},
    {"other", {"#6d6560", "#a39a92"}},
}};

constexpr std::array<NamedColor, 14> kPartColors = {{
    {"hidden CUDA graphs", {"#2b3a55", "#7a8bb0"}},
    {"idle: launch-bound", {"#8f98a6", "#6c7480"}},
    {"idle: synchronisation", {"#a3abb7", "#5f6772"}},
    {"idle: host between launches", {"#b6bdc7", "#535a65"}},
    {"idle: between queued kernels", {"#c6ccd4", "#484f58"}},
    {"idle: before the first GPU work", {"#d4d9df", "#3e444d"}},
    {"idle: after the last GPU work", {"#dfe3e8", "#353b43"}},
    {"before the first operator", {"#d4d9df", "#3e444d"}},
    {"after the last operator", {"#dfe3e8", "#353b43"}},
    {"between operators", {"#b6bdc7", "#535a65"}},
    {"idle: waiting for the slowest rank", {"#c9a3b8", "#6b3f57"}},
    {"waiting for the slowest rank", {"#c9a3b8", "#6b3f57"}},
    {"not traced", {"#eceff2", "#2a2f36"}},
    {"unattributed", {"#cfc8c0", "#4a4540"}},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kClassesOfParts = {{
    {"exposed communication", "communication"},
    {"memory copies and fills", "memset/memcpy"},
}};

template <class Range>
const NamedColor* find_color(const Range& colors, std::string_view name) {
  const auto* const found = std::find_if(
      colors.begin(), colors.end(), [&](const NamedColor& color) { return color.name == name; });
  return found == colors.end() ? nullptr : found;
}

}  // namespace

std::span<const NamedColor> class_colors() { return kClassColors; }

std::span<const NamedColor> part_colors() { return kPartColors; }

std::optional<std::string_view> class_of_part(std::string_view part) {
  for (const auto& [name, kernel_class] : kClassesOfParts) {
    if (name == part) return kernel_class;
  }
  if (const NamedColor* found = find_color(kClassColors, part)) return found->name;
  return std::nullopt;
}

Color color_of(std::string_view part) {
  if (const NamedColor* found = find_color(kPartColors, part)) return found->color;
  return find_color(kClassColors, class_of_part(part).value_or("other"))->color;
}

}  // namespace llmprof::report
