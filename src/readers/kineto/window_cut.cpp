#include "readers/kineto/window_cut.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/text.h"
#include "readers/kineto/byte_masks.h"

namespace llmprof::readers {
namespace {

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

bool step(char c, EventDepth& state) {
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

size_t walk_event(std::string_view text, size_t from, EventDepth& state) {
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

size_t find_event_start(std::string_view text, size_t from) {
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

size_t KinetoEventScan::scan(std::string_view bytes) {
  const uint64_t start = position_;
  size_t at = 0;
  while (at < bytes.size() && !closed_) {
    if (lost_) {
      at = std::min(find_event_start(bytes, at), bytes.size());
      lost_ = at == bytes.size();
      last_end_ = start + at;
    } else if (event_.depth > 0 || bytes[at] == '{') {
      at = walk_event(bytes, at, event_);
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

}  // namespace llmprof::readers
