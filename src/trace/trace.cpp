#include "trace/trace.h"

namespace llmprof::trace {

Trace::Trace() = default;
Trace::Trace(const Trace& other) = default;
Trace::Trace(Trace&& other) noexcept = default;
Trace& Trace::operator=(const Trace& other) = default;
Trace& Trace::operator=(Trace&& other) noexcept = default;
Trace::~Trace() = default;

StringPool::StringPool(const StringPool& other) {
  views_.reserve(other.views_.size());
  ids_.reserve(other.ids_.size());
  for (const std::string_view text : other.views_) intern(text);
}

StringPool& StringPool::operator=(const StringPool& other) {
  if (this != &other) *this = StringPool(other);
  return *this;
}

StringId StringPool::intern(std::string_view text) {
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  const std::string_view kept = storage_.emplace_back(text);
  const StringId id(views_.size());
  views_.push_back(kept);
  ids_.emplace(kept, id);
  return id;
}

}  // namespace llmprof::trace
