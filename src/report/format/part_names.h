#pragma once

#include <optional>
#include <string_view>

#include "profile/budget_parts.h"

namespace llmprof::report {

// For a light and for a dark background, "#0072b2".
struct Color {
  std::string_view light;
  std::string_view dark;
};

// The backgrounds that colors are chosen for.
inline constexpr Color kBackground{"#ffffff", "#15181e"};

// How a part of the budget or a class of kernels is shown; profile.json keeps the words of its
// contract ("quantise", "idle: synchronisation"). In every view and plot a color means a class of
// kernels, and shades of gray mean that nothing runs.
struct PartLook {
  std::string_view shown;
  std::string_view plain;  // for people who do not write kernels: "matrix products"
  std::string_view why;    // why a GPU was idle, a sentence; empty for work
  Color color;
};
PartLook look_of(profile::TimePart part);
PartLook look_of(profile::KernelClass kernel_class);

// The class of a part's kernels: communication for "exposed communication"; none for idle time.
std::optional<profile::KernelClass> class_of_part(profile::TimePart part);

template <class Name>
std::string_view shown_name(Name part) {
  return look_of(part).shown;
}
template <class Name>
std::string_view plain_part_name(Name part) {
  return look_of(part).plain;
}
template <class Name>
Color color_of(Name part) {
  return look_of(part).color;
}

// For a text: a part or a class in diff.json, a collective, a link, a format, the basis of a bound.
std::string_view shown_text(std::string_view name);

}  // namespace llmprof::report
