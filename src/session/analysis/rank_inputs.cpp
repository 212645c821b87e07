#include "session/analysis/rank_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "session/analysis/rank_of_capture.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

RanksRecord record_of(const std::vector<fs::path>& paths, Diagnostics& notes) {
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) continue;
    RanksRecord record = read_ranks_record(path, notes);
    if (record.world_size || !record.ranks.empty()) return record;
  }
  return {};
}

// What is known of an input.
struct Place {
  JobContent content = JobContent::unknown;
  std::optional<uint32_t> rank;
};

// nsys follows all processes of a run, and so all ranks.
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

JobInputs inputs_by_rank(const std::vector<Input>& inputs, const std::vector<fs::path>& paths) {
  JobInputs job;
  job.record = record_of(paths, job.notes);
  const std::vector<Place> places = places_of(inputs);
  std::set<uint64_t> recorded;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // The control run is no recording.
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
    job.notes.warn("capture_without_rank",
                   fmt::format("{}: not used: it does not say which rank of the job it is of",
                               inputs[i].path.string()));
  }
  return job;
}

JobInputs inputs_of_job(const std::vector<Input>& inputs, const std::vector<fs::path>& paths) {
  JobInputs unread;
  const bool told = !record_of(paths, unread.notes).ranks.empty();
  const auto timelines = std::count_if(inputs.begin(), inputs.end(), [](const Input& input) {
    return !is_of_all_ranks(input) && job_content_of(input.path) == JobContent::timeline;
  });
  if (timelines < 2 && !told) return {};
  return inputs_by_rank(inputs, paths);
}

}  // namespace llmprof::session
