#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace llmprof {

// Types of the elements of tensors, by the names that papers and tools give them.
enum class ElementType : uint8_t {
  unknown,
  f64,
  f32,
  f16,
  bf16,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  f4_e2m1,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  complex64,
  complex128,
};

// 0 for `unknown`.
constexpr uint32_t bits_per_element(ElementType type) {
  constexpr std::array<uint8_t, 20> kBits = {0,  64, 32, 16, 16, 8,  8, 8, 4,  64,
                                             32, 16, 8,  64, 32, 16, 8, 8, 64, 128};
  return kBits[static_cast<size_t>(type)];
}

// Elements of 4 bits take half a byte.
constexpr double bytes_per_element(ElementType type) {
  constexpr double kBitsPerByte = 8;
  return bits_per_element(type) / kBitsPerByte;
}

}  // namespace llmprof
