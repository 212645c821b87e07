#include "analysis/naming/short_name_types.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

// The last component of a type's name, as it is spelled.
struct Spelling {
  std::string_view spoken;
  WordList written;
};

constexpr std::array kFloats = {
    Spelling{"bf16",
             {"BFloat16|__hip_bfloat16|__nv_bfloat16|__nv_bfloat162|bf16|bf16_t|"
              "bf16bf16|bfloat16|bfloat16_t|hip_bfloat16|nv_bfloat16"}},
    Spelling{"fp4", {"Float4_e2m1fn_x2|__nv_fp4_e2m1|float_e2m1_t|nvfp4"}},
    Spelling{"fp8 e4m3",
             {"Float8_e4m3fn|__hip_fp8_e4m3|__hip_fp8_e4m3_fnuz|__nv_fp8_e4m3|e4m3|"
              "e4m3bf16|e4m3e4m3|e4m3f16|e4m3f32|float8_e4m3fn|float_e4m3_t"}},
    Spelling{"fp8 e5m2", {"Float8_e5m2|__hip_fp8_e5m2|__nv_fp8_e5m2|float8_e5m2|float_e5m2_t"}},
    Spelling{"fp8 e8m0", {"Float8_e8m0fnu"}},
    Spelling{"f16",
             {"Half|_Float16|__half|__half2|f16|f16f16|float16|fp16|fp16_t|half|"
              "half_t|nv_half"}},
    Spelling{"c128", {"complex<double>"}},
    Spelling{"c64", {"complex<float>"}},
    Spelling{"f64", {"double|f64"}},
    Spelling{"f32", {"f32|f32f32|float"}},
    Spelling{"fp8", {"fp8|fp8_t"}},
    Spelling{"i8", {"s8s8"}},
    Spelling{"tf32", {"tf32|tf32f32|tfloat32_t"}},
};
constexpr std::array kIntegers = {
    Spelling{"bool", {"bool"}},
    Spelling{"i8", {"char|i8|int8|int8_t|signed char"}},
    Spelling{"i16", {"i16|int16_t|short"}},
    Spelling{"i32", {"i32|int|int32|int32_t"}},
    Spelling{"i64", {"i64|int64|int64_t|long|long long"}},
    Spelling{"u32", {"u32|uint32_t|unsigned int"}},
    Spelling{"u64", {"u64|uint64_t|unsigned long|unsigned long long"}},
    Spelling{"u8", {"u8|uint8|uint8_t|unsigned char"}},
    Spelling{"u16", {"unsigned short"}},
};

template <size_t N>
std::string_view look_up(const std::array<Spelling, N>& table, std::string_view type) {
  const auto* found = std::find_if(table.begin(), table.end(), [&](const Spelling& each) {
    return each.written.contains(type);
  });
  return found == table.end() ? std::string_view() : found->spoken;
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
