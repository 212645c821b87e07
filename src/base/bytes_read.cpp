#include "base/bytes_read.h"

#include <atomic>

namespace llmprof {
namespace {

std::atomic<uint64_t> total = 0;

}  // namespace

void count_bytes_read(uint64_t bytes) { total.fetch_add(bytes, std::memory_order_relaxed); }

uint64_t bytes_read() { return total.load(std::memory_order_relaxed); }

}  // namespace llmprof
