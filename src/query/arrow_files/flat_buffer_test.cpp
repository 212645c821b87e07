#include "query/arrow_files/flat_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace llmprof::query {
namespace {

// Reads a buffer as FlatBuffers' documentation describes it.
class FlatReader {
 public:
  explicit FlatReader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class Item>
  [[nodiscard]] Item item(size_t place) const {
    EXPECT_EQ(place % sizeof(Item), 0U) << "not aligned";
    Item item{};
    std::memcpy(&item, bytes_.substr(place, sizeof item).data(), sizeof item);
    return item;
  }
  [[nodiscard]] size_t follow(size_t place) const { return place + item<uint32_t>(place); }
  // The place of a field of the table; 0 if it is missing.
  [[nodiscard]] size_t field(size_t table, size_t number) const {
    const auto vtable = table - static_cast<size_t>(item<int32_t>(table));
    if (4 + 2 * number >= item<uint16_t>(vtable)) return 0;
    const auto within = item<uint16_t>(vtable + 4 + 2 * number);
    EXPECT_LT(within, item<uint16_t>(vtable + 2));
    return within == 0 ? 0 : table + within;
  }
  [[nodiscard]] std::string text(size_t place) const {
    const size_t begin = follow(place);
    EXPECT_EQ(bytes_[begin + 4 + item<uint32_t>(begin)], '\0');
    return bytes_.substr(begin + 4, item<uint32_t>(begin));
  }

 private:
  std::string bytes_;
};

TEST(FlatBuffer, HasItsFieldsAligned) {
  FlatTable inner;
  inner.scalar(0, 7, 1).scalar(1, 300, 2);
  FlatTable::Tables tables;
  for (const char* const name : {"a", "", "three"}) tables.emplace_back().text(2, name);
  FlatTable root;
  root.scalar(1, 0x12345, 4).scalar(0, 1, 1).scalar(3, UINT64_MAX, 8).text(4, "text");
  root.table(5, std::move(inner)).tables(6, std::move(tables));
  root.structs(7, {.words = {1, 2, 3, 4, 5, 6}, .words_each = 3});
  const FlatReader read(flat_buffer(root));
  const size_t table = read.follow(0);
  EXPECT_EQ(read.item<uint8_t>(read.field(table, 0)), 1);
  EXPECT_EQ(read.item<uint32_t>(read.field(table, 1)), 0x12345U);
  EXPECT_EQ(read.field(table, 2), 0U);
  EXPECT_EQ(read.item<uint64_t>(read.field(table, 3)), UINT64_MAX);
  EXPECT_EQ(read.text(read.field(table, 4)), "text");
  EXPECT_EQ(read.field(table, 8), 0U);

  const size_t inside = read.follow(read.field(table, 5));
  EXPECT_EQ(read.item<uint8_t>(read.field(inside, 0)), 7);
  EXPECT_EQ(read.item<uint16_t>(read.field(inside, 1)), 300);

  const size_t list = read.follow(read.field(table, 6));
  ASSERT_EQ(read.item<uint32_t>(list), 3U);
  EXPECT_EQ(read.text(read.field(read.follow(list + 4), 2)), "a");
  EXPECT_EQ(read.text(read.field(read.follow(list + 8), 2)), "");
  EXPECT_EQ(read.text(read.field(read.follow(list + 12), 2)), "three");

  const size_t structs = read.follow(read.field(table, 7));
  EXPECT_EQ(read.item<uint32_t>(structs), 2U);
  EXPECT_EQ(read.item<uint64_t>(structs + 4), 1U);
  EXPECT_EQ(read.item<uint64_t>(structs + 4 + 5 * 8), 6U);
}

TEST(FlatBuffer, MayBeEmpty) {
  FlatTable root;
  root.tables(0, {});
  const FlatReader read(flat_buffer(root));
  EXPECT_EQ(read.item<uint32_t>(read.follow(read.field(read.follow(0), 0))), 0U);
  const FlatReader nothing(flat_buffer(FlatTable()));
  EXPECT_EQ(nothing.field(nothing.follow(0), 0), 0U);
}

}  // namespace
}  // namespace llmprof::query
