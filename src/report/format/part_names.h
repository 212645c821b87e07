#pragma once

#include <optional>
#include <string_view>

#include "profile/budget_parts.h"

namespace llmprof::report {

// On a light and on a dark background, "#0072b2".
struct Color {
  std::string_view light;
  std::string_view dark;
};

// The backgrounds that colors are chosen for.
inline constexpr Color kBackground{"#ffffff", "#15181e"};

// How readers meet a part of the budget or a class of kernels; profile.json keeps the words of its
// contract ("quantise", "idle: synchronisation"). A color means a class of kernels in every view
// and plot, and shades of gray that nothing runs.
struct PartLook {
  std::string_view shown;
  std::string_view plain;  // for people who write no kernels: "matrix products"
  std::string_view why;    // why a GPU had nothing to do then, a sentence; empty of work
  Color color;
};
PartLook look_of(profile::TimePart part);
PartLook look_of(profile::KernelClass kernel_class);

// The class whose work a part of the budget is: communication of "exposed communication"; none of
// idle time.
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

// Of a text: a part or a class as diff.json has it, a collective, a link, a format, the basis of a
// bound.
std::string_view shown_text(std::string_view name);

}  // namespace llmprof::report
