// Separately times reading a capture, analyzing it and building its page, and the time that memory
// alone would take for reading: bench_phases CAPTURE [runs]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "base/quantiles.h"
#include "base/streams/byte_stream.h"
#include "exports/exports.h"
#include "page/page.h"
#include "profile/json/json.h"
#include "readers/shared/reader.h"

namespace {

[[noreturn]] void give_up(const llmprof::Error& error) {
  fmt::print(stderr, "bench_phases: {}\n", error.message);
  std::exit(static_cast<int>(error.kind));
}

// The wall time of each phase, and the CPU time of all its threads.
class Phases {
 public:
  void begin() {
    wall_ = Wall::now();
    processor_ = processor_seconds();
  }
  void end(std::string_view phase) {
    Seconds& all = phases_[phase];
    all.wall.push_back(std::chrono::duration<double>(Wall::now() - wall_).count());
    all.processor.push_back(processor_seconds() - processor_);
  }
  [[nodiscard]] double wall(std::string_view phase) const {
    return llmprof::median(phases_.at(phase).wall);
  }
  [[nodiscard]] double processor(std::string_view phase) const {
    return llmprof::median(phases_.at(phase).processor);
  }
  void print(std::string_view phase) const {
    fmt::print("  {}: {:.3f} s, CPU time {:.3f} s\n", phase, wall(phase), processor(phase));
  }

 private:
  using Wall = std::chrono::steady_clock;
  struct Seconds {
    std::vector<double> wall;
    std::vector<double> processor;
  };
  static double processor_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  }

  Wall::time_point wall_;
  double processor_ = 0;
  std::map<std::string_view, Seconds> phases_;
};

template <class Table>
size_t bytes_of(Table& table) {
  const auto of_column = [](const auto& column) { return column.size() * sizeof(column[0]); };
  return std::apply([&](const auto&... column) { return (of_column(column) + ...); },
                    table.columns());
}

size_t bytes_of_tables(llmprof::trace::Trace& trace) {
  return bytes_of(trace.kernels) + bytes_of(trace.launches) + bytes_of(trace.ranges) +
         bytes_of(trace.memory_operations) + bytes_of(trace.graph_replays) +
         bytes_of(trace.operators) + bytes_of(trace.counters);
}

// One thread copies the file from the page cache and fills as much new memory as the tables take:
// the baseline for reading.
void move_bytes(const char* path, size_t table_bytes) {
  constexpr size_t kWindow = 1UL << 20U;
  constexpr size_t kColumn = 16UL << 20U;
  std::vector<char> window(kWindow);
  auto stream = llmprof::open_byte_stream(path);
  if (!stream) give_up(stream.error());
  for (size_t got = kWindow; got == kWindow;) {
    const auto read = (*stream)->read(window);
    if (!read) give_up(read.error());
    got = *read;
  }
  std::vector<std::vector<char>> columns;
  for (size_t left = table_bytes; left > 0; left -= columns.back().size()) {
    columns.emplace_back(std::min(left, kColumn), window[left % kWindow]);
  }
}

// Builds report.html like `llmprof analyze`, with an empty script.
size_t make_page(const llmprof::trace::Trace& trace, const llmprof::analysis::Analyzed& analyzed,
                 Phases& phases) {
  const std::string json = llmprof::profile::to_json(analyzed.profile);
  phases.begin();
  auto timeline = llmprof::exports::make_timeline({{trace, analyzed.results}});
  phases.end("page: timeline");
  llmprof::page::Content content{analyzed.profile, json, {}, std::nullopt};
  if (timeline) {
    content.timeline.push_back({"timeline", std::move(timeline->header)});
    for (auto& column : timeline->columns) {
      content.timeline.push_back({"t." + column.name, std::move(column.bytes)});
    }
  }
  phases.begin();
  const size_t bytes = llmprof::page::make_page({"", "", ""}, content).size();
  phases.end("page: compressing");
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    give_up({llmprof::ErrorKind::usage, "usage: bench_phases CAPTURE [runs]"});
  }
  const int runs = argc > 2 ? std::atoi(argv[2]) : 3;
  const auto conf = llmprof::config::ConfFiles::open(std::nullopt);
  if (!conf) give_up(conf.error());
  const llmprof::analysis::AnalysisRules rules{llmprof::analysis::KernelRules::load(*conf).value(),
                                               llmprof::analysis::StageRules::load(*conf).value(),
                                               llmprof::llm::GpuSpecs::load(*conf).value()};
  const auto head = llmprof::read_head(argv[1], llmprof::readers::kHeadBytes);
  if (!head) give_up(head.error());
  const llmprof::readers::Reader* reader = llmprof::readers::find_reader(*head);
  if (reader == nullptr) give_up(llmprof::readers::unreadable(argv[1], *head));
  Phases phases;
  size_t kernels = 0;
  size_t table_bytes = 0;
  size_t page_bytes = 0;
  for (int run = 0; run < runs; ++run) {
    for (const bool use_annotations : {true, false}) {
      {
        phases.begin();
        llmprof::trace::TraceBuilder builder;
        if (const auto read = reader->read(argv[1], builder); !read) give_up(read.error());
        phases.end("reading");
        phases.begin();
        llmprof::trace::Trace trace = std::move(builder).freeze();
        phases.end("ordering and joining");
        kernels = trace.kernels.size();
        table_bytes = bytes_of_tables(trace);
        llmprof::analysis::AnalysisOptions options;
        options.use_annotations = use_annotations;
        phases.begin();
        const auto analyzed = llmprof::analysis::analyze(trace, rules, options);
        if (!analyzed) give_up(analyzed.error());
        phases.end(use_annotations ? "analysis" : "analysis without annotations");
        page_bytes = make_page(trace, *analyzed, phases);
      }
      phases.begin();
      move_bytes(argv[1], table_bytes);
      phases.end("memory alone");
    }
  }
  fmt::print("{} kernels, {:.0f} MB of tables, medians of {} runs\n", kernels,
             static_cast<double>(table_bytes) * 1e-6, runs);
  for (const std::string_view phase :
       {"memory alone", "reading", "ordering and joining", "analysis",
        "analysis without annotations", "page: timeline", "page: compressing"}) {
    phases.print(phase);
  }
  const auto of_page = [&](const auto& of) {
    return of("page: timeline") + of("page: compressing");
  };
  fmt::print(
      "page: {:.1f} MB; over reading: {:.2f} of wall time, {:.2f} of CPU time\n",
      static_cast<double>(page_bytes) * 1e-6,
      of_page([&](auto phase) { return phases.wall(phase); }) / phases.wall("reading"),
      of_page([&](auto phase) { return phases.processor(phase); }) / phases.processor("reading"));
  fmt::print("reading over memory alone: {:.2f} of wall time, {:.2f} of CPU time\n",
             phases.wall("reading") / phases.wall("memory alone"),
             phases.processor("reading") / phases.processor("memory alone"));
}
