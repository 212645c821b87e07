// Measures the CPU cost of one kernel launch, for bench/collector_overhead.py. With a GPU:
//   nvcc -O2 -o launch_loop bench/launch_loop.cu
//   ./launch_loop [--launches N] [--core C] [--settle-ms M]
// The set-up of CUDA and of a profiler, on threads of their own, gets M ms [2000] before launches
// are timed, so that the cost per launch does not depend on their number. Prints one line of JSON;
// _ns are nanoseconds per launch:
//   median_ns, mean_ns     wall time of single launches
//   thread_cpu_ns          CPU time of the launching thread, without synchronization
//   other_threads_cpu_ns   CPU time of all other threads, those of CUDA and of a profiler
//   set_up_cpu_ms          CPU time of the whole process before the timed launches, once
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

// Fewer launches than the driver queues without blocking.
constexpr int kBurst = 256;
constexpr int kWarmUpBursts = 20;
constexpr int64_t kNanosecondsPerSecond = 1000000000;

__global__ void empty_kernel() {}

struct Options {
  int launches = 100000;
  int core = -1;  // -1: the core that it happens to run on
  int settle_ms = 2000;
};

int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * kNanosecondsPerSecond + time.tv_nsec;
}

void must(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "launch_loop: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--launches") == 0) {
      options.launches = std::atoi(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--core") == 0) {
      options.core = std::atoi(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--settle-ms") == 0) {
      options.settle_ms = std::atoi(argv[i + 1]);
    }
  }
  if (options.launches < kBurst) options.launches = kBurst;
  return options;
}

// Call after CUDA and a profiler have started their threads, which would inherit the affinity.
int pin(int core) {
  if (core < 0) core = sched_getcpu();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0 ? core : -1;
}

// Returns the thread's CPU time. The clock is read once between two launches, in every variant.
int64_t run_burst(std::vector<int64_t>& times) {
  int64_t marks[kBurst + 1];
  const int64_t before = now(CLOCK_THREAD_CPUTIME_ID);
  marks[0] = now(CLOCK_MONOTONIC);
  for (int i = 0; i < kBurst; ++i) {
    empty_kernel<<<1, 32>>>();
    marks[i + 1] = now(CLOCK_MONOTONIC);
  }
  const int64_t cpu = now(CLOCK_THREAD_CPUTIME_ID) - before;
  must(cudaDeviceSynchronize(), "synchronizing");
  for (int i = 0; i < kBurst; ++i) times.push_back(marks[i + 1] - marks[i]);
  return cpu;
}

void settle(int milliseconds) {
  timespec left = {milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

int64_t other_threads_cpu() { return now(CLOCK_PROCESS_CPUTIME_ID) - now(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  must(cudaFree(nullptr), "initializing CUDA");
  std::vector<int64_t> times;
  times.reserve(static_cast<size_t>(options.launches) + kBurst);
  for (int i = 0; i < kWarmUpBursts; ++i) {
    run_burst(times);
    times.clear();
  }
  must(cudaGetLastError(), "launching");
  settle(options.settle_ms);
  const int core = pin(options.core);
  const double set_up_cpu_ms = static_cast<double>(now(CLOCK_PROCESS_CPUTIME_ID)) / 1e6;
  int64_t thread_cpu = 0;
  const int64_t others_before = other_threads_cpu();
  while (times.size() < static_cast<size_t>(options.launches)) thread_cpu += run_burst(times);
  const int64_t others_cpu = other_threads_cpu() - others_before;
  must(cudaGetLastError(), "launching");
  const double count = static_cast<double>(times.size());
  double sum = 0;
  for (const int64_t time : times) sum += static_cast<double>(time);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::printf(
      "{\"launches\": %zu, \"core\": %d, \"median_ns\": %lld, \"mean_ns\": %.1f, "
      "\"thread_cpu_ns\": %.1f, \"other_threads_cpu_ns\": %.1f, \"set_up_cpu_ms\": %.1f}\n",
      times.size(), core, static_cast<long long>(*middle), sum / count,
      static_cast<double>(thread_cpu) / count, static_cast<double>(others_cpu) / count,
      set_up_cpu_ms);
  return 0;
}
