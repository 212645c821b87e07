#include "exports/timeline/column.h"

#include <cstring>

#include "base/varint.h"

namespace llmprof::exports {
namespace {

char* put_zigzag(char* out, uint64_t value) { return put_varint(out, zigzag(value)); }

}  // namespace

void Column::encode_waiting() {
  std::array<char, std::tuple_size_v<decltype(waiting_)> * kLongestVarint> encoded;
  char* out = encoded.data();
  const auto each = [&](auto&& put_one) {
    for (size_t i = 0; i < count_; ++i) out = put_one(out, waiting_[i]);
  };
  uint64_t previous = previous_;
  const auto since_previous = [&](uint64_t value) {
    const uint64_t difference = value - previous;
    previous = value;
    return difference;
  };
  switch (coding_) {
    case Coding::u:
      each(put_varint);
      break;
    case Coding::s:
      each(put_zigzag);
      break;
    case Coding::udelta:
      each([&](char* to, uint64_t value) { return put_varint(to, since_previous(value)); });
      break;
    case Coding::sdelta:
      each([&](char* to, uint64_t value) { return put_zigzag(to, since_previous(value)); });
      break;
    case Coding::u8:
      each([](char* to, uint64_t value) {
        *to = static_cast<char>(value);
        return to + 1;
      });
      break;
    case Coding::f32:
      static_assert(std::endian::native == std::endian::little);
      each([](char* to, uint64_t value) {
        const auto bits = static_cast<uint32_t>(value);
        std::memcpy(to, &bits, sizeof bits);
        return to + sizeof bits;
      });
      break;
  }
  bytes_.append(encoded.data(), out);
  previous_ = previous;
  count_ = 0;
}

}  // namespace llmprof::exports
