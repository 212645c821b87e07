#include "readers/shared/element_type_words.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"

namespace llmprof::readers {
namespace {

using enum ElementType;

// In lower case, without the namespace.
constexpr std::pair<ElementType, WordList> kWords[] = {
    {f64, {"double"}},
    {f32, {"float"}},
    {f16, {"half"}},
    {bf16, {"bfloat16"}},
    {f8_e4m3, {"float8_e4m3fn|float8_e4m3fnuz"}},
    {f8_e5m2, {"float8_e5m2|float8_e5m2fnuz"}},
    {f8_e8m0, {"float8_e8m0fnu"}},
    {f4_e2m1, {"float4_e2m1fn_x2"}},
    {i64, {"long|long int|long long"}},
    {i32, {"int"}},
    {i16, {"short|short int"}},
    {i8, {"char|signed char"}},
    {u64, {"uint64|unsigned long"}},
    {u32, {"uint32|unsigned int"}},
    {u16, {"uint16|unsigned short"}},
    {u8, {"byte|unsigned char"}},
    {boolean, {"bool"}},
    {complex64, {"complexfloat|complex<float>"}},
    {complex128, {"complexdouble|complex<double>"}},
};

// c10/core/ScalarType.h; its numbers are part of PyTorch's saved files.
constexpr std::pair<uint64_t, ElementType> kNumbers[] = {
    {0, u8},       {1, i8},       {2, i16},       {3, i32},         {4, i64},      {5, f16},
    {6, f32},      {7, f64},      {9, complex64}, {10, complex128}, {11, boolean}, {15, bf16},
    {23, f8_e5m2}, {24, f8_e4m3}, {25, f8_e5m2},  {26, f8_e4m3},    {27, u16},     {28, u32},
    {29, u64},     {44, f8_e8m0}, {45, f4_e2m1},
};

}  // namespace

ElementType named_element_type(std::string_view text) {
  constexpr size_t kLongest = 64;
  std::string name(text.substr(0, kLongest));
  std::transform(name.begin(), name.end(), name.begin(), to_lower);
  constexpr std::string_view kNamespace = "c10::";
  if (name.starts_with(kNamespace)) name.erase(0, kNamespace.size());
  for (const auto& [type, words] : kWords) {
    if (words.contains(name)) return type;
  }
  return unknown;
}

ElementType numbered_element_type(uint64_t scalar_type) {
  for (const auto& [number, type] : kNumbers) {
    if (number == scalar_type) return type;
  }
  return unknown;
}

}  // namespace llmprof::readers
