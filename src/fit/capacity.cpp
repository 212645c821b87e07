#include "fit/capacity.h"

#include <algorithm>

namespace llmprof::fit {
namespace {

constexpr uint64_t kLargestBatch = 1 << 20;

// The largest number from 1 to `most` that fits; fitting is taken to be monotonic. Large numbers
// are found to a thousandth.
template <class Fits>
std::optional<uint64_t> largest(uint64_t most, const Fits& fits) {
  if (!fits(1)) return std::nullopt;
  uint64_t good = 1;
  uint64_t bad = most + 1;
  while (good * 2 < bad) {
    if (fits(good * 2)) {
      good *= 2;
    } else {
      bad = good * 2;
    }
  }
  constexpr uint64_t kPrecision = 1024;
  while (bad - good > 1 + good / kPrecision) {
    const uint64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

Request with_context(const Request& request, uint64_t context) {
  Request other = request;
  other.context = context;
  other.prompt_tokens =
      request.prompt_tokens == request.context ? context : std::min(request.prompt_tokens, context);
  return other;
}

std::optional<uint64_t> largest_batch(const Request& request, uint64_t gpu_bytes) {
  return largest(kLargestBatch, [&](uint64_t batch) {
    Request other = request;
    other.batch = batch;
    return need_of(other, gpu_bytes).fits;
  });
}

std::optional<uint64_t> largest_context(const Request& request, uint64_t gpu_bytes) {
  const uint64_t longest = request.model.longest_context;
  return largest(longest == 0 ? kLongestContext : longest, [&](uint64_t context) {
    return need_of(with_context(request, context), gpu_bytes).fits;
  });
}

}  // namespace llmprof::fit
