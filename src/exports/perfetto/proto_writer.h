#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmprof::exports {

// Writes protobuf's wire format. By hand, because two dozen fields do not need Perfetto's generated
// code, which Debian does not package.
class ProtoWriter {
 public:
  explicit ProtoWriter(std::string& out) : out_(out) {}

  void number(uint32_t field, uint64_t value) {
    tag(field, kVarint);
    varint(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    tag(field, kFixed64);
    std::array<char, 8> bytes;
    for (char& byte : bytes) {
      byte = static_cast<char>(value & 0xFFU);
      value >>= 8U;
    }
    out_.append(bytes.data(), bytes.size());
  }
  void real(uint32_t field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }
  void bytes(uint32_t field, std::string_view value) {
    tag(field, kLength);
    varint(value.size());
    out_.append(value);
  }
  // Calls fill(), which writes the fields of the inner message.
  template <class Fill>
  void message(uint32_t field, const Fill& fill) {
    tag(field, kLength);
    out_.push_back('\0');
    const size_t begin = out_.size();
    fill();
    const size_t length = out_.size() - begin;
    if (length < kVarintLimit) {
      out_[begin - 1] = static_cast<char>(length);
      return;
    }
    std::string longer;
    ProtoWriter(longer).varint(length);
    out_.replace(begin - 1, 1, longer);
  }

 private:
  enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2 };
  static constexpr uint64_t kVarintLimit = 0x80;

  void tag(uint32_t field, WireType type) { varint(field << 3U | type); }
  void varint(uint64_t value) {
    if (value < kVarintLimit) {
      out_.push_back(static_cast<char>(value));
      return;
    }
    std::array<char, 10> bytes;  // enough for 64 bits, 7 a byte
    size_t size = 0;
    for (; value >= kVarintLimit; value >>= 7U) {
      bytes[size++] = static_cast<char>(value | kVarintLimit);
    }
    bytes[size++] = static_cast<char>(value);
    out_.append(bytes.data(), size);
  }

  std::string& out_;
};

}  // namespace llmprof::exports
