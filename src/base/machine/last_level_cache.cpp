#include "base/machine/last_level_cache.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/machine/control_group.h"
#include "base/text.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kEnoughCaches = 4;

std::optional<size_t> leading_number(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// "32768K"; 0 where it is no size.
size_t cache_size(std::string_view text) {
  constexpr unsigned kKilo = 10;
  const size_t number = leading_number(text).value_or(0);
  const std::string_view size = trim(text);
  if (size.ends_with('K')) return number << kKilo;
  return size.ends_with('M') ? number << 2 * kKilo : number;
}

// The caches of one level: their sizes, by the CPUs that share them.
struct CacheLevel {
  size_t level = 0;
  std::map<std::string, size_t> sizes;
};

void add_cache(const fs::path& cache, CacheLevel& highest) {
  const auto level = leading_number(file_content(cache / "level").value_or(""));
  const size_t size = cache_size(file_content(cache / "size").value_or(""));
  if (!level || size == 0 || *level < highest.level) return;
  if (*level > highest.level) highest = {*level, {}};
  highest.sizes[file_content(cache / "shared_cpu_list").value_or("")] = size;
}

}  // namespace

std::optional<size_t> last_level_cache_bytes(const fs::path& cpus) {
  CacheLevel highest;
  std::error_code error;
  for (const auto& cpu : fs::directory_iterator(cpus, error)) {
    for (const auto& cache : fs::directory_iterator(cpu.path() / "cache", error)) {
      add_cache(cache.path(), highest);
    }
  }
  size_t total = 0;
  for (const auto& [shared, size] : highest.sizes) total += size;
  return total > 0 ? std::optional(total) : std::nullopt;
}

std::optional<size_t> last_level_cache_bytes() {
  if (const auto listed = last_level_cache_bytes("/sys/devices/system/cpu")) return listed;
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long size = sysconf(level); size > 0) return static_cast<size_t>(size);
  }
  return std::nullopt;
}

size_t usable_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const size_t memory =
      pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
  const auto limit = least_control_group_limit("memory.max", leading_number);
  return limit ? std::min(*limit, memory == 0 ? *limit : memory) : memory;
}

size_t pieces_beyond_cache(const PiecewiseData& data, std::optional<size_t> cache_bytes,
                           size_t memory_bytes) {
  if (!cache_bytes || data.piece_bytes == 0) return data.fewest;
  const auto beside_fixed = [&](size_t bytes) {
    return bytes > data.fixed_bytes ? bytes - data.fixed_bytes : 0;
  };
  const size_t wanted =
      (beside_fixed(kEnoughCaches * *cache_bytes) + data.piece_bytes - 1) / data.piece_bytes;
  const size_t fit = memory_bytes == 0 ? wanted : beside_fixed(memory_bytes / 2) / data.piece_bytes;
  return std::max(data.fewest, std::min(wanted, fit));
}

}  // namespace llmprof
