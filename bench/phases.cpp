// What reading a capture and analysing it cost, apart: bench_phases CAPTURE [runs]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "analysis/profile.h"
#include "base/byte_stream.h"
#include "readers/detect.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] void give_up(const llmprof::Error& error) {
  fmt::print(stderr, "bench_phases: {}\n", error.message);
  std::exit(static_cast<int>(error.kind));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up({llmprof::ErrorKind::usage, "usage: bench_phases CAPTURE [runs]"});
  const int runs = argc > 2 ? std::atoi(argv[2]) : 3;
  const auto conf = llmprof::ConfFiles::open(std::nullopt);
  if (!conf) give_up(conf.error());
  const llmprof::AnalysisRules rules{llmprof::KernelRules::load(*conf).value(),
                                     llmprof::StageRules::load(*conf).value(),
                                     llmprof::GpuSpecs::load(*conf).value()};
  std::vector<double> reading;
  std::vector<double> annotated;
  std::vector<double> detected;
  size_t kernels = 0;
  for (int run = 0; run < runs; ++run) {
    for (const bool use_annotations : {true, false}) {
      const auto start = Clock::now();
      const auto head = llmprof::read_head(argv[1], llmprof::kHeadBytes);
      if (!head) give_up(head.error());
      const llmprof::Reader* reader = llmprof::find_reader(*head);
      if (reader == nullptr) give_up(llmprof::unreadable(argv[1], *head));
      llmprof::TraceBuilder builder;
      if (const auto read = reader->read(argv[1], builder); !read) give_up(read.error());
      llmprof::Trace trace = std::move(builder).freeze();
      reading.push_back(seconds_since(start));
      kernels = trace.kernels.size();
      llmprof::AnalysisOptions options;
      options.use_annotations = use_annotations;
      const auto read = Clock::now();
      const auto profile = llmprof::analyse(trace, rules, options);
      if (!profile) give_up(profile.error());
      (use_annotations ? annotated : detected).push_back(seconds_since(read));
    }
  }
  fmt::print(
      "{} kernels, medians of {} runs, seconds: reading {:.2f}, analysis {:.2f}, analysis without "
      "annotations {:.2f}\n",
      kernels, runs, median(reading), median(annotated), median(detected));
}
