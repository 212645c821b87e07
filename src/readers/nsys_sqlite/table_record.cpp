#include "readers/nsys_sqlite/table_record.h"

#include <endian.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace llmprof::readers {
namespace {

constexpr uint8_t kOneByte = 0x80;  // smaller varints take one byte

// Field types; those of texts and bytes include the length.
enum FieldType : uint64_t {
  kNull = 0,
  kLastInteger = 6,
  kReal = 7,
  kZero = 8,
  kOne = 9,
  kFirstUnused = 10,
  kFirstBytes = 12
};

uint64_t size_of_field(uint64_t type) {
  constexpr std::array<uint8_t, kFirstBytes> kSizes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < kFirstBytes ? kSizes[type] : (type - kFirstBytes) / 2;
}

// Signed, highest byte first: the first `count` (1 to 8) of `bytes`.
int64_t big_endian(std::span<const uint8_t> bytes, size_t count) {
  uint64_t value = 0;
  if (bytes.size() >= sizeof value) {
    std::memcpy(&value, bytes.data(), sizeof value);
    return static_cast<int64_t>(be64toh(value)) >> (8 * (sizeof value - count));
  }
  for (size_t i = 0; i < count; ++i) value = value << 8U | bytes[i];
  const size_t unused = 8 * (sizeof value - count);
  return static_cast<int64_t>(value << unused) >> unused;
}

// `bytes` has at least the field's `size`.
void take_field(uint64_t type, std::span<const uint8_t> bytes, uint64_t size, size_t slot,
                RowValues& values) {
  if (type == kNull) {
    values.set_null(slot);
  } else if (type <= kLastInteger) {
    values.set_integer(slot, big_endian(bytes, size));
  } else if (type == kReal) {
    values.set_real(slot, std::bit_cast<double>(big_endian(bytes, size)));
  } else if (type < kFirstBytes) {
    values.set_integer(slot, type == kOne ? 1 : 0);
  } else {
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), size);
    if (type % 2 == 0) {
      values.set_bytes(slot, content);
    } else {
      values.set_text(slot, content);
    }
  }
}

}  // namespace

int64_t RowValues::leading_integer(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc::result_out_of_range) return value;
  return text.starts_with('-') ? std::numeric_limits<int64_t>::min()
                               : std::numeric_limits<int64_t>::max();
}

void RowValues::set_real(size_t column, double value) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (std::isnan(value)) {
    set_null(column);
  } else if (value >= kBeyond) {
    set_integer(column, std::numeric_limits<int64_t>::max());
  } else if (value <= -kBeyond) {
    set_integer(column, std::numeric_limits<int64_t>::min());
  } else {
    set_integer(column, static_cast<int64_t>(value));
  }
}

bool take_varint(std::span<const uint8_t>& bytes, uint64_t& value) {
  constexpr size_t kLongest = 9;
  value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t byte = bytes[i];
    if (i + 1 == kLongest) {
      value = value << 8U | byte;
      bytes = bytes.subspan(kLongest);
      return true;
    }
    value = value << 7U | (byte & 0x7FU);
    if (byte < kOneByte) {
      bytes = bytes.subspan(i + 1);
      return true;
    }
  }
  return false;
}

bool take_fields(std::span<const uint8_t> record, const TableLayout& layout, RowValues& values) {
  std::span<const uint8_t> header = record;
  uint64_t header_bytes = 0;
  if (!take_varint(header, header_bytes) || header_bytes > record.size()) return false;
  const size_t taken = record.size() - header.size();
  if (header_bytes < taken) return false;
  header = header.first(header_bytes - taken);
  uint64_t at = header_bytes;
  for (const int slot : layout.slots) {
    if (header.empty()) {
      if (slot >= 0) values.set_null(static_cast<size_t>(slot));
      continue;
    }
    uint64_t type = header[0];
    if (type < kOneByte) {
      header = header.subspan(1);
    } else if (!take_varint(header, type)) {
      return false;
    }
    if (type >= kFirstUnused && type < kFirstBytes) return false;
    const uint64_t size = size_of_field(type);
    if (size > record.size() - at) return false;
    if (slot >= 0) {
      take_field(type, record.subspan(at), size, static_cast<size_t>(slot), values);
    }
    at += size;
  }
  return true;
}

}  // namespace llmprof::readers
