#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/varint.h"

namespace llmprof::exports {

// Not a std::string, because a file has a hundred million bytes: a string checks capacity and
// writes its terminator for each.
using ProtoBuffer = fmt::memory_buffer;
inline std::string_view view(const ProtoBuffer& bytes) { return {bytes.data(), bytes.size()}; }

// The number of a field; messages enumerate theirs (fields.h).
struct FieldNumber {
  // NOLINTNEXTLINE(google-explicit-constructor): a field is used as its number
  constexpr FieldNumber(uint32_t number) : value(number) {}
  template <class Field>
    requires std::is_enum_v<Field>
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr FieldNumber(Field field) : value(static_cast<uint32_t>(field)) {}

  uint32_t value;
};

// Writes protobuf's wire format. Hand-written, because two dozen fields do not need Perfetto's
// generated code, which Debian does not package.
class ProtoWriter {
 public:
  explicit ProtoWriter(ProtoBuffer& out) : out_(out) {}

  void number(FieldNumber field, uint64_t value) {
    char* end = with_tag(field, kVarint, kLongestVarint);
    end_at(put_varint(end, value));
  }
  void fixed64(FieldNumber field, uint64_t value) {
    char* end = with_tag(field, kFixed64, sizeof value);
    for (size_t i = 0; i < sizeof value; ++i) {
      *end++ = static_cast<char>(value & 0xFFU);
      value >>= 8U;
    }
    end_at(end);
  }
  void real(FieldNumber field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }
  void bytes(FieldNumber field, std::string_view value) {
    char* end = put_varint(with_tag(field, kLength, kLongestVarint + value.size()), value.size());
    if (!value.empty()) std::memcpy(end, value.data(), value.size());
    end_at(end + value.size());
  }
  // Calls fill(), which writes the fields of the inner message.
  template <class Fill>
  void message(FieldNumber field, const Fill& fill) {
    char* length_at = with_tag(field, kLength, 1);
    end_at(length_at + 1);
    const size_t begin = out_.size();
    fill();
    const size_t length = out_.size() - begin;
    if (length < kVarintLimit) {
      out_.data()[begin - 1] = static_cast<char>(length);
    } else {
      put_long_length(begin, length);
    }
  }

 private:
  enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2 };

  // Where to write the next bytes, at most `count`; end_at says where they end.
  char* room(size_t count) {
    out_.reserve(out_.size() + count);
    return out_.data() + out_.size();
  }
  void end_at(const char* end) { out_.resize(static_cast<size_t>(end - out_.data())); }
  // Room for `count` bytes after the tag.
  char* with_tag(FieldNumber field, WireType type, size_t count) {
    return put_varint(room(kLongestVarint + count), field.value << 3U | type);
  }

  // One byte was reserved for the length of the message that starts at `begin`.
  void put_long_length(size_t begin, size_t length) {
    char bytes[kLongestVarint];
    const auto size = static_cast<size_t>(put_varint(bytes, length) - bytes);
    char* end = room(size - 1);
    std::memmove(out_.data() + begin + size - 1, out_.data() + begin, length);
    std::memcpy(out_.data() + begin - 1, bytes, size);
    end_at(end + size - 1);
  }

  ProtoBuffer& out_;
};

}  // namespace llmprof::exports
