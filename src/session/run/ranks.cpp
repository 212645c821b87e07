#include "session/run/ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "capture/launcher.h"
#include "capture/shell.h"
#include "readers/shared/reader.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kRankPrefix = "rank";
constexpr std::streamoff kLauncherWords = 256L << 10U;  // bytes at the end of the output

std::optional<RankLog> parse_log_name(const std::string& stem) {
  const size_t dash = stem.find('-');
  if (!stem.starts_with(kRankPrefix) || dash == std::string::npos) return std::nullopt;
  const auto rank =
      parse_int(std::string_view(stem).substr(kRankPrefix.size(), dash - kRankPrefix.size()));
  const auto process = parse_int(std::string_view(stem).substr(dash + 1));
  if (!rank || *rank < 0) return std::nullopt;
  return RankLog{static_cast<uint64_t>(*rank), static_cast<uint64_t>(process.value_or(0)), false};
}

// What the launcher printed about its ranks.
struct LauncherReport {
  std::map<uint64_t, capture::RankEnd> by_rank;
  std::vector<uint64_t> first;  // ranks that ended the job
};

LauncherReport report_of_launcher(const std::string& output, const std::vector<RankLog>& logs) {
  LauncherReport report;
  for (const capture::RankEnd& end : capture::rank_ends_in(output)) {
    std::optional<uint64_t> rank = end.rank;
    for (const RankLog& log : logs) {
      if (!rank && end.process == log.process) rank = log.rank;
    }
    if (!rank || !report.by_rank.emplace(*rank, end).second) continue;
    if (!end.by_launcher) report.first.push_back(*rank);
  }
  return report;
}

// Facts about all ranks together.
struct Evidence {
  std::string launcher;  // for messages
  bool failed = false;   // the launcher itself
  bool ended_by_us = false;
  bool any_by_exit = false;  // a rank's log shows it
  LauncherReport report;
};

std::string ended_after(const Evidence& evidence) {
  return fmt::format("ended by {} after rank {} died", evidence.launcher,
                     fmt::join(evidence.report.first, ", "));
}

RankRecord judge_rank(uint64_t rank, bool has_log, bool by_exit, const Evidence& evidence) {
  const auto recorded = [&](std::string detail) {
    return RankRecord{rank, has_log ? RankState::recorded : RankState::missing,
                      none_if_empty(std::move(detail))};
  };
  const auto ended = evidence.report.by_rank.find(rank);
  if (ended != evidence.report.by_rank.end()) {
    if (!ended->second.by_launcher) return {rank, RankState::died, ended->second.how};
    return recorded(evidence.report.first.empty() ? "ended by " + evidence.launcher
                                                  : ended_after(evidence));
  }
  if (!has_log) return recorded("it left no log");
  if (by_exit) return recorded({});
  if (evidence.ended_by_us) return recorded("stopped with the run");
  if (!evidence.report.first.empty()) return recorded(ended_after(evidence));
  // The launcher reported nothing. If all ranks leave by _exit(), this is how they normally end.
  if (evidence.failed || evidence.any_by_exit) {
    return {rank, RankState::died, "its log has no end: it was killed, or left without exit()"};
  }
  return recorded({});
}

RanksRecord record_of_rank(const RankOfJob& own, RankState state, std::string detail) {
  RanksRecord record;
  record.world_size = own.world_size;
  record.ranks = {{own.rank, state, none_if_empty(std::move(detail))}};
  return record;
}

RanksRecord judge_own(const RankOfJob& own, const capture::CaptureResult& captured) {
  if (captured.commands.empty()) {
    return record_of_rank(own, RankState::died,
                          captured.failure ? captured.failure->message : "it was not started");
  }
  const capture::CommandRecord& command = captured.commands.front();
  const bool has_log = !captured.files.empty();
  const RankState state = has_log ? RankState::recorded : RankState::missing;
  switch (command.result.end) {
    case capture::ProcessEnd::stopped:
      return record_of_rank(own, state, "ended with its launcher");
    case capture::ProcessEnd::timed_out:
    case capture::ProcessEnd::over_limit:
      return record_of_rank(own, state, "stopped by a limit of the run");
    default:
      if (command.ended_well()) return record_of_rank(own, state, has_log ? "" : "it left no log");
      return record_of_rank(own, RankState::died, capture::describe_end(command.result));
  }
}

// Ranks that have ended are not read again: there may be a thousand on a remote file system.
bool has_ended(const fs::path& folder) {
  Diagnostics ignored;  // an unreadable file is read again later
  if (!is_file(folder / "ranks.json")) return false;
  const RanksRecord record = read_ranks_record(folder, ignored);
  return record.finished && !record.ranks.empty();
}

// All ranks, including those that never started.
RanksRecord with_missing(const RankOfJob& own) {
  Diagnostics of_the_analysis;
  RanksRecord all = read_ranks_record(own.folder, of_the_analysis);
  std::vector<RankRecord> here = std::move(all.ranks);
  all.ranks.clear();
  for (uint64_t rank = 0; rank < *own.world_size; ++rank) {
    const auto at = std::ranges::find(here, rank, &RankRecord::rank);
    all.ranks.push_back(at != here.end() ? *at
                                         : RankRecord{rank, RankState::missing,
                                                      "it has no folder: it never started"});
  }
  return all;
}

}  // namespace

std::vector<RankLog> rank_logs(const fs::path& folder) {
  std::vector<RankLog> logs;
  for (const fs::path& file : logs_in(folder)) {
    auto log = parse_log_name(file.stem().string());
    if (!log) continue;
    const auto how = readers::read_log_end(file);
    log->by_exit = how && how->by_exit;
    logs.push_back(*log);
  }
  return logs;
}

size_t count_ranks(const std::vector<RankLog>& logs) {
  std::set<uint64_t> ranks;
  for (const RankLog& log : logs) ranks.insert(log.rank);
  return ranks.size();
}

RanksRecord rank_states(const std::optional<capture::Launcher>& launcher,
                        const capture::CommandRecord& command, const std::vector<RankLog>& logs) {
  // Processes that a rank forks have their own logs and leave by _exit().
  std::map<uint64_t, bool> by_exit;
  for (const RankLog& log : logs) by_exit[log.rank] = by_exit[log.rank] || log.by_exit;
  RanksRecord record;
  if (!launcher && by_exit.size() < 2) return record;
  Evidence evidence;
  evidence.launcher = launcher ? launcher->name : "its launcher";
  evidence.ended_by_us = command.result.hit_limit() || command.asked_to_stop;
  evidence.failed = !command.ended_well() && !evidence.ended_by_us;
  evidence.any_by_exit = std::ranges::any_of(by_exit, [](const auto& rank) { return rank.second; });
  if (evidence.failed) {
    evidence.report =
        report_of_launcher(capture::file_part(command.log, -kLauncherWords, kLauncherWords), logs);
  }
  if (by_exit.empty() && evidence.report.by_rank.empty()) return record;
  if (launcher) record.world_size = launcher->ranks;
  std::set<uint64_t> ranks;
  for (const auto& [rank, unused] : by_exit) ranks.insert(rank);
  for (const auto& [rank, unused] : evidence.report.by_rank) ranks.insert(rank);
  // If no rank recorded anything, none is reported as missing.
  for (uint64_t rank = 0; !by_exit.empty() && rank < record.world_size.value_or(0); ++rank) {
    ranks.insert(rank);
  }
  for (const uint64_t rank : ranks) {
    const auto log = by_exit.find(rank);
    record.ranks.push_back(
        judge_rank(rank, log != by_exit.end(), log != by_exit.end() && log->second, evidence));
  }
  return record;
}

std::string name_ranks(const RanksRecord& ranks) {
  constexpr size_t kMostNamed = 8;
  const std::vector<RankRecord> failed = ranks.not_recorded();
  const std::string of =
      ranks.world_size ? fmt::format(" of {}", *ranks.world_size) : std::string();
  std::vector<std::string> named;
  for (const RankRecord& rank : failed) {
    if (named.size() == kMostNamed) {
      named.push_back(fmt::format("{} more in ranks.json", failed.size() - kMostNamed));
      break;
    }
    named.push_back(fmt::format("rank {}{} {} ({})", rank.rank, of,
                                rank.state == RankState::died ? "died" : "is missing",
                                rank.detail.value_or("")));
  }
  return fmt::format("{}", fmt::join(named, ", "));
}

std::optional<Error> rank_failure(const RanksRecord& ranks, const capture::CommandRecord& command,
                                  std::string_view others) {
  if (ranks.not_recorded().empty()) return std::nullopt;
  return Error{ErrorKind::tool,
               fmt::format("{}; {} ended with {}; {}; its output is in {}", name_ranks(ranks),
                           command.argv.empty() ? "the launcher" : command.argv.front(),
                           capture::describe_end(command.result), others, command.log.string())};
}

RunFolder create_rank_root(const RankOfJob& own, const fs::path& folder, bool force) {
  std::error_code trouble;
  fs::create_directories(folder.parent_path(), trouble);
  // Creating the folder is the test: only one of two processes succeeds.
  if (!fs::create_directory(folder, trouble) && !trouble && !force) {
    give_up(ErrorKind::usage,
            fmt::format("{}: exists: another process is or was this rank; name another "
                        "--rank-folder, or write into this one with --force",
                        folder.string()));
  }
  RunFolder run = create_run_folder({}, folder, true);
  if (own.rank == 0 && force) move_earlier_job_aside(own.folder, own.world_size);
  return run;
}

void begin_rank(const RankOfJob& own, const Artifacts& bundle) {
  RanksRecord record = record_of_rank(own, RankState::died, "its recording did not finish");
  record.finished = false;
  // A full disk is reported when the log is written.
  std::ignore = attempt([&] { write_ranks_record(bundle, record); });
}

void end_rank(const RankOfJob& own, const capture::CaptureResult& captured,
              const Artifacts& bundle) {
  write_ranks_record(bundle, judge_own(own, captured));
}

void wait_for_ranks(const RankOfJob& own, const std::atomic<bool>* stop) {
  if (!own.world_size) {
    give_up(ErrorKind::tool,
            "the launcher does not say how many ranks there are: analyze the folder once all "
            "have ended");
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
  write_ranks_record(Artifacts(own.folder), all);
  if (all.not_recorded().empty()) return;
  give_up(ErrorKind::tool,
          fmt::format("{}; the recordings of the others are analyzed{}", name_ranks(all),
                      all.finished ? "" : fmt::format(" (waited {} s)", own.wait->count())));
}

}  // namespace llmprof::session
