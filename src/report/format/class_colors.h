#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace llmprof::report {

// On a light and on a dark background, "#0072b2".
struct Color {
  std::string_view light;
  std::string_view dark;
};

// The backgrounds that colors are chosen for.
inline constexpr Color kBackground{"#ffffff", "#15181e"};

struct NamedColor {
  std::string_view name;  // as profile.json spells it
  Color color;
};

// A color means a class of kernels, in every view and plot. In the order of the classes in
// conf/kernels.yaml, all of them.
std::span<const NamedColor> class_colors();

// The parts of a budget that are no class of kernels: shades of gray where nothing runs.
std::span<const NamedColor> part_colors();

// The class whose work a part of the budget is: "communication" of "exposed communication"; none of
// idle time.
std::optional<std::string_view> class_of_part(std::string_view part);

// Of a class, or of a part of the budget. What has no color of its own gets that of "other".
Color color_of(std::string_view part);

}  // namespace llmprof::report
