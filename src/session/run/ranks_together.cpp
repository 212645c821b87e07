#include "session/run/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "session/bundle/earlier_run.h"
#include "session/bundle/ranks_record.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

RanksRecord record_of_rank(const RankOfJob& own, std::string_view state, std::string detail) {
  RanksRecord record;
  record.world_size = own.world_size;
  record.ranks = {{own.rank, std::string(state), none_if_empty(std::move(detail))}};
  return record;
}

RanksRecord judge_own(const RankOfJob& own, const capture::CaptureResult& captured) {
  if (captured.commands.empty()) {
    return record_of_rank(own, kRankDied,
                          captured.failure ? captured.failure->message : "it was not started");
  }
  const capture::CommandRecord& command = captured.commands.front();
  switch (command.result.end) {
    case capture::ProcessEnd::stopped:
      return record_of_rank(own, captured.files.empty() ? kRankMissing : kRankRecorded,
                            "ended with its launcher");
    case capture::ProcessEnd::timed_out:
    case capture::ProcessEnd::over_limit:
      return record_of_rank(own, captured.files.empty() ? kRankMissing : kRankRecorded,
                            "stopped by a limit of the run");
    default:
      break;
  }
  if (!command.ended_well())
    return record_of_rank(own, kRankDied, capture::describe_end(command.result));
  if (captured.files.empty()) return record_of_rank(own, kRankMissing, "it left no log");
  return record_of_rank(own, kRankRecorded, {});
}

// Only ranks that have not ended before are looked at again: there may be a thousand on a file
// system far away.
bool has_ended(const fs::path& folder) {
  Diagnostics ignored;  // a file that cannot be read is looked at again
  std::error_code trouble;
  if (!fs::is_regular_file(folder / "ranks.json", trouble)) return false;
  const RanksRecord record = read_ranks_record(folder, ignored);
  return record.finished && !record.ranks.empty();
}

// All ranks, those that never started too.
RanksRecord with_missing(const RankOfJob& own) {
  Diagnostics of_the_analysis;
  RanksRecord all = read_ranks_record(own.folder, of_the_analysis);
  std::vector<RankRecord> here = std::move(all.ranks);
  all.ranks.clear();
  for (uint64_t rank = 0; rank < *own.world_size; ++rank) {
    const auto at = std::ranges::find(here, rank, &RankRecord::rank);
    all.ranks.push_back(at != here.end() ? *at
                                         : RankRecord{rank, std::string(kRankMissing),
                                                      "it has no folder: it never started"});
  }
  return all;
}

}  // namespace

Result<RunFolder> create_rank_root(const RankOfJob& own, const fs::path& folder, bool force) {
  std::error_code trouble;
  fs::create_directories(folder.parent_path(), trouble);
  // Making it is the test: only one of two processes can.
  if (!fs::create_directory(folder, trouble) && !trouble && !force) {
    return fail(ErrorKind::usage,
                fmt::format("{}: exists: another process is or was this rank; name another "
                            "--rank-folder, or write into this one with --force",
                            folder.string()));
  }
  auto bundle = Artifacts::create(folder, true);
  if (!bundle) return fail_with(bundle.error());
  auto earlier = move_earlier_run_aside(folder);
  if (!earlier) return fail_with(earlier.error());
  if (own.rank == 0 && force) {
    if (const auto moved = move_earlier_job_aside(own.folder, own.world_size); !moved) {
      return fail_with(moved.error());
    }
  }
  return RunFolder{std::move(*bundle), std::move(*earlier)};
}

void begin_rank(const RankOfJob& own, const Artifacts& bundle) {
  RanksRecord record = record_of_rank(own, kRankDied, "its recording did not finish");
  record.finished = false;
  // A disk that is full shows when the log is written.
  [[maybe_unused]] const auto written = write_ranks_record(bundle, record);
}

Result<void> end_rank(const RankOfJob& own, const capture::CaptureResult& captured,
                      const Artifacts& bundle) {
  return write_ranks_record(bundle, judge_own(own, captured));
}

std::optional<Error> wait_for_ranks(const RankOfJob& own, const std::atomic<bool>* stop) {
  if (!own.world_size) {
    return Error{ErrorKind::tool,
                 "the launcher does not say how many ranks there are: analyze the folder once all "
                 "have ended"};
  }
  constexpr auto kPause = std::chrono::milliseconds(200);
  const auto end = std::chrono::steady_clock::now() + *own.wait;
  uint64_t next = 0;
  while (next < *own.world_size && std::chrono::steady_clock::now() < end) {
    if (stop != nullptr && stop->load()) break;
    if (has_ended(own.folder / rank_folder_name(next))) {
      ++next;
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
  const RanksRecord all = with_missing(own);
  Artifacts folder;
  folder.set_root(own.folder);
  if (const auto written = write_ranks_record(folder, all); !written) return written.error();
  if (all.not_recorded().empty()) return std::nullopt;
  return Error{ErrorKind::tool,
               fmt::format("{}; the recordings of the others are analyzed{}", name_ranks(all),
                           all.finished ? "" : fmt::format(" (waited {} s)", own.wait->count()))};
}

}  // namespace llmprof::session
