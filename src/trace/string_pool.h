#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/ids.h"

namespace llmprof::trace {

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
