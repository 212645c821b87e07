#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/files.h"

namespace llmprof::readers {

// The rows of a table directly from the pages of its file, in order of their ids. Through SQLite
// queries, reading a million kernels took 2.5 times as long. Anything that is not a plain table is
// reported, for SQLite to read or to refuse. Nothing is mapped: a file that shrinks meanwhile is
// damage, not a signal. Not thread-safe.
class TableWalk {
 public:
  // None if the file is not SQLite, or holds texts as UTF-16.
  static std::optional<TableWalk> open(const std::filesystem::path& path);

  enum class Step : uint8_t {
    row,
    long_row,  // continues in other pages; its id is known
    end,
    damage
  };

  // Afterwards, `next` gives rows with ids from `first` to `last`.
  void start(uint32_t root_page, int64_t first, int64_t last);
  Step next();
  // Of the row from the last `next`. The record is valid until the next call.
  [[nodiscard]] int64_t row_id() const { return row_id_; }
  [[nodiscard]] std::span<const uint8_t> record() const { return record_; }

 private:
  // One page on the way down, with the children still to be visited.
  struct Level {
    std::vector<uint8_t> page;
    size_t cells = 0;
    size_t next_child = 0;
  };
  static constexpr size_t kDeepest = 20;  // SQLite's own limit

  TableWalk(FileDescriptor file, uint64_t file_bytes, size_t page_bytes, size_t usable_bytes);

  std::span<const uint8_t> page(uint32_t number);
  bool descend(uint32_t number);
  bool next_leaf(bool& more);
  [[nodiscard]] uint32_t child(const Level& level, size_t index) const;
  [[nodiscard]] bool child_ends_before(const Level& level, size_t index, int64_t id) const;

  FileDescriptor file_;
  uint64_t file_bytes_;
  size_t page_bytes_;
  size_t usable_bytes_;  // of a page; SQLite does not use the rest
  std::vector<uint8_t> window_;
  uint64_t window_at_ = 0;
  size_t window_filled_ = 0;

  std::vector<Level> levels_;
  size_t depth_ = 0;
  std::span<const uint8_t> leaf_;
  size_t leaf_cells_ = 0;
  size_t next_cell_ = 0;
  size_t leaves_ = 0;        // visited so far
  uint64_t pages_left_ = 0;  // that this walk may still visit, so that a cycle of pages ends
  uint32_t root_page_ = 0;
  bool started_ = false;
  int64_t first_ = 0;
  int64_t last_ = -1;
  int64_t row_id_ = 0;
  bool any_row_ = false;
  std::span<const uint8_t> record_;
};

}  // namespace llmprof::readers
