#include "base/machine/last_level_cache.h"

#include <unistd.h>

#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

std::optional<size_t> leading_number(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// "32768K"; 0 if it is not a size.
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

}  // namespace llmprof
