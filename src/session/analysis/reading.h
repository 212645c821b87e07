#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/progress.h"
#include "readers/detect.h"
#include "session/analysis/timings.h"
#include "session/bundle/inputs.h"
#include "session/bundle/run_dir.h"
#include "trace/builder.h"

namespace llmprof::session {

// What a file holds, recognized from its first bytes.
struct Content {
  const readers::Reader* reader = nullptr;  // of a format that is read
  bool is_report = false;                   // of a tool that has to convert it
};
Content content_of(const fs::path& path);

// A folder that is gone with this object. Empty: none.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// What an analysis works on.
struct FrozenReading {
  trace::Trace trace;
  std::optional<trace::Trace> operators;  // of a run's torch pass, beside a timeline
  std::optional<trace::Trace> control;    // what the light watch noted of a run's control run
  std::optional<Error> incomplete;        // a named file that could not be read
};

// Inputs, read into one trace. Each file is read once: inputs can be added while a run is going on,
// and those that were added before are not read again. A copy can be frozen and analyzed while the
// original keeps reading; it takes as much memory as the original.
class Reading {
 public:
  // Reads the inputs that are new, in their order. A file that the user named and that cannot be
  // read makes the reading incomplete, and so does a capture that was found in a folder; another
  // file there is a note. What a run did not get, it records itself.
  //
  // Each pass of a run executes the program again, so that only one of them can be the timeline:
  // the collector's logs where they hold GPU work, else nsys's export where that does, else the
  // logs with their CPU operators. The logs of a run that nsys's export may follow in a later call
  // must be the first files that are read.
  void add(const std::vector<Input>& inputs, OutputFolder& out, Progress& progress);

  // What was read so far, neither ordered nor joined.
  [[nodiscard]] const trace::Trace& trace() { return state_.timeline.trace(); }

  // Why files of a run that were read, or could have been, are not in the trace.
  [[nodiscard]] const Diagnostics& notes() const { return notes_; }

  // Of each file that was read, in their order.
  [[nodiscard]] const std::vector<PartTiming>& timings() const { return timings_; }

  // `notes` are added to the trace's diagnostics. An error where no file could be read.
  Result<FrozenReading> freeze(const Diagnostics& notes) &&;

 private:
  struct State {
    trace::TraceBuilder timeline;
    std::optional<trace::TraceBuilder> operators;
    std::optional<trace::TraceBuilder> control;
    size_t files_read = 0;
    std::optional<Error> incomplete;   // the first of a named file
    std::optional<Error> passed_over;  // the first of a file found in a folder
  };
  // The logs of a run, which nsys's export of the same run may replace.
  struct Logs {
    size_t run = 0;
    State before;  // what was read before them
    std::vector<fs::path> paths;
  };

  void note_log(const Input& log, const std::vector<Input>& inputs);
  void choose_timeline(const Input& nsys, OutputFolder& out, Progress& progress);
  void read(const Input& input, OutputFolder& out, Progress& progress);
  trace::TraceBuilder& builder_for(const Input& input);
  void pass_over(const fs::path& path, std::string_view why);
  void pass_over_logs(std::string_view why);

  State state_;
  std::optional<Logs> logs_;  // of the run that was read last
  std::set<fs::path> seen_;
  Diagnostics notes_;
  std::vector<PartTiming> timings_;
};

}  // namespace llmprof::session
