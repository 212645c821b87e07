#include "cpu_llm/peaks.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>
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
constexpr size_t kLeastRounds = 3;

// A round that takes up to this much longer than the best confirms it.
constexpr double kNearTheBest = 1.1;
constexpr int kFewestConfirming = 3;
constexpr int kOneOf = 20;  // rounds, that must confirm the best
constexpr double kLeastCpuShare = 0.85;

struct Best {
  double seconds = 0;
  Rounds rounds;
};

double process_cpu_seconds() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The fastest of the rounds that fit into the time: disturbances only make a round slower.
template <class Round>
Best best_of(double for_seconds, size_t threads, const Round& round) {
  std::vector<double> seconds;
  const double cpu_before = process_cpu_seconds();
  const auto begin = Clock::now();
  const auto until = begin + std::chrono::duration<double>(for_seconds);
  while (seconds.size() < kLeastRounds || Clock::now() < until) {
    const auto start = Clock::now();
    round();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
  Best best;
  best.seconds = *std::min_element(seconds.begin(), seconds.end());
  best.rounds.count = static_cast<int>(seconds.size());
  best.rounds.near_the_best =
      static_cast<int>(std::count_if(seconds.begin(), seconds.end(), [&](double each) {
        return each <= kNearTheBest * best.seconds;
      }));
  best.rounds.cpu_share =
      (process_cpu_seconds() - cpu_before) / (wall * static_cast<double>(threads));
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
  return best_of(seconds, workers.count(), [&] {
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
  Rounds rounds;
};

GemmPeak gemm_peak(double seconds, Workers& workers) {
  GemmPeak peak;
  for (const blasint size : kGemmSizes) {
    const Best best = time_gemm(size, seconds, workers);
    const double flops = 2.0 * size * size * size * static_cast<double>(workers.count());
    if (flops / best.seconds < peak.flops_per_s) continue;
    peak = {flops / best.seconds,
            fmt::format("best of {} rounds of one {}x{}x{} product per thread", best.rounds.count,
                        size, size, size),
            best.rounds};
  }
  return peak;
}

Best time_read(const FloatBuffer& memory, double seconds, Workers& workers) {
  const size_t piece = memory.size() / (kPeakPiecesPerWorker * workers.count());
  std::vector<float> sums(memory.size() / piece + 1);
  return best_of(seconds, workers.count(), [&] {
    workers.share_range(memory.size(), piece, [&](size_t begin, size_t end, size_t) {
      sums[begin / piece] = sum(memory.data() + begin, end - begin);
    });
  });
}

// The second half becomes the first.
Best time_copy(FloatBuffer& memory, double seconds, Workers& workers) {
  const size_t half = memory.size() / 2;
  const size_t piece = half / (kPeakPiecesPerWorker * workers.count());
  return best_of(seconds, workers.count(), [&] {
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
  std::string doubt = doubt_of(gemm.rounds);
  if (doubt.empty()) doubt = doubt_of(read.rounds);
  return {
      gemm.flops_per_s, bytes / read.seconds, bytes / copy.seconds,
      fmt::format("FLOP/s: {} (f32, OpenBLAS); bytes/s: best of {} passes that read {:.0f} MiB; "
                  "{} threads",
                  gemm.method, read.rounds.count, bytes / kMebibyte, workers.count()),
      std::move(doubt)};
}

std::string doubt_of(const Rounds& rounds) {
  if (rounds.cpu_share < kLeastCpuShare) {
    return fmt::format("its threads ran for {:.0f} % of the time: other programs used the CPUs",
                       100 * rounds.cpu_share);
  }
  const int enough = std::max(kFewestConfirming, rounds.count / kOneOf);
  if (rounds.near_the_best >= enough) return {};
  return fmt::format("{} of {} rounds came near the best one", rounds.near_the_best - 1,
                     rounds.count - 1);
}

std::string peak_library() {
  return fmt::format("{} {}", openblas_get_config(), openblas_get_corename());
}

}  // namespace cpu_llm
