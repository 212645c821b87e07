#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "mcp/tool.h"
#include "query/database.h"

namespace llmprof::agents {
namespace fs = std::filesystem;

struct ServeOptions {
  std::vector<fs::path> paths;  // runs, captures, and folders of runs; none: the current folder
  std::optional<fs::path> config_folder;
  bool show_paths = false;
};

// The call that is running. Captures may be read by a later call than the one that opened them.
using RunningCall = std::shared_ptr<mcp::Call*>;

// Shows the progress of reading to the client that waits.
class CallProgress final : public Progress {
 public:
  explicit CallProgress(RunningCall call) : call_(std::move(call)) {}
  void begin(std::string_view what) override;
  void begin_reading(std::string_view what, uint64_t bytes) override;
  void begin_steps(std::string_view what, size_t count) override;
  void next_step(std::string_view what) override;

 private:
  RunningCall call_;
};

// The runs that tools answer about: those in the folders that the server was started with, and no
// other file. Captures stay loaded. Functions throw their errors (base/needed.h): of kind usage for
// what a caller can repair.
class ServedRuns {
 public:
  // Refuses paths that do not exist.
  explicit ServedRuns(ServeOptions options);

  struct Known {
    std::string name;  // unique, without a folder
    fs::path path;
  };
  // Those that were named, then those that are found in the folders: now, or a few seconds ago.
  enum class Search : uint8_t { recent, now };
  [[nodiscard]] const std::vector<Known>& known(Search search = Search::recent) const;

  // By name, or by a path inside of the folders. Nothing is said of other files, not even whether
  // they exist.
  [[nodiscard]] Known find(std::string_view wanted) const;
  // The runs of an argument: a text, a list of them, or null for those that were named.
  [[nodiscard]] std::vector<Known> wanted(const mcp::Json& argument) const;

  // What is read from now on, is read for this call.
  void begin(mcp::Call& call) { *call_ = &call; }
  // Kept from an earlier call, unless their files have changed. Valid until it is called again.
  query::Database& open(std::span<const Known> runs);
  // What ran, and which files it was read from: with `show_paths` only. Of the runs opened last.
  struct Place {
    std::optional<std::string> command;
    std::vector<std::string> captures;
  };
  [[nodiscard]] const std::vector<Place>& places() const { return opened_.front().places; }
  // For reading that reports to the call.
  [[nodiscard]] CallProgress progress() const { return CallProgress(call_); }

  // Whether the run has a page that links of evidence open in.
  [[nodiscard]] static bool has_page(const Known& run);
  [[nodiscard]] const ServeOptions& options() const { return options_; }

 private:
  struct Opened {
    std::vector<fs::path> paths;
    std::vector<fs::file_time_type> times;
    std::vector<Place> places;
    std::unique_ptr<query::Database> database;
  };
  [[nodiscard]] bool is_inside(const fs::path& path) const;

  ServeOptions options_;
  std::vector<fs::path> roots_;  // canonical
  std::vector<Known> named_;
  std::vector<fs::path> folders_;  // to look for runs in
  mutable std::vector<Known> found_;
  mutable std::chrono::steady_clock::time_point searched_{};
  std::vector<Opened> opened_;  // last used first
  RunningCall call_ = std::make_shared<mcp::Call*>(nullptr);
};

}  // namespace llmprof::agents
