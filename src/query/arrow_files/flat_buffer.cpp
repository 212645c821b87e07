#include "query/arrow_files/flat_buffer.h"

#include <bit>
#include <cstring>

namespace llmprof::query {
namespace {

static_assert(std::endian::native == std::endian::little);

using Scalar = FlatTable::Scalar;
using Structs = FlatTable::Structs;
using Tables = FlatTable::Tables;

constexpr size_t kOffset = 4;   // bytes of an offset, and of a vector's length
constexpr size_t kLargest = 8;  // bytes of the largest scalar

// Writes front to back: what refers to a value stands before it, and its offset is filled in once
// the value is written.
class FlatWriter {
 public:
  std::string write(const FlatTable& root) {
    put(0, kOffset);
    point(0, table(root));
    return std::move(bytes_);
  }

 private:
  void put(uint64_t bits, size_t size) {
    bytes_.append(reinterpret_cast<const char*>(&bits), size);
  }
  // Zeros up to a place that is `beyond` bytes after a multiple of 8.
  void align(size_t beyond = 0) {
    while (bytes_.size() % kLargest != beyond) bytes_ += '\0';
  }
  // The offset at `from` leads to `to`.
  void point(size_t from, size_t to) {
    const auto offset = static_cast<uint32_t>(to - from);
    std::memcpy(bytes_.data() + from, &offset, sizeof offset);
  }

  // A vtable, then the table: the offset back to the vtable, then its fields, largest first, so
  // that each is aligned.
  size_t table(const FlatTable& of) {
    const auto& fields = of.fields();
    std::vector<uint16_t> places(fields.size(), 0);
    size_t size = kOffset;
    for (size_t width = kLargest; width > 0; width /= 2) {
      for (size_t i = 0; i < fields.size(); ++i) {
        if (width_of(fields[i]) != width) continue;
        places[i] = static_cast<uint16_t>(size);
        size += width;
      }
    }
    const size_t vtable_size = sizeof(uint16_t) * (2 + fields.size());
    while ((bytes_.size() + vtable_size) % kLargest != kLargest - kOffset) bytes_ += '\0';
    const size_t vtable = bytes_.size();
    put(vtable_size, sizeof(uint16_t));
    put(size, sizeof(uint16_t));
    for (const uint16_t place : places) put(place, sizeof place);
    const size_t begin = bytes_.size();
    put(begin - vtable, kOffset);
    bytes_.resize(begin + size);
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto* const scalar = std::get_if<Scalar>(&fields[i]);
      if (scalar != nullptr) std::memcpy(&bytes_[begin + places[i]], &scalar->bits, scalar->size);
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      if (places[i] != 0 && fields[i].index() > 1) point(begin + places[i], value(fields[i]));
    }
    return begin;
  }

  static size_t width_of(const FlatTable::Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return 0;
    const auto* const scalar = std::get_if<Scalar>(&value);
    return scalar == nullptr ? kOffset : scalar->size;
  }

  // Writes what a field refers to, and returns its place.
  size_t value(const FlatTable::Value& of) {
    if (const auto* text = std::get_if<std::string>(&of)) return string(*text);
    if (const auto* structs = std::get_if<Structs>(&of)) return vector(*structs);
    if (const auto* tables = std::get_if<Tables>(&of)) return vector(*tables);
    return table(*std::get<FlatTable::Inner>(of));
  }
  size_t string(const std::string& text) {
    align();
    const size_t begin = bytes_.size();
    put(text.size(), kOffset);
    bytes_ += text;
    bytes_ += '\0';
    return begin;
  }
  size_t vector(const Structs& structs) {
    align(kLargest - kOffset);
    const size_t begin = bytes_.size();
    put(structs.words.size() / structs.words_each, kOffset);
    for (const uint64_t word : structs.words) put(word, sizeof word);
    return begin;
  }
  size_t vector(const Tables& tables) {
    align();
    const size_t begin = bytes_.size();
    put(tables.size(), kOffset);
    bytes_.resize(bytes_.size() + kOffset * tables.size());
    for (size_t i = 0; i < tables.size(); ++i) {
      point(begin + kOffset * (i + 1), table(tables[i]));
    }
    return begin;
  }

  std::string bytes_;
};

}  // namespace

FlatTable::FlatTable() = default;
FlatTable::FlatTable(FlatTable&& other) noexcept = default;
FlatTable& FlatTable::operator=(FlatTable&& other) noexcept = default;
FlatTable::~FlatTable() = default;

FlatTable::Value& FlatTable::at(size_t field) {
  if (field >= fields_.size()) fields_.resize(field + 1);
  return fields_[field];
}
FlatTable& FlatTable::scalar(size_t field, uint64_t bits, uint8_t size) {
  at(field) = Scalar{bits, size};
  return *this;
}
FlatTable& FlatTable::text(size_t field, std::string text) {
  at(field) = std::move(text);
  return *this;
}
FlatTable& FlatTable::structs(size_t field, Structs structs) {
  at(field) = std::move(structs);
  return *this;
}
FlatTable& FlatTable::table(size_t field, FlatTable inner) {
  at(field) = std::make_unique<FlatTable>(std::move(inner));
  return *this;
}
FlatTable& FlatTable::tables(size_t field, Tables tables) {
  at(field) = std::move(tables);
  return *this;
}

std::string flat_buffer(const FlatTable& root) { return FlatWriter().write(root); }

}  // namespace llmprof::query
