#include "readers/kineto/array_stream.h"

#include <algorithm>
#include <array>

#include "base/text.h"

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
    text_.pop_back();  // the comma or brace after it
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

Result<bool> KinetoArrayStream::next_array() {
  constexpr size_t kStep = 64UL << 10U;
  if (envelope_.in_array()) envelope_.leave_array();
  while (true) {
    if (pending_.empty()) {
      pending_.resize(kStep);
      auto got = content_.read(pending_);
      if (!got) return fail_with(got.error());
      pending_.resize(*got);
      if (*got == 0) return false;
    }
    const size_t taken = envelope_.take({pending_.data(), pending_.size()});
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
    if (envelope_.in_array()) {
      scan_ = {};
      return true;
    }
  }
}

Result<size_t> KinetoArrayStream::read(std::span<char> buffer) {
  if (scan_.closed()) return size_t{0};
  const size_t at_hand = std::min(pending_.size(), buffer.size());
  std::copy_n(pending_.begin(), at_hand, buffer.begin());
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at_hand));
  auto got = content_.read(buffer.subspan(at_hand));
  if (!got) return got;
  const size_t filled = at_hand + *got;
  const size_t inside = scan_.scan({buffer.data(), filled});
  if (scan_.closed()) {
    const auto behind = buffer.subspan(inside + 1, filled - inside - 1);
    pending_.insert(pending_.begin(), behind.begin(), behind.end());
  }
  return inside;
}

size_t KinetoArrayStream::cut(std::string_view buffer) const {
  const uint64_t start = scan_.position() - buffer.size();
  return scan_.last_event_end() <= start ? 0 : static_cast<size_t>(scan_.last_event_end() - start);
}

}  // namespace llmprof::readers
