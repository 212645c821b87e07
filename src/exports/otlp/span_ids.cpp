#include "exports/otlp/span_ids.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmprof::exports {
namespace {

// FNV-1a, then SplitMix64's finalizer, because FNV hardly changes the high bits for short texts.
uint64_t hash(uint64_t seed, std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001B3;
  uint64_t value = seed ^ 0xCBF29CE484222325;
  for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * kPrime;
  value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27U) * 0x94D049BB133111EB;
  return value ^ value >> 31U;
}

// Zeros are not an id.
std::string digits(uint64_t value) { return fmt::format("{:016x}", std::max<uint64_t>(value, 1)); }

constexpr uint64_t kOfSpan = 1;
constexpr uint64_t kOfTrace = 2;
constexpr uint64_t kSecondHalf = 3;

}  // namespace

SpanIds::SpanIds(std::string_view run) : run_(hash(0, run)) {}

std::string SpanIds::trace(std::string_view key) const {
  return digits(hash(run_ + kOfTrace, key)) + digits(hash(run_ + kSecondHalf, key));
}

std::string SpanIds::span(std::string_view key) const { return digits(hash(run_ + kOfSpan, key)); }

}  // namespace llmprof::exports
