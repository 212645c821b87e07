#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "readers/shared/json_text.h"

namespace llmprof::readers {

// The next position from `from` on that can only be the start of an event: '{' and one of the keys
// that events start with. Inside a string the quote of that key could not follow. npos if none.
inline size_t find_event_start(std::string_view text, size_t from) {
  constexpr std::array<std::string_view, 5> kFirstKeys = {"\"ph\"", "\"cat\"", "\"pid\"",
                                                          "\"args\"", "\"ts\""};
  const auto skip_blanks = [&](size_t at) {
    while (at < text.size() && is_blank(text[at])) ++at;
    return at;
  };
  for (size_t at = text.find('{', from); at != std::string_view::npos;
       at = text.find('{', at + 1)) {
    const size_t key = skip_blanks(at + 1);
    for (const std::string_view first : kFirstKeys) {
      if (!text.substr(key).starts_with(first)) continue;
      const size_t colon = skip_blanks(key + first.size());
      if (colon < text.size() && text[colon] == ':') return at;
    }
  }
  return std::string_view::npos;
}

// No real event comes near this size. A longer one has a broken string or a missing brace, and
// everything after it would seem to belong to it.
inline constexpr size_t kLargestEvent = 8UL << 20U;

// Follows an event array through the content, piece by piece, and finds where its events end.
class KinetoEventScan {
 public:
  // Looks at the next bytes and returns how many belong to the array. If fewer than given, the next
  // one is the array's closing bracket.
  size_t scan(std::string_view bytes) {
    const uint64_t start = position_;
    size_t at = 0;
    while (at < bytes.size() && !closed_) {
      if (lost_) {
        at = std::min(find_event_start(bytes, at), bytes.size());
        lost_ = at == bytes.size();
        last_end_ = start + at;
      } else if (event_.depth > 0 || bytes[at] == '{') {
        at = walk_object(bytes, at, event_);
        if (event_.depth == 0) last_end_ = start + at;
      } else if (bytes[at] == ']') {
        closed_ = true;
      } else {
        ++at;
      }
    }
    position_ = start + at;
    if (position_ - last_end_ > kLargestEvent) {
      lost_ = event_.depth > 0;
      event_ = {};
      last_end_ = position_;
    }
    return at;
  }

  [[nodiscard]] bool closed() const { return closed_; }
  // Both count from the start of the array.
  [[nodiscard]] uint64_t position() const { return position_; }
  [[nodiscard]] uint64_t last_event_end() const { return last_end_; }

 private:
  uint64_t position_ = 0;
  uint64_t last_end_ = 0;
  ObjectDepth event_;
  bool lost_ = false;  // inside something too large for an event: looks for the next start
  bool closed_ = false;
};

// The envelope of a trace, whose array is "traceEvents".
inline JsonEnvelope kineto_envelope() {
  static constexpr std::array<std::string_view, 9> kKeptKeys = {
      "schemaVersion",       "deviceProperties",     "baseTimeNanoseconds",
      "cuda_driver_version", "cuda_runtime_version", "distributedInfo",
      "roctracer_version",   "hip_runtime_version",  "host_name"};
  return JsonEnvelope("traceEvents", kKeptKeys);
}

// The inside of a trace's event array as its own stream, which ends where the array does.
class KinetoArrayStream final : public ByteStream {
 public:
  explicit KinetoArrayStream(ByteStream& content) : content_(content) {}

  // Continues with the next event array; false at the end of the content.
  Result<bool> next_array() {
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

  Result<size_t> read(std::span<char> buffer) override {
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

  // Where to cut the bytes read last: after their last complete event.
  [[nodiscard]] size_t cut(std::string_view buffer) const {
    const uint64_t start = scan_.position() - buffer.size();
    return scan_.last_event_end() <= start ? 0
                                           : static_cast<size_t>(scan_.last_event_end() - start);
  }

  // The text around the array, as far as the content has been read.
  [[nodiscard]] const JsonEnvelope& envelope() const { return envelope_; }
  // The array's closing bracket was found.
  [[nodiscard]] bool closed() const { return scan_.closed(); }

 private:
  ByteStream& content_;
  JsonEnvelope envelope_ = kineto_envelope();
  KinetoEventScan scan_;
  std::vector<char> pending_;  // read from the content, not yet processed
};

}  // namespace llmprof::readers
