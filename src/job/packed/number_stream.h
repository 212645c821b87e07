#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/varint.h"

namespace llmprof::job {

// A sequence of numbers and texts, each in as many bytes as it needs (base/varint.h). Columns of
// small differences take a few bytes per row, which deflate then halves. Writer and reader have the
// same functions, so one piece of code writes and reads a format.
class NumberWriter {
 public:
  static constexpr bool kReads = false;

  explicit NumberWriter(std::string& out) : out_(out) {}

  // Stored as the difference from `from`, which may wrap around.
  void number(uint64_t number, uint64_t from) {
    char bytes[kLongestVarint];
    out_.append(bytes, put_varint(bytes, zigzag(number - from)));
  }
  void text(std::string_view text) {  // preceded by its length
    number(text.size(), 0);
    out_ += text;
  }
  static void check(bool /*fits*/) {}

 private:
  std::string& out_;
};

// Damage is recorded, not thrown: everything read after it is 0.
class NumberReader {
 public:
  static constexpr bool kReads = true;

  explicit NumberReader(std::string_view bytes) : rest_(bytes) {}

  void number(uint64_t& number, uint64_t from) {
    const auto difference = take_varint(rest_);
    check(difference.has_value());
    number = damaged_ ? 0 : from + from_zigzag(*difference);
  }
  void text(std::string& text) {
    uint64_t size = 0;
    number(size, 0);
    check(size <= rest_.size());
    text = rest_.substr(0, damaged_ ? 0 : size);
    rest_.remove_prefix(text.size());
  }
  void check(bool fits) {
    damaged_ = damaged_ || !fits;
    if (damaged_) rest_ = {};
  }

  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

template <class Stream, std::integral Number>
void code_number(Stream& stream, Number& value, std::integral auto from) {
  auto number = static_cast<uint64_t>(value);
  stream.number(number, static_cast<uint64_t>(from));
  if constexpr (Stream::kReads) {
    value = static_cast<Number>(number);
    stream.check(static_cast<uint64_t>(value) == number);
  }
}

// A row takes at least `least` bytes, so a damaged row count cannot allocate too much memory.
template <class Stream, class Rows>
void code_size(Stream& stream, Rows& rows, size_t least = 1) {
  uint64_t size = rows.size();
  stream.number(size, 0);
  if constexpr (Stream::kReads) {
    stream.check(size <= stream.left() / least);
    if (!stream.damaged()) rows.resize(size);
  }
}

}  // namespace llmprof::job
