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
#include "readers/shared/reader.h"
#include "session/analysis/timings.h"
#include "session/bundle/inputs.h"
#include "session/bundle/run_dir.h"
#include "trace/builder.h"

namespace llmprof::session {

// A file's content, recognized from its first bytes.
struct Content {
  const readers::Reader* reader = nullptr;  // if the format is supported
  bool is_report = false;                   // a report that its tool has to convert
};
Content content_of(const fs::path& path);

// The input of an analysis.
struct FrozenReading {
  trace::Trace trace;
  std::optional<trace::Trace> operators;  // from a run's torch recording, next to a timeline
  std::optional<trace::Trace> control;    // launches noted in the control run of a run
  std::optional<Error> incomplete;        // a named file that could not be read
};

// Inputs read into one trace. Each file is read once: inputs can be added during a run, and earlier
// ones are not read again. A copy can be frozen and analyzed while the original keeps reading; it
// takes as much memory as the original.
class Reading {
 public:
  // Reads the new inputs in their order. The reading is incomplete if a file that the user named,
  // or a capture found in a folder, cannot be read; for any other file in a folder there is a note.
  // A run records its own failures.
  //
  // Each recording of a run executes the program again, so only one can be the timeline: the
  // collector's logs if they contain GPU work, otherwise nsys's export if that does, otherwise the
  // logs with their CPU operators. If nsys's export may follow in a later call, the run's logs must
  // be the first files that are read.
  void add(const std::vector<Input>& inputs, OutputFolder& out, Progress& progress);

  // The data read so far, neither sorted nor joined.
  [[nodiscard]] const trace::Trace& trace() { return state_.timeline.trace(); }

  // Why some files of a run are not in the trace.
  [[nodiscard]] const Diagnostics& notes() const { return notes_; }

  // One per file, in the order of reading.
  [[nodiscard]] const std::vector<PartTiming>& timings() const { return timings_; }

  // Adds `notes` to the trace's diagnostics. Throws (base/needed.h) if no file could be read.
  FrozenReading freeze(const Diagnostics& notes) &&;

 private:
  struct State {
    trace::TraceBuilder timeline;
    std::optional<trace::TraceBuilder> operators;
    std::optional<trace::TraceBuilder> control;
    size_t files_read = 0;
    std::optional<Error> incomplete;   // the first error in a named file
    std::optional<Error> passed_over;  // the first error in a file found in a folder
  };
  // A run's logs, which nsys's export of the same run may replace.
  struct Logs {
    size_t run = 0;
    State before;  // the state before they were read
    std::vector<fs::path> paths;
  };

  void note_log(const Input& log, const std::vector<Input>& inputs);
  void choose_timeline(const Input& nsys, OutputFolder& out, Progress& progress);
  void read(const Input& input, OutputFolder& out, Progress& progress);
  trace::TraceBuilder& builder_for(const Input& input);
  void pass_over(const fs::path& path, std::string_view why);
  void pass_over_logs(std::string_view why);

  State state_;
  std::optional<Logs> logs_;  // of the last run that was read
  std::set<fs::path> seen_;
  Diagnostics notes_;
  std::vector<PartTiming> timings_;
};

}  // namespace llmprof::session
