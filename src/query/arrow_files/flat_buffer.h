#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace llmprof::query {

// A FlatBuffers table as a tree of values, for Arrow's metadata. Hand-written, because five kinds
// of values do not need a library and its generated code.
class FlatTable {
 public:
  struct Scalar {
    uint64_t bits = 0;
    uint8_t size = 0;  // 1, 2, 4 or 8 bytes
  };
  // Structs of 8-byte members, one after the other.
  struct Structs {
    std::vector<uint64_t> words;
    size_t words_each = 1;
  };
  using Tables = std::vector<FlatTable>;
  // A table within a table, on the heap because types cannot contain themselves.
  using Inner = std::unique_ptr<FlatTable>;
  using Value = std::variant<std::monostate, Scalar, std::string, Structs, Inner, Tables>;

  FlatTable();
  FlatTable(FlatTable&& other) noexcept;
  FlatTable& operator=(FlatTable&& other) noexcept;
  ~FlatTable();

  // `field` is its number in the schema: its index, as FlatBuffers counts unions as two fields.
  FlatTable& scalar(size_t field, uint64_t bits, uint8_t size);
  FlatTable& text(size_t field, std::string text);
  FlatTable& structs(size_t field, Structs structs);
  FlatTable& table(size_t field, FlatTable inner);
  FlatTable& tables(size_t field, Tables tables);

  [[nodiscard]] const std::vector<Value>& fields() const { return fields_; }

 private:
  Value& at(size_t field);

  std::vector<Value> fields_;
};

// The buffer with `root` as its root table. Values are aligned to their size if the buffer is
// aligned to 8 bytes.
std::string flat_buffer(const FlatTable& root);

}  // namespace llmprof::query
