#pragma once

#include <sqlite3.h>

#include <chrono>
#include <string>
#include <string_view>

#include "query/engine/catalog.h"
#include "query/engine/limits.h"

namespace llmprof::query {

inline constexpr std::string_view kOnlyReads =
    "a statement may only read: SELECT, or WITH ... SELECT";

// What a statement may do, and for how long. One per connection, which refers to it.
class Guard {
 public:
  explicit Guard(const Catalog& catalog) : catalog_(catalog) {}

  // After the tables are made: from now on statements only read, and within limits.
  void close_in(sqlite3* database);

  void begin(const Limits& limits);
  [[nodiscard]] bool out_of_time() const { return out_of_time_; }
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  // What the last statement may not do; empty if nothing was refused.
  [[nodiscard]] const std::string& refused() const { return refused_; }

 private:
  static int authorize(void* guard, int action, const char* first, const char* second,
                       const char* database, const char* trigger);
  static int check_time(void* guard);
  int refuse(std::string what);
  int judge(int action, const char* first, const char* second);

  const Catalog& catalog_;
  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>* cancel_ = nullptr;
  bool out_of_time_ = false;
  bool cancelled_ = false;
  std::string refused_;
};

// While it exists, SQLite takes at most so much more memory than now, in this process.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes)
      : before_(
            sqlite3_hard_heap_limit64(sqlite3_memory_used() + static_cast<sqlite3_int64>(bytes))) {}
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit() { sqlite3_hard_heap_limit64(before_); }

 private:
  sqlite3_int64 before_;
};

}  // namespace llmprof::query
