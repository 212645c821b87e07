#include "cpu_llm/peaks.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include "cpu_llm/float_buffer.h"
#include "cpu_llm/vector_math.h"

namespace cpu_llm {
namespace {

using Clock = std::chrono::steady_clock;

// A small product fits into a moment without disturbance, a large one hides the cost of packing.
constexpr std::array<blasint, 2> kGemmSizes = {384, 768};
constexpr size_t kAssumedCache = 64UL << 20U;
constexpr size_t kCachesRead = 4;
constexpr size_t kLeastRead = 128UL << 20U;
constexpr size_t kMostRead = 4UL << 30U;
// In large pieces, as the products that are compared with it read their weights.
constexpr size_t kPeakPiecesPerWorker = 4;
// Shares of the time for all: each size of product, reading, copying.
constexpr double kGemmShare = 0.25;
constexpr double kReadShare = 0.39;
constexpr double kCopyShare = 0.11;
constexpr int kLeastRounds = 3;

struct Best {
  double seconds = 0;
  int rounds = 0;
};

// The fastest of the rounds that fit into the time: disturbances only make a round slower.
template <class Round>
Best best_of(double for_seconds, const Round& round) {
  Best best;
  const auto until = Clock::now() + std::chrono::duration<double>(for_seconds);
  while (best.rounds < kLeastRounds || Clock::now() < until) {
    const auto start = Clock::now();
    round();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best.seconds = best.rounds == 0 ? seconds : std::min(best.seconds, seconds);
    ++best.rounds;
  }
  return best;
}

struct Product {
  FloatBuffer a;
  FloatBuffer b;
  FloatBuffer c;
};

Product product_of_ones(size_t size) {
  const size_t elements = size * size;
  Product product = {FloatBuffer(elements), FloatBuffer(elements), FloatBuffer(elements)};
  std::fill_n(product.a.data(), elements, 1.0F);
  std::fill_n(product.b.data(), elements, 1.0F);
  return product;
}

// Each worker has its own matrices: only the machine is shared.
Best time_gemm(blasint size, double seconds, Workers& workers) {
  std::vector<Product> products;
  products.reserve(workers.count());
  for (size_t worker = 0; worker < workers.count(); ++worker) {
    products.push_back(product_of_ones(static_cast<size_t>(size)));
  }
  return best_of(seconds, [&] {
    workers.share(products.size(), [&](size_t chunk, size_t) {
      Product& product = products[chunk];
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, size, size, size, 1, product.a.data(),
                  size, product.b.data(), size, 0, product.c.data(), size);
    });
  });
}

struct GemmPeak {
  double flops_per_s = 0;
  std::string method;
};

GemmPeak gemm_peak(double seconds, Workers& workers) {
  GemmPeak peak;
  for (const blasint size : kGemmSizes) {
    const Best best = time_gemm(size, seconds, workers);
    const double flops = 2.0 * size * size * size * static_cast<double>(workers.count());
    if (flops / best.seconds < peak.flops_per_s) continue;
    peak = {flops / best.seconds,
            fmt::format("best of {} rounds of one {}x{}x{} product per thread", best.rounds, size,
                        size, size)};
  }
  return peak;
}

Best time_read(const FloatBuffer& memory, double seconds, Workers& workers) {
  const size_t piece = memory.size() / (kPeakPiecesPerWorker * workers.count());
  std::vector<float> sums(memory.size() / piece + 1);
  return best_of(seconds, [&] {
    workers.share_range(memory.size(), piece, [&](size_t begin, size_t end, size_t) {
      sums[begin / piece] = sum(memory.data() + begin, end - begin);
    });
  });
}

// The second half becomes the first.
Best time_copy(FloatBuffer& memory, double seconds, Workers& workers) {
  const size_t half = memory.size() / 2;
  const size_t piece = half / (kPeakPiecesPerWorker * workers.count());
  return best_of(seconds, [&] {
    workers.share_range(half, piece, [&](size_t begin, size_t end, size_t) {
      std::memcpy(memory.data() + begin, memory.data() + half + begin,
                  (end - begin) * sizeof(float));
    });
  });
}

}  // namespace

Peaks measure_peaks(std::optional<size_t> last_level_cache, double seconds, Workers& workers) {
  const size_t wanted = kCachesRead * last_level_cache.value_or(kAssumedCache);
  FloatBuffer memory(std::clamp(wanted, kLeastRead, kMostRead) / sizeof(float));
  const auto bytes = static_cast<double>(memory.bytes());
  const GemmPeak gemm = gemm_peak(kGemmShare * seconds, workers);
  const Best read = time_read(memory, kReadShare * seconds, workers);
  const Best copy = time_copy(memory, kCopyShare * seconds, workers);
  constexpr double kMebibyte = 1U << 20U;
  return {
      gemm.flops_per_s, bytes / read.seconds, bytes / copy.seconds,
      fmt::format("FLOP/s: {} (f32, OpenBLAS); bytes/s: best of {} passes that read {:.0f} MiB; "
                  "{} threads",
                  gemm.method, read.rounds, bytes / kMebibyte, workers.count())};
}

}  // namespace cpu_llm
