#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "readers/collector_log/records.h"
#include "trace/tables.h"
#include "wire/log_format.h"

namespace llmprof::readers::collector_log {

// What is wrong with the chunks of a file.
struct ChunkDamage {
  uint64_t headers = 0;
  uint64_t stretches = 0;
  uint64_t unfinished = 0;
  uint64_t blank = 0;  // all zero

  ChunkDamage& operator+=(const ChunkDamage& more) {
    headers += more.headers;
    stretches += more.stretches;
    unfinished += more.unfinished;
    blank += more.blank;
    return *this;
  }
};

// Consecutive records of one thread: rows of DecodedChunks::records and calls.
struct ThreadRecords {
  bool begins_chunk = false;  // by thread `serial`; otherwise the first record is a ThreadInfo
  uint32_t serial = 0;
  size_t first_record = 0;
  size_t records_end = 0;
  size_t first_call = 0;
  size_t calls_end = 0;
  bool any_calls = false;  // even if none is sane
};

// Neighboring chunks of a log, decoded independently of the others, so that several threads can
// work at once. Records that come by the million are stored in columns; names hold the log's own
// codes and keys.
class DecodedChunks {
 public:
  // `parse` takes windows of chunks of this size: the first window starts with chunk `first`, each
  // later one `stride` chunks after the previous one.
  DecodedChunks(size_t chunk_bytes, uint64_t first, uint64_t stride)
      : chunk_bytes_(chunk_bytes), first_(first), stride_(stride) {}

  // The result refers to the window's bytes. The last chunk may be cut off.
  void parse(std::span<const char> window);
  // `chunk` excludes the file's header.
  void parse_chunk(std::span<const char> chunk, uint64_t sequence);

  // In the order of the file.
  [[nodiscard]] const std::vector<ThreadRecords>& stretches() const { return stretches_; }
  // All except those in columns.
  [[nodiscard]] std::span<const Record> records() const { return records_; }
  // Without their threads.
  [[nodiscard]] const trace::LaunchTable& calls() const { return calls_; }
  // Only times, names and correlations.
  [[nodiscard]] const trace::KernelTable& kernels() const { return kernels_; }
  [[nodiscard]] const ChunkDamage& damage() const { return damage_; }
  // Counts what the columns do not include.
  [[nodiscard]] const Findings& findings() const { return findings_; }
  [[nodiscard]] uint64_t chunks() const { return chunks_; }
  [[nodiscard]] bool cut_off() const { return cut_off_; }

 private:
  void clear();
  void begin_stretch(bool begins_chunk, uint32_t serial);
  void end_stretch();
  void add(const Record& record);

  size_t chunk_bytes_;
  uint64_t first_;
  uint64_t stride_;
  std::vector<ThreadRecords> stretches_;
  std::vector<Record> records_;
  trace::LaunchTable calls_;
  trace::KernelTable kernels_;
  ChunkDamage damage_;
  Findings findings_;
  uint64_t chunks_ = 0;
  bool cut_off_ = false;
};

}  // namespace llmprof::readers::collector_log
