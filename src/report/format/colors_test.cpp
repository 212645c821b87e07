#include "report/format/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "report/format/memory_words.h"
#include "report/format/request_words.h"

namespace llmprof::report {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

Triple linear(std::string_view hex) {
  Triple out{};
  for (size_t i = 0; i < out.size(); ++i) {
    const double value = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    out[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return out;
}

Triple times(const Matrix& matrix, const Triple& in) {
  Triple out{};
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t j = 0; j < in.size(); ++j) out[i] += matrix[i][j] * in[j];
  }
  return out;
}

double luminance(std::string_view hex) {
  const Triple rgb = linear(hex);
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

// As WCAG defines it.
double contrast(std::string_view a, std::string_view b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

// OKLab, a color space whose distances approximate perceived ones; black to white is 1.
Triple oklab(const Triple& rgb) {
  constexpr Matrix kCones = {{{0.4122214708, 0.5363325363, 0.0514459929},
                              {0.2119034982, 0.6806995451, 0.1073969566},
                              {0.0883024619, 0.2817188376, 0.6299787005}}};
  constexpr Matrix kLab = {{{0.2104542553, 0.7936177850, -0.0040720468},
                            {1.9779984951, -2.4285922050, 0.4505937099},
                            {0.0259040371, 0.7827717662, -0.8086757660}}};
  Triple cones = times(kCones, rgb);
  for (double& cone : cones) cone = std::cbrt(std::max(cone, 0.0));
  return times(kLab, cones);
}

// How people see linear RGB (Machado, Oliveira and Fernandes, 2009), and how far apart any two
// colors must be for them.
struct Vision {
  std::string_view name;
  Matrix seen;
  double least;
};
constexpr std::array<Vision, 3> kVisions = {{
    {"normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 0.06},
    {"protanopia",
     {{{0.152286, 1.052583, -0.204868},
       {0.114503, 0.786281, 0.099216},
       {-0.003882, -0.048116, 1.051998}}},
     0.03},
    {"deuteranopia",
     {{{0.367322, 0.860646, -0.227968},
       {0.280085, 0.672501, 0.047413},
       {-0.011820, 0.042940, 0.968881}}},
     0.03},
}};

double distance(std::string_view a, std::string_view b, const Matrix& seen) {
  Triple left = times(seen, linear(a));
  Triple right = times(seen, linear(b));
  for (double& value : left) value = std::clamp(value, 0.0, 1.0);
  for (double& value : right) value = std::clamp(value, 0.0, 1.0);
  left = oklab(left);
  right = oklab(right);
  return std::hypot(left[0] - right[0], left[1] - right[1], left[2] - right[2]);
}

// Parts of a request's time that have a hue: the others are shades of gray.
std::vector<RequestPart> hued_request_parts() {
  std::vector<RequestPart> parts;
  for (const auto& word : profile::kWords<RequestPart>) {
    if (word.value != RequestPart::queue && word.value != RequestPart::not_recorded) {
      parts.push_back(word.value);
    }
  }
  return parts;
}

TEST(RequestPartColors, StandOutFromTheBackground) {
  for (const RequestPart part : hued_request_parts()) {
    const Color color = look_of(part).color;
    EXPECT_GE(contrast(color.light, kBackground.light), 3.0) << to_string(part);
    EXPECT_GE(contrast(color.dark, kBackground.dark), 3.0) << to_string(part);
  }
}

TEST(RequestPartColors, DifferForTheColorBlindToo) {
  for (const Vision& vision : kVisions) {
    for (const RequestPart a : hued_request_parts()) {
      for (const RequestPart b : hued_request_parts()) {
        if (a >= b) continue;
        const Color one = look_of(a).color;
        const Color other = look_of(b).color;
        EXPECT_GE(distance(one.light, other.light, vision.seen), vision.least)
            << vision.name << ", light: " << to_string(a) << " and " << to_string(b);
        EXPECT_GE(distance(one.dark, other.dark, vision.seen), vision.least)
            << vision.name << ", dark: " << to_string(a) << " and " << to_string(b);
      }
    }
  }
}

TEST(LedgerPartColors, StandOutFromTheBackground) {
  for (const auto& word : profile::kWords<profile::LedgerPart>) {
    const Color color = look_of(word.value).color;
    EXPECT_GE(contrast(color.light, kBackground.light), 3.0) << word.name;
    EXPECT_GE(contrast(color.dark, kBackground.dark), 3.0) << word.name;
  }
}

TEST(LedgerPartColors, DifferForTheColorBlindToo) {
  for (const Vision& vision : kVisions) {
    for (const auto& a : profile::kWords<profile::LedgerPart>) {
      for (const auto& b : profile::kWords<profile::LedgerPart>) {
        if (a.value >= b.value) continue;
        const Color one = look_of(a.value).color;
        const Color other = look_of(b.value).color;
        EXPECT_GE(distance(one.light, other.light, vision.seen), vision.least)
            << vision.name << ", light: " << a.name << " and " << b.name;
        EXPECT_GE(distance(one.dark, other.dark, vision.seen), vision.least)
            << vision.name << ", dark: " << a.name << " and " << b.name;
      }
    }
  }
}

TEST(ClassColors, StandOutFromTheBackground) {
  for (const auto& word : profile::kWords<profile::KernelClass>) {
    const Color color = look_of(word.value).color;
    EXPECT_GE(contrast(color.light, kBackground.light), 3.0) << word.name;
    EXPECT_GE(contrast(color.dark, kBackground.dark), 3.0) << word.name;
  }
}

TEST(ClassColors, DifferForTheColorBlindToo) {
  for (const Vision& vision : kVisions) {
    for (const auto& a : profile::kWords<profile::KernelClass>) {
      for (const auto& b : profile::kWords<profile::KernelClass>) {
        if (a.name >= b.name) continue;
        EXPECT_GE(distance(look_of(a.value).color.light, look_of(b.value).color.light, vision.seen),
                  vision.least)
            << vision.name << ", light: " << a.name << " and " << b.name;
        EXPECT_GE(distance(look_of(a.value).color.dark, look_of(b.value).color.dark, vision.seen),
                  vision.least)
            << vision.name << ", dark: " << a.name << " and " << b.name;
      }
    }
  }
}

TEST(ClassColors, PartsOfABudgetHaveTheColorOfTheirClass) {
  using enum profile::KernelClass;
  using enum profile::TimePart;
  EXPECT_EQ(look_of(gemm).color.light, "#0072b2");
  EXPECT_EQ(look_of(exposed_communication).color.light, look_of(communication).color.light);
  EXPECT_EQ(class_of_part(memory_operations), memory);
  EXPECT_EQ(class_of_part(idle_launch), std::nullopt);
  EXPECT_NE(look_of(idle_launch).color.light, look_of(other).color.light);
  const auto unknown = *profile::read_word<profile::KernelClass>("a class of the future");
  EXPECT_EQ(look_of(unknown).color.light, look_of(other).color.light);
  EXPECT_EQ(look_of(unknown).shown, "a class of the future");
}

}  // namespace
}  // namespace llmprof::report
