#include "readers/shared/element_type_words.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"

namespace llmprof::readers {
namespace {

// In lower case, without the namespace.
constexpr std::pair<ElementType, WordList> kTypeWords[] = {
    {ElementType::f64, {"double"}},
    {ElementType::f32, {"float"}},
    {ElementType::f16, {"half"}},
    {ElementType::bf16, {"bfloat16"}},
    {ElementType::f8_e4m3, {"float8_e4m3fn|float8_e4m3fnuz"}},
    {ElementType::f8_e5m2, {"float8_e5m2|float8_e5m2fnuz"}},
    {ElementType::f8_e8m0, {"float8_e8m0fnu"}},
    {ElementType::f4_e2m1, {"float4_e2m1fn_x2"}},
    {ElementType::i64, {"long|long int|long long"}},
    {ElementType::i32, {"int"}},
    {ElementType::i16, {"short|short int"}},
    {ElementType::i8, {"char|signed char"}},
    {ElementType::u64, {"uint64|unsigned long"}},
    {ElementType::u32, {"uint32|unsigned int"}},
    {ElementType::u16, {"uint16|unsigned short"}},
    {ElementType::u8, {"byte|unsigned char"}},
    {ElementType::boolean, {"bool"}},
    {ElementType::complex64, {"complexfloat|complex<float>"}},
    {ElementType::complex128, {"complexdouble|complex<double>"}},
};

// c10/core/ScalarType.h; its numbers are part of PyTorch's saved files.
constexpr std::pair<uint64_t, ElementType> kTypeNumbers[] = {
    {0, ElementType::u8},          {1, ElementType::i8},       {2, ElementType::i16},
    {3, ElementType::i32},         {4, ElementType::i64},      {5, ElementType::f16},
    {6, ElementType::f32},         {7, ElementType::f64},      {9, ElementType::complex64},
    {10, ElementType::complex128}, {11, ElementType::boolean}, {15, ElementType::bf16},
    {23, ElementType::f8_e5m2},    {24, ElementType::f8_e4m3}, {25, ElementType::f8_e5m2},
    {26, ElementType::f8_e4m3},    {27, ElementType::u16},     {28, ElementType::u32},
    {29, ElementType::u64},        {44, ElementType::f8_e8m0}, {45, ElementType::f4_e2m1},
};

}  // namespace

ElementType named_element_type(std::string_view text) {
  constexpr size_t kLongest = 64;
  std::string name(text.substr(0, kLongest));
  std::transform(name.begin(), name.end(), name.begin(), to_lower);
  constexpr std::string_view kNamespace = "c10::";
  if (name.starts_with(kNamespace)) name.erase(0, kNamespace.size());
  for (const auto& [type, words] : kTypeWords) {
    if (words.contains(name)) return type;
  }
  return ElementType::unknown;
}

ElementType numbered_element_type(uint64_t scalar_type) {
  for (const auto& [number, type] : kTypeNumbers) {
    if (number == scalar_type) return type;
  }
  return ElementType::unknown;
}

}  // namespace llmprof::readers
