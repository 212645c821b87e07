#include "readers/kineto/envelope.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kEvents = "traceEvents";
constexpr std::array<std::string_view, 9> kKeptKeys = {
    "schemaVersion",       "deviceProperties",     "baseTimeNanoseconds",
    "cuda_driver_version", "cuda_runtime_version", "distributedInfo",
    "roctracer_version",   "hip_runtime_version",  "host_name"};
constexpr size_t kLargestKey = 128;
constexpr size_t kLargestValue = 1UL << 20U;
constexpr size_t kMostKeys = 256;

// A byte order mark is not text.
bool is_mark(char c) { return c == '\xEF' || c == '\xBB' || c == '\xBF'; }

}  // namespace

size_t KinetoEnvelope::take(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (keeping_) text_ += c;
    if (string_.takes(c)) {
      const bool of_key = depth_ == 1 && !in_value_ && string_.open();
      if (of_key && key_.size() < kLargestKey) key_ += c;
    } else {
      take_structure(c);
      if (in_array_) return i + 1;
    }
    if (keeping_ && text_.size() > kLargestValue) {
      keeping_ = false;
      ++oversized_;
    }
  }
  return bytes.size();
}

void KinetoEnvelope::take_structure(char c) {
  if (depth_ == 0 && !is_blank(c)) {
    const bool may_begin = c == '{' || c == '[' || is_mark(c);
    if (started_ || !may_begin) stray_text_ = true;
  }
  switch (c) {
    case '"':
      string_.begin();
      if (depth_ == 1 && !in_value_) key_.clear();
      return;
    case '[':
      if (depth_ == 0 && !started_) {
        started_ = bare_array_ = in_array_ = true;
      } else if (depth_ == 1 && in_value_ && key_ == kEvents) {
        in_array_ = true;
      } else {
        ++depth_;
      }
      return;
    case '{':
      started_ = true;
      ++depth_;
      return;
    case ']':
    case '}':
      if (depth_ == 1) finish_value();
      if (depth_ > 0) --depth_;
      return;
    case ':':
      if (depth_ == 1 && !in_value_) finish_key();
      return;
    case ',':
      if (depth_ == 1) finish_value();
      return;
    default:
      return;
  }
}

void KinetoEnvelope::finish_key() {
  in_value_ = true;
  text_.clear();
  keeping_ = std::find(kKeptKeys.begin(), kKeptKeys.end(), key_) != kKeptKeys.end();
  if (keys_.size() < kMostKeys) keys_.insert(key_);
}

void KinetoEnvelope::finish_value() {
  if (keeping_ && !text_.empty()) {
    text_.pop_back();  // the comma or brace that ended it
    values_.insert_or_assign(key_, text_);
  }
  keeping_ = false;
  in_value_ = false;
  key_.clear();
}

std::string_view KinetoEnvelope::value(std::string_view key) const {
  const auto known = values_.find(key);
  return known == values_.end() ? std::string_view() : std::string_view(known->second);
}

}  // namespace llmprof::readers
