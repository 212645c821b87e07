#include "readers/nsys_sqlite/nccl_payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/ascii.h"

namespace llmprof::readers {
namespace {

constexpr size_t kHeaderBytes = 32;
constexpr size_t kSchemaAt = 8;
constexpr int64_t kLargestOffset = 1 << 16;

// Bytes of a field by its type, as nvToolsExtPayload.h numbers them; 0 for what NCCL does not use.
uint32_t width_of(int64_t type) {
  enum Type : int64_t { kInt = 5, kUint = 6, kInt32 = 15, kUint32 = 16, kUint64 = 18, kSize = 22 };
  switch (type) {
    case kInt:
    case kUint:
    case kInt32:
    case kUint32:
      return 4;
    case kUint64:
    case kSize:
      return 8;
    default:
      return 0;
  }
}

// Both nsys and we run on machines that store the lowest byte first.
uint64_t number_at(std::string_view bytes, size_t offset, size_t width) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, width);
  return number;
}

// Exports that were converted hold the bytes as hexadecimal digits.
std::string from_hexadecimal(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (is_digit(c)) return c - '0';
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace

NcclPayloads::NcclPayloads(const NsysSchema& schema) {
  constexpr std::array<std::string_view, 4> kColumns = {"schemaId", "type", "name", "offset"};
  const auto table = schema.find("NVTX_PAYLOAD_SCHEMA_ENTRIES");
  if (!table) return;
  SqliteRows rows = schema.file().query(schema.select(*table, kColumns) + " LIMIT 65536");
  while (rows.valid() && rows.next()) {
    const int64_t offset = rows.integer(3);  // NULL is 0
    if (offset < 0 || offset > kLargestOffset) continue;
    const Field field{static_cast<uint32_t>(offset), width_of(rows.integer(1))};
    const std::string_view name = rows.text(2);
    Fields& fields = by_schema_[static_cast<uint32_t>(rows.integer(0))];
    if (name == "NCCL communicator ID") fields.communicator = field;
    if (name == "Message size [bytes]") fields.bytes = field;
    if (name == "No. of ranks") fields.ranks = field;
    if (name == "Rank") fields.rank = field;
  }
  std::erase_if(by_schema_, [](const auto& each) { return each.second.communicator.width == 0; });
}

std::optional<NcclPayload> NcclPayloads::read(std::string_view bytes) const {
  if (by_schema_.empty()) return std::nullopt;
  std::string decoded;
  if (bytes.size() >= 2 * kHeaderBytes) decoded = from_hexadecimal(bytes);
  if (!decoded.empty()) bytes = decoded;
  if (bytes.size() <= kHeaderBytes) return std::nullopt;
  const auto known =
      by_schema_.find(static_cast<uint32_t>(number_at(bytes, kSchemaAt, sizeof(uint32_t))));
  if (known == by_schema_.end()) return std::nullopt;
  bytes.remove_prefix(kHeaderBytes);
  const auto value = [&](const Field& field) -> std::optional<uint64_t> {
    if (field.width == 0 || field.offset + field.width > bytes.size()) return std::nullopt;
    return number_at(bytes, field.offset, field.width);
  };
  const auto communicator = value(known->second.communicator);
  if (!communicator) return std::nullopt;
  NcclPayload payload;
  payload.communicator = *communicator;
  payload.bytes = value(known->second.bytes);
  payload.ranks = value(known->second.ranks);
  payload.rank = value(known->second.rank);
  return payload;
}

}  // namespace llmprof::readers
