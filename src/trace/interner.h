#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/ids.h"

namespace llmprof::trace {

// Mixes more values into a hash (splitmix64's finalizer, so that small integers spread).
inline size_t hash_mix(size_t seed, size_t value) {
  size_t mixed = seed + 0x9E3779B97F4A7C15ULL + value;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31U);
}
inline size_t hash_mix(size_t seed, size_t value, size_t next, auto... more) {
  return hash_mix(hash_mix(seed, value), next, more...);
}

// Stores each distinct value once, numbered in order of arrival. `Value` is equality comparable and
// has `size_t hash() const`. Open addressing by hand: this runs once or more per kernel, and
// std::unordered_map takes three times as long (one pointer to follow per lookup).
template <class IdType, class Value>
class Interner {
 public:
  IdType intern(const Value& value) {
    // Neighboring rows mostly repeat the previous value.
    if (last_ < values_.size() && values_[last_] == value) return IdType(last_);
    if (values_.size() * 2 >= slots_.size()) grow();
    const size_t mask = slots_.size() - 1;
    size_t slot = value.hash() & mask;
    while (slots_[slot] != kFree && !(values_[slots_[slot]] == value)) slot = (slot + 1) & mask;
    if (slots_[slot] == kFree) {
      slots_[slot] = static_cast<uint32_t>(values_.size());
      values_.push_back(value);
    }
    last_ = slots_[slot];
    return IdType(last_);
  }
  [[nodiscard]] const Value& operator[](IdType id) const { return values_[id.index()]; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] size_t size() const { return values_.size(); }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;

  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kFree);
    const size_t mask = slots_.size() - 1;
    for (size_t i = 0; i < values_.size(); ++i) {
      size_t slot = values_[i].hash() & mask;
      while (slots_[slot] != kFree) slot = (slot + 1) & mask;
      slots_[slot] = static_cast<uint32_t>(i);
    }
  }

  std::vector<Value> values_;
  std::vector<uint32_t> slots_;
  size_t last_ = 0;
};

// Stores each distinct text once. Views stay valid as long as the pool, even if it is moved. A copy
// has the same ids and its own texts.
class StringPool {
 public:
  StringPool() = default;
  StringPool(const StringPool& other);
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(const StringPool& other);
  StringPool& operator=(StringPool&&) noexcept = default;
  ~StringPool() = default;

  StringId intern(std::string_view text);
  [[nodiscard]] std::string_view operator[](StringId id) const {
    return id.valid() ? views_[id.index()] : std::string_view();
  }
  [[nodiscard]] size_t size() const { return views_.size(); }

 private:
  std::deque<std::string> storage_;
  std::vector<std::string_view> views_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace llmprof::trace
