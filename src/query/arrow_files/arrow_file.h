#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "query/arrow_files/flat_buffer.h"
#include "query/model/column.h"

namespace llmprof::query {

// The values of one column, in Arrow's layout.
struct ArrowArray {
  uint64_t rows = 0;
  uint64_t nulls = 0;
  std::string valid = {};    // one bit per row; empty without nulls
  std::string offsets = {};  // of texts: 32-bit, one more than rows
  std::string values = {};   // fixed-size values, or the bytes of texts
};

struct ArrowField {
  std::string name;
  ColumnType type = ColumnType::text;
  bool dictionary = false;  // texts, each distinct one once: values are 32-bit indices of them
  using Metadata = std::vector<std::pair<std::string, std::string>>;
  Metadata metadata = {};
};

// Writes a file of Arrow's IPC format (the "file format", known as Feather V2): its schema, the
// dictionaries, then batches of rows. Buffers are aligned to 64 bytes in the file, so that programs
// can map it. Errors are thrown (base/needed.h).
class ArrowFile {
 public:
  // `path` must not exist.
  ArrowFile(std::filesystem::path path, std::vector<ArrowField> fields,
            ArrowField::Metadata metadata);

  // The texts that the values of this field are indices of. Before the first batch.
  void dictionary(size_t field, const ArrowArray& texts);
  // One array per field.
  void batch(const std::vector<ArrowArray>& columns);
  void finish();

 private:
  struct Body;
  // A message, its body behind it. Returns where it is, for the footer.
  using Block = std::vector<uint64_t>;
  Block message(uint8_t kind, FlatTable header, const Body* body);
  void put(std::string_view bytes);
  void pad_to(uint64_t alignment);
  [[nodiscard]] FlatTable schema() const;

  std::filesystem::path path_;
  FileDescriptor file_;
  std::vector<ArrowField> fields_;
  ArrowField::Metadata metadata_;
  uint64_t size_ = 0;
  FlatTable::Structs dictionaries_;
  FlatTable::Structs batches_;
};

}  // namespace llmprof::query
