#include "session/analysis/analyze_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "analysis/engine/engine.h"
#include "base/files.h"
#include "base/needed.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "config/conf_files.h"
#include "job/links/links.h"
#include "readers/shared/reader.h"
#include "readers/shared/tool_words.h"
#include "report/documents/documents.h"
#include "session/version.h"

namespace llmprof::session {
namespace {

// Takes each property from the first capture that has it.
void identify(const trace::Trace& trace, job::RankIdentity& who) {
  for (const trace::Capture& capture : trace.captures) {
    if (capture.format == readers::kRequestsFormat) continue;  // of the client, not of the rank
    if (!who.local_rank) who.local_rank = capture.local_rank;
    if (!who.world_size) who.world_size = capture.world_size;
    if (who.host.empty()) who.host = to_printable(capture.host);
    if (who.job.empty()) who.job = to_printable(capture.job);
    if (!who.wall_clock_ns) who.wall_clock_ns = capture.wall_clock_ns;
    if (who.clock_domain.empty() && !capture.clock_domain.empty()) {
      who.clock_domain = to_printable(capture.clock_domain);
      who.clock_ns = capture.clock_ns;
    }
  }
}

void identify(const RanksRecord& record, job::RankIdentity& who) {
  if (!who.world_size) who.world_size = record.world_size;
  const auto row = std::ranges::find(record.ranks, who.rank, &RankRecord::rank);
  if (row == record.ranks.end()) return;
  who.state = row->state;
  who.state_detail = row->detail.value_or("");
}

void take_results(AnalyzedInputs& analyzed, job::RankPart& part) {
  part.profile = std::move(analyzed.analysis.profile);
  part.steps = job::PackedSteps(std::exchange(part.profile.steps, {}));
  part.collectives = job::PackedCollectives(std::move(analyzed.results.collectives));
  for (const analysis::Step& step : analyzed.results.stages.steps) {
    part.step_start.push_back(step.start);
    part.step_end.push_back(step.end);
  }
}

// If a rank has its own run folder, that folder's records apply.
AnalysisPlan plan_of_rank(const AnalysisPlan& plan, const RankInputs& rank,
                          const AnalyzeOptions& options) {
  AnalysisPlan own = plan;
  own.inputs = rank.inputs;
  const auto& run = rank.inputs.front().run_folder;
  const bool known = options.inputs.size() == 1 && options.inputs.front() == run;
  if (!run.empty() && !known) read_run_records(run, options, own);
  return own;
}

std::optional<uint32_t> rank_read(const readers::Reader& reader, const fs::path& path) {
  trace::TraceBuilder scratch;
  const auto done = reader.read(path, scratch);
  const auto& captures = scratch.trace().captures;
  // A truncated file may end in an error, but its rank was read before that.
  static_cast<void>(done);
  return captures.empty() ? std::nullopt : captures.back().rank;
}

// Reads only the start of the file, where its reader finds the rank. The copy has the same name,
// because the name may contain the rank.
std::optional<uint32_t> rank_in_front(const readers::Reader& reader, const fs::path& path) {
  constexpr size_t kFrontBytes = 4UL << 20U;
  const auto front = read_head(path, kFrontBytes);
  if (!front) return std::nullopt;
  std::error_code trouble;
  const ScratchFolder scratch(ScratchFolder::make(fs::temp_directory_path(trouble), "llmprof-"));
  if (scratch.path().empty()) return std::nullopt;
  const fs::path absolute = absolute_path(path);
  const fs::path folder = scratch.path() / absolute.parent_path().filename();
  fs::create_directories(folder, trouble);
  const fs::path copy = folder / absolute.filename();
  std::ofstream file(copy, std::ios::binary);
  file.write(front->data(), static_cast<std::streamsize>(front->size()));
  file.close();
  return file ? rank_read(reader, copy) : std::nullopt;
}

// What a file can contribute to a job.
enum class JobContent : uint8_t {
  unknown,   // not a capture
  facts,     // about kernels or the workload, whichever rank they were measured on
  timeline,  // of one or more processes, each of which may be a rank
};

JobContent job_content_of(const fs::path& path) {
  const auto [reader, is_report] = content_of(path);
  if (reader == nullptr) return is_report ? JobContent::timeline : JobContent::unknown;
  const bool timeline = reader == &readers::kNsysSqliteReader ||
                        reader == &readers::kKinetoReader ||
                        reader == &readers::kCollectorLogReader;
  return timeline ? JobContent::timeline : JobContent::facts;
}

// The rank that the timeline's reader will report, from as little of the file as possible.
std::optional<uint32_t> rank_of_capture(const fs::path& path) {
  const readers::Reader* reader = content_of(path).reader;
  if (reader == nullptr) return readers::rank_of_path(path);
  if (reader != &readers::kNsysSqliteReader) return rank_in_front(*reader, path);
  // A database cannot be read in part. If its name has no rank, its NCCL data may.
  const auto named = readers::rank_of_path(path);
  return named ? named : rank_read(*reader, path);
}

RanksRecord record_of(const std::vector<fs::path>& paths, Diagnostics& notes) {
  for (const fs::path& path : paths) {
    if (!is_folder(path)) continue;
    RanksRecord record = read_ranks_record(path, notes);
    if (record.world_size || !record.ranks.empty()) return record;
  }
  return {};
}

struct Place {
  JobContent content = JobContent::unknown;
  std::optional<uint32_t> rank;
};

// nsys records all processes of a run, and so all ranks.
bool is_of_all_ranks(const Input& input) { return input.role == RunRole::nsys; }

std::vector<Place> places_of(const std::vector<Input>& inputs) {
  std::vector<Place> places;
  for (const Input& input : inputs) {
    Place& place = places.emplace_back();
    place.content = job_content_of(input.path);
    if (place.content == JobContent::timeline && !is_of_all_ranks(input)) {
      place.rank = rank_of_capture(input.path);
    }
  }
  return places;
}

// Inputs keep their order: which of a run's captures is its timeline depends on it.
std::vector<Input> inputs_of(const std::vector<Input>& inputs, const std::vector<Place>& places,
                             uint64_t rank, bool first, bool alone) {
  std::optional<size_t> run;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (places[i].rank == rank && !run) run = inputs[i].run;
  }
  std::vector<Input> own;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool same_run = !inputs[i].run || inputs[i].run == run;
    bool wanted = places[i].rank == rank;
    if (!places[i].rank && same_run) {
      wanted = places[i].content == JobContent::facts ||
               (places[i].content == JobContent::unknown && first) || alone;
    }
    if (wanted) own.push_back(inputs[i]);
  }
  return own;
}

}  // namespace

std::vector<job::RankPart> analyze_ranks(const AnalysisPlan& plan, const JobInputs& job,
                                         const AnalyzeOptions& options, Progress& progress,
                                         OutputFolder& out, KeptTraces* traces,
                                         Analysis& analysis) {
  std::vector<job::RankPart> parts;
  AnalysisPlan common = plan;
  common.notes.merge(job.notes);  // reported once, with the first rank
  bool any = false;
  for (const RankInputs& rank : job.ranks) {
    job::RankPart& part = parts.emplace_back();
    part.identity.rank = rank.rank;
    identify(job.record, part.identity);
    if (rank.inputs.empty()) continue;
    AnalysisPlan own = plan_of_rank(common, rank, options);
    common.notes = {};
    auto analyzed =
        attempt([&] { return analyze_planned(std::move(own), !options.in_place, progress, out); });
    if (!analyzed) {
      if (part.identity.state == RankState::recorded) {
        if (!analysis.incomplete) {
          analysis.incomplete = analyzed.error().within(fmt::format("rank {}", rank.rank));
        }
        part.identity.state = RankState::missing;
        part.identity.state_detail = analyzed.error().message;
      }
      continue;
    }
    any = true;
    for (PartTiming& timing : analyzed->analysis.timings) {
      timing.name = fmt::format("rank {}: {}", rank.rank, timing.name);
      analysis.timings.push_back(std::move(timing));
    }
    if (!analysis.incomplete) analysis.incomplete = analyzed->analysis.incomplete;
    identify(analyzed->trace, part.identity);
    take_results(*analyzed, part);
    if (traces != nullptr) {
      traces->keep(rank.rank, std::move(analyzed->trace), std::move(analyzed->results));
    }
  }
  if (any) return parts;
  throw Failure(analysis.incomplete.value_or(
      Error{ErrorKind::input, "no rank of the job left a capture that can be analyzed"}));
}

Analysis job_profile(std::vector<job::RankPart> parts, const AnalyzeOptions& options,
                     Progress& progress, Analysis analysis) {
  analysis.profile = needed(timed("comparing the ranks", progress, analysis.timings, [&] {
    return config::ConfFiles::open(options.config_folder)
        .and_then([&](const config::ConfFiles& conf) -> Result<profile::Profile> {
          auto merged =
              job::merge_ranks(std::move(parts), needed(job::Links::load(conf)), kVersion);
          if (merged && merged->context.device_kind == profile::DeviceKind::gpu) {
            analysis::advise(needed(analysis::EngineRules::load(conf)), merged->engine,
                             merged->findings);
          }
          return merged;
        });
  }));
  report::word(analysis.profile);
  return analysis;
}

JobInputs inputs_by_rank(const std::vector<Input>& inputs, const std::vector<fs::path>& paths) {
  JobInputs job;
  job.record = record_of(paths, job.notes);
  const std::vector<Place> places = places_of(inputs);
  std::set<uint64_t> recorded;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // The control run is not a recording.
    if (places[i].rank && inputs[i].role != RunRole::control) recorded.insert(*places[i].rank);
  }
  if (recorded.empty()) return job;
  std::set<uint64_t> ranks = recorded;
  for (const RankRecord& rank : job.record.ranks) ranks.insert(rank.rank);
  for (const uint64_t rank : ranks) {
    RankInputs& row = job.ranks.emplace_back();
    row.rank = rank;
    if (!recorded.contains(rank)) continue;
    row.inputs = inputs_of(inputs, places, rank, rank == *recorded.begin(), ranks.size() == 1);
  }
  for (size_t i = 0; i < inputs.size() && job.several(); ++i) {
    if (places[i].content != JobContent::timeline || places[i].rank) continue;
    job.notes.warn(
        "capture_without_rank",
        fmt::format("{}: skipped, because it does not name its rank", inputs[i].path.string()));
  }
  return job;
}

JobInputs inputs_of_job(const std::vector<Input>& inputs, const std::vector<fs::path>& paths) {
  JobInputs unread;
  const bool named = !record_of(paths, unread.notes).ranks.empty();
  const auto timelines = std::ranges::count_if(inputs, [](const Input& input) {
    return !is_of_all_ranks(input) && job_content_of(input.path) == JobContent::timeline;
  });
  if (timelines < 2 && !named) return {};
  return inputs_by_rank(inputs, paths);
}

}  // namespace llmprof::session
