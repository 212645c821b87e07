#include "analysis/naming/short_name_types.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

using Spelling = std::pair<std::string_view, std::string_view>;

// The last component of the type's name, in the order of the alphabet.
constexpr std::array kFloats = {
    Spelling{"BFloat16", "bf16"},
    Spelling{"Float4_e2m1fn_x2", "fp4"},
    Spelling{"Float8_e4m3fn", "fp8 e4m3"},
    Spelling{"Float8_e5m2", "fp8 e5m2"},
    Spelling{"Float8_e8m0fnu", "fp8 e8m0"},
    Spelling{"Half", "f16"},
    Spelling{"_Float16", "f16"},
    Spelling{"__half", "f16"},
    Spelling{"__half2", "f16"},
    Spelling{"__hip_bfloat16", "bf16"},
    Spelling{"__hip_fp8_e4m3", "fp8 e4m3"},
    Spelling{"__hip_fp8_e4m3_fnuz", "fp8 e4m3"},
    Spelling{"__hip_fp8_e5m2", "fp8 e5m2"},
    Spelling{"__nv_bfloat16", "bf16"},
    Spelling{"__nv_bfloat162", "bf16"},
    Spelling{"__nv_fp4_e2m1", "fp4"},
    Spelling{"__nv_fp8_e4m3", "fp8 e4m3"},
    Spelling{"__nv_fp8_e5m2", "fp8 e5m2"},
    Spelling{"bf16", "bf16"},
    Spelling{"bf16_t", "bf16"},
    Spelling{"bf16bf16", "bf16"},
    Spelling{"bfloat16", "bf16"},
    Spelling{"bfloat16_t", "bf16"},
    Spelling{"complex<double>", "c128"},
    Spelling{"complex<float>", "c64"},
    Spelling{"double", "f64"},
    Spelling{"e4m3", "fp8 e4m3"},
    Spelling{"e4m3bf16", "fp8 e4m3"},
    Spelling{"e4m3e4m3", "fp8 e4m3"},
    Spelling{"e4m3f16", "fp8 e4m3"},
    Spelling{"e4m3f32", "fp8 e4m3"},
    Spelling{"f16", "f16"},
    Spelling{"f16f16", "f16"},
    Spelling{"f32", "f32"},
    Spelling{"f32f32", "f32"},
    Spelling{"f64", "f64"},
    Spelling{"float", "f32"},
    Spelling{"float16", "f16"},
    Spelling{"float8_e4m3fn", "fp8 e4m3"},
    Spelling{"float8_e5m2", "fp8 e5m2"},
    Spelling{"float_e2m1_t", "fp4"},
    Spelling{"float_e4m3_t", "fp8 e4m3"},
    Spelling{"float_e5m2_t", "fp8 e5m2"},
    Spelling{"fp16", "f16"},
    Spelling{"fp16_t", "f16"},
    Spelling{"fp8", "fp8"},
    Spelling{"fp8_t", "fp8"},
    Spelling{"half", "f16"},
    Spelling{"half_t", "f16"},
    Spelling{"hip_bfloat16", "bf16"},
    Spelling{"nv_bfloat16", "bf16"},
    Spelling{"nv_half", "f16"},
    Spelling{"nvfp4", "fp4"},
    Spelling{"s8s8", "i8"},
    Spelling{"tf32", "tf32"},
    Spelling{"tf32f32", "tf32"},
    Spelling{"tfloat32_t", "tf32"},
};
constexpr std::array kIntegers = {
    Spelling{"bool", "bool"},
    Spelling{"char", "i8"},
    Spelling{"i16", "i16"},
    Spelling{"i32", "i32"},
    Spelling{"i64", "i64"},
    Spelling{"i8", "i8"},
    Spelling{"int", "i32"},
    Spelling{"int16_t", "i16"},
    Spelling{"int32", "i32"},
    Spelling{"int32_t", "i32"},
    Spelling{"int64", "i64"},
    Spelling{"int64_t", "i64"},
    Spelling{"int8", "i8"},
    Spelling{"int8_t", "i8"},
    Spelling{"long", "i64"},
    Spelling{"long long", "i64"},
    Spelling{"short", "i16"},
    Spelling{"signed char", "i8"},
    Spelling{"u32", "u32"},
    Spelling{"u64", "u64"},
    Spelling{"u8", "u8"},
    Spelling{"uint32_t", "u32"},
    Spelling{"uint64_t", "u64"},
    Spelling{"uint8", "u8"},
    Spelling{"uint8_t", "u8"},
    Spelling{"unsigned char", "u8"},
    Spelling{"unsigned int", "u32"},
    Spelling{"unsigned long", "u64"},
    Spelling{"unsigned long long", "u64"},
    Spelling{"unsigned short", "u16"},
};

template <size_t N>
std::string_view look_up(const std::array<Spelling, N>& table, std::string_view type) {
  const auto* found = std::lower_bound(
      table.begin(), table.end(), type,
      [](const Spelling& entry, std::string_view wanted) { return entry.first < wanted; });
  return found != table.end() && found->first == type ? found->second : std::string_view();
}

std::string_view last_component(std::string_view type) {
  const size_t colon = type.substr(0, type.find('<')).rfind("::");
  return colon == std::string_view::npos ? type : type.substr(colon + 2);
}

bool is_type_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == ':';
}

}  // namespace

std::string spoken_type(std::string_view type) {
  type = trim(type);
  while (!type.empty() && (type.back() == '*' || type.back() == '&' || type.back() == ' ')) {
    type.remove_suffix(1);
  }
  type = last_component(type);
  if (type.starts_with("OpaqueType<") && type.ends_with('>')) {
    return std::string(type.substr(11, type.size() - 12)) + "-byte";
  }
  if (const std::string_view spoken = look_up(kFloats, type); !spoken.empty()) {
    return std::string(spoken);
  }
  return std::string(look_up(kIntegers, type));
}

std::string first_spoken_type(std::string_view canonical) {
  for (size_t i = canonical.find('<'); i < canonical.size();) {
    if (!is_type_character(canonical[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < canonical.size() && is_type_character(canonical[end])) ++end;
    const std::string_view spoken = look_up(kFloats, last_component(canonical.substr(i, end - i)));
    if (!spoken.empty()) return std::string(spoken);
    i = end;
  }
  return {};
}

std::string ggml_type(std::string_view number) {
  // Gaps are types that ggml has given up.
  constexpr std::array<std::string_view, 41> kTypes = {
      "f32",     "f16",   "q4_0",   "q4_1",  "",      "",       "q5_0", "q5_1",    "q8_0",
      "q8_1",    "q2_K",  "q3_K",   "q4_K",  "q5_K",  "q6_K",   "q8_K", "iq2_xxs", "iq2_xs",
      "iq3_xxs", "iq1_s", "iq4_nl", "iq3_s", "iq2_s", "iq4_xs", "i8",   "i16",     "i32",
      "i64",     "f64",   "iq1_m",  "bf16",  "",      "",       "",     "tq1_0",   "tq2_0",
      "",        "",      "",       "mxfp4", "nvfp4"};
  const auto value = parse_int(number);
  if (!value || *value < 0 || static_cast<size_t>(*value) >= kTypes.size()) return {};
  return std::string(kTypes.at(static_cast<size_t>(*value)));
}

}  // namespace llmprof::analysis
