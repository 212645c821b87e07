#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace llmprof::readers::collector_log {

// What small numbers of a log stand for. They are counted up from 1: a plain array finds them, but
// for the large ones that only a damaged log has.
template <class Value>
class Definitions {
 public:
  // The first one with a key stays.
  void add(uint32_t key, const Value& value) {
    if (find(key) != nullptr) return;
    if (key < kDense) {
      if (key >= places_.size()) places_.resize(size_t{key} + 1, kNone);
      places_[key] = static_cast<uint32_t>(values_.size());
    } else {
      sparse_.emplace(key, static_cast<uint32_t>(values_.size()));
    }
    values_.push_back(value);
  }
  [[nodiscard]] const Value* find(uint32_t key) const {
    if (key < kDense) {
      return key < places_.size() && places_[key] != kNone ? &values_[places_[key]] : nullptr;
    }
    const auto known = sparse_.find(key);
    return known == sparse_.end() ? nullptr : &values_[known->second];
  }

  // In the order they came.
  [[nodiscard]] std::vector<Value>& values() { return values_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kDense = 1U << 22U;

  std::vector<Value> values_;
  std::vector<uint32_t> places_;
  std::unordered_map<uint32_t, uint32_t> sparse_;
};

}  // namespace llmprof::readers::collector_log
