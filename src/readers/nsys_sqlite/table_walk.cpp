#include "readers/nsys_sqlite/table_walk.h"

#include <endian.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace llmprof::readers {
namespace {

constexpr uint8_t kOneByte = 0x80;  // smaller varints take one byte

// Reads the number at the start of `bytes` and removes its 1 to 9 bytes; false if they end too
// early.
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

// Offsets and marks of SQLite's file format, sections 1.3 and 1.6.
constexpr size_t kFileHeaderBytes = 100;
constexpr size_t kPageSizeAt = 16;
constexpr size_t kReservedAt = 20;
constexpr size_t kEncodingAt = 56;
constexpr uint32_t kUtf8 = 1;
constexpr uint8_t kInteriorPage = 0x05;
constexpr uint8_t kLeafPage = 0x0D;
constexpr size_t kCellCountAt = 3;
constexpr size_t kRightmostAt = 8;
constexpr size_t kInteriorHeader = 12;
constexpr size_t kLeafHeader = 8;
constexpr size_t kChildBytes = 4;
constexpr size_t kSmallestUsable = 480;
// A row of at most the usable bytes minus these is entirely on its leaf.
constexpr size_t kNotOnLeaf = 35;

constexpr size_t kReadAtOnce = 128UL << 10U;  // bytes: pages of a table are mostly consecutive

uint32_t be16(std::span<const uint8_t> bytes, size_t at) {
  return static_cast<uint32_t>(bytes[at]) << 8U | bytes[at + 1];
}

uint32_t be32(std::span<const uint8_t> bytes, size_t at) {
  return be16(bytes, at) << 16U | be16(bytes, at + 2);
}

// The bytes from the cell's offset to the end of the page; empty if the offset is invalid.
std::span<const uint8_t> page_cell(std::span<const uint8_t> page, size_t header, size_t index) {
  const size_t at = be16(page, header + 2 * index);
  return page.subspan(at < header ? page.size() : std::min(at, page.size()));
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

std::optional<TableWalk> TableWalk::open(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<uint8_t, kFileHeaderBytes> header{};
  if (!file.valid() ||
      ::pread(file.get(), header.data(), header.size(), 0) != static_cast<ssize_t>(header.size())) {
    return std::nullopt;
  }
  constexpr std::string_view kMark("SQLite format 3\0", 16);
  if (!std::equal(kMark.begin(), kMark.end(), header.begin())) return std::nullopt;
  size_t page_bytes = be16(header, kPageSizeAt);
  if (page_bytes == 1) page_bytes = 1UL << 16U;
  const size_t reserved = header[kReservedAt];
  if (page_bytes < 512 || !std::has_single_bit(page_bytes) ||
      page_bytes - reserved < kSmallestUsable || be32(header, kEncodingAt) != kUtf8) {
    return std::nullopt;
  }
  const off_t end = ::lseek(file.get(), 0, SEEK_END);
  if (end < 0) return std::nullopt;
  return TableWalk(std::move(file), static_cast<uint64_t>(end), page_bytes, page_bytes - reserved);
}

TableWalk::TableWalk(FileDescriptor file, uint64_t file_bytes, size_t page_bytes,
                     size_t usable_bytes)
    : file_(std::move(file)),
      file_bytes_(file_bytes),
      page_bytes_(page_bytes),
      usable_bytes_(usable_bytes),
      window_(std::max(kReadAtOnce, page_bytes)),
      levels_(kDeepest) {}

// Valid until the next page is requested; empty if the file does not have that page. The first page
// starts with the file's header and is never a table we read.
std::span<const uint8_t> TableWalk::page(uint32_t number) {
  if (number < 2 || pages_left_ == 0) return {};
  --pages_left_;
  const uint64_t at = (number - 1ULL) * page_bytes_;
  if (at < window_at_ || at + page_bytes_ > window_at_ + window_filled_) {
    window_at_ = at;
    window_filled_ = 0;
    while (window_filled_ < window_.size()) {
      const ssize_t got =
          ::pread(file_.get(), window_.data() + window_filled_, window_.size() - window_filled_,
                  static_cast<off_t>(window_at_ + window_filled_));
      if (got <= 0) break;
      window_filled_ += static_cast<size_t>(got);
    }
    if (window_filled_ < page_bytes_) return {};
  }
  return std::span<const uint8_t>(window_).subspan(at - window_at_, usable_bytes_);
}

uint32_t TableWalk::child(const Level& level, size_t index) const {
  if (index == level.cells) return be32(level.page, kRightmostAt);
  const auto bytes = page_cell(level.page, kInteriorHeader, index);
  return bytes.size() < kChildBytes ? 0 : be32(bytes, 0);
}

bool TableWalk::child_ends_before(const Level& level, size_t index, int64_t id) const {
  auto bytes = page_cell(level.page, kInteriorHeader, index);
  uint64_t last_id = 0;
  if (bytes.size() < kChildBytes) return false;
  bytes = bytes.subspan(kChildBytes);
  return take_varint(bytes, last_id) && static_cast<int64_t>(last_id) < id;
}

// Descends to the leaf with the first row of the page, or with the first wanted row.
bool TableWalk::descend(uint32_t number) {
  while (true) {
    const std::span<const uint8_t> bytes = page(number);
    if (bytes.empty()) return false;
    const size_t cells = be16(bytes, kCellCountAt);
    if (bytes[0] == kLeafPage) {
      if (kLeafHeader + 2 * cells > bytes.size()) return false;
      leaf_ = bytes;
      leaf_cells_ = cells;
      next_cell_ = 0;
      ++leaves_;
      return true;
    }
    if (bytes[0] != kInteriorPage || depth_ == kDeepest ||
        kInteriorHeader + 2 * cells > bytes.size()) {
      return false;
    }
    Level& level = levels_[depth_++];
    level.page.assign(bytes.begin(), bytes.end());
    level.cells = cells;
    level.next_child = 0;
    while (level.next_child < cells && child_ends_before(level, level.next_child, first_)) {
      ++level.next_child;
    }
    number = child(level, level.next_child++);
  }
}

bool TableWalk::next_leaf(bool& more) {
  more = true;
  if (!started_) {
    started_ = true;
    return descend(root_page_);
  }
  while (depth_ > 0 && levels_[depth_ - 1].next_child > levels_[depth_ - 1].cells) --depth_;
  if (depth_ == 0) {
    more = false;
    return true;
  }
  Level& level = levels_[depth_ - 1];
  return descend(child(level, level.next_child++));
}

void TableWalk::start(uint32_t root_page, int64_t first, int64_t last) {
  root_page_ = root_page;
  first_ = first;
  last_ = last;
  started_ = false;
  any_row_ = false;
  leaves_ = 0;
  depth_ = 0;
  leaf_cells_ = 0;
  next_cell_ = 0;
  pages_left_ = file_bytes_ / page_bytes_ + kDeepest;
}

TableWalk::Step TableWalk::next() {
  while (true) {
    while (next_cell_ == leaf_cells_) {
      bool more = false;
      if (!next_leaf(more)) return Step::damage;
      if (!more) return Step::end;
    }
    auto bytes = page_cell(leaf_, kLeafHeader, next_cell_++);
    uint64_t size = 0;
    uint64_t id = 0;
    if (!take_varint(bytes, size) || !take_varint(bytes, id)) return Step::damage;
    const auto row = static_cast<int64_t>(id);
    if (any_row_ && row <= row_id_) return Step::damage;
    any_row_ = true;
    row_id_ = row;
    if (row < first_) {
      // The keys on the way down skip all leaves before the one that may hold the first row.
      if (leaves_ > 1) return Step::damage;
      continue;
    }
    if (row > last_) return Step::end;
    if (size > usable_bytes_ - kNotOnLeaf) return Step::long_row;
    if (size > bytes.size()) return Step::damage;
    record_ = bytes.first(size);
    return Step::row;
  }
}

}  // namespace llmprof::readers
