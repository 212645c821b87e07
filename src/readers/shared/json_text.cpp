#include "readers/shared/json_text.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr size_t kLargestKey = 128;
constexpr size_t kLargestValue = 1UL << 20U;
constexpr size_t kMostKeys = 256;

// A byte order mark is not text.
bool is_mark(char c) { return c == '\xEF' || c == '\xBB' || c == '\xBF'; }

// Each backslash escapes the character after it, which may be a backslash itself.
uint64_t escaped_characters(uint64_t backslashes, bool& carry) {
  uint64_t escaped = carry ? 1 : 0;
  backslashes &= ~escaped;
  carry = false;
  while (backslashes != 0) {
    const int i = std::countr_zero(backslashes);
    if (i == 63) {
      carry = true;
      break;
    }
    const uint64_t next = uint64_t{2} << i;
    escaped |= next;
    backslashes &= backslashes - 1;
    backslashes &= ~next;
  }
  return escaped;
}

// Bit i: whether an odd number of the bits up to i is set.
uint64_t parity_up_to(uint64_t bits) {
  bits ^= bits << 1U;
  bits ^= bits << 2U;
  bits ^= bits << 4U;
  bits ^= bits << 8U;
  bits ^= bits << 16U;
  bits ^= bits << 32U;
  return bits;
}

// Where in the block the depth falls to 0; kMaskedBytes if it does not.
size_t closing_bit(uint64_t open, uint64_t close, uint32_t& depth) {
  uint64_t braces = open | close;
  while (braces != 0) {
    const int i = std::countr_zero(braces);
    if ((open >> i & 1U) != 0) {
      ++depth;
    } else if (--depth == 0) {
      return static_cast<size_t>(i);
    }
    braces &= braces - 1;
  }
  return kMaskedBytes;
}

bool step(char c, ObjectDepth& state) {
  if (state.escaped) {
    state.escaped = false;
  } else if (c == '\\') {
    state.escaped = true;
  } else if (c == '"') {
    state.in_string = !state.in_string;
  } else if (!state.in_string) {
    if (c == '{') ++state.depth;
    if (c == '}') return --state.depth == 0;
  }
  return false;
}

}  // namespace

size_t JsonEnvelope::take(std::string_view bytes) {
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

void JsonEnvelope::take_structure(char c) {
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
      } else if (depth_ == 1 && in_value_ && !array_key_.empty() && key_ == array_key_) {
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

void JsonEnvelope::finish_key() {
  in_value_ = true;
  text_.clear();
  keeping_ = std::find(kept_keys_.begin(), kept_keys_.end(), key_) != kept_keys_.end();
  if (keys_.size() < kMostKeys) keys_.insert(key_);
}

void JsonEnvelope::finish_value() {
  if (keeping_ && !text_.empty()) {
    text_.pop_back();  // the comma or brace after it
    values_.insert_or_assign(key_, text_);
  }
  keeping_ = false;
  in_value_ = false;
  key_.clear();
}

std::string_view JsonEnvelope::value(std::string_view key) const {
  const auto known = values_.find(key);
  return known == values_.end() ? std::string_view() : std::string_view(known->second);
}

size_t walk_object(std::string_view text, size_t from, ObjectDepth& state) {
  size_t at = from;
  if (state.depth == 0 && at < text.size()) step(text[at++], state);
  while (text.size() - at >= kMaskedBytes) {
    const ByteMasks masks = byte_masks(text.data() + at);
    uint64_t literal = 0;
    if (masks.backslash != 0 || state.escaped) {
      literal = escaped_characters(masks.backslash, state.escaped);
    }
    const uint64_t strings =
        parity_up_to(masks.quote & ~literal) ^ (state.in_string ? ~uint64_t{0} : 0);
    const uint64_t open = masks.open & ~strings & ~literal;
    const uint64_t close = masks.close & ~strings & ~literal;
    if (static_cast<uint32_t>(std::popcount(close)) >= state.depth) {
      const size_t closing = closing_bit(open, close, state.depth);
      if (closing < kMaskedBytes) {
        state = {};
        return at + closing + 1;
      }
    } else {
      state.depth += static_cast<uint32_t>(std::popcount(open));
      state.depth -= static_cast<uint32_t>(std::popcount(close));
    }
    state.in_string = (strings >> 63U) != 0;
    at += kMaskedBytes;
  }
  while (at < text.size()) {
    if (step(text[at++], state)) break;
  }
  return at;
}

}  // namespace llmprof::readers
