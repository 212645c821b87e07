#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "config/conf_files.h"
#include "llm/model_spec.h"
#include "profile/job.h"
#include "profile/run.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {

// Small files in a run folder with facts that its captures lack, so that a later analysis of the
// folder reports the same. Reading returns an empty record if the file does not exist. An
// unreadable file is a diagnostic, since captures can be analyzed without it. Errors of writing are
// thrown (base/needed.h).

// captures.json: {"failed": [{"backend", "message"}],
//                 "notes": [{"severity", "code", "message", "count"}]}
struct CapturesRecord {
  std::vector<profile::CaptureFailure> failures;
  Diagnostics notes;  // deviations from the plan
};
void write_captures_record(const Artifacts& bundle, const CapturesRecord& record);
CapturesRecord read_captures_record(const fs::path& run, Diagnostics& diagnostics);

// Values of profile::Rank::state.
using profile::RankState;

// ranks.json: the known ranks of a distributed job.
//   {"world_size": 4, "finished": true, "ranks": [{"rank", "state", "detail"}]}
struct RankRecord {
  uint64_t rank = 0;
  RankState state = RankState::recorded;
  std::optional<std::string> detail;  // "signal 9 (Killed)"

  void fields(auto& field) const {
    field("rank", rank, "among all of the job");
    field("state", state, "as of a rank of the job");
    field("detail", detail, "how it ended; null if there is nothing to say");
  }
};

inline std::optional<std::string> none_if_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

struct RanksRecord {
  std::optional<uint64_t> world_size;
  bool finished = true;           // false while the ranks are being recorded
  std::vector<RankRecord> ranks;  // by rank

  [[nodiscard]] std::vector<RankRecord> not_recorded() const;

  void fields(auto& field) const {
    field("world_size", world_size, "ranks of the job; null where unknown");
    field("finished", finished, "false while the ranks are recorded");
    field("ranks", ranks, "by rank");
  }
};
void write_ranks_record(const Artifacts& bundle, const RanksRecord& record);
// For a folder with one run per rank (rank0/, rank1/, ...), all records together. Ranks without a
// folder are not listed: they may be on other machines' disks.
RanksRecord read_ranks_record(const fs::path& folder, Diagnostics& diagnostics);

// "rank3", the name of a rank's folder.
std::string rank_folder_name(uint64_t rank);
// The rank folders in `folder`, by rank.
struct RankFolder {
  uint64_t rank = 0;
  fs::path path;
};
std::vector<RankFolder> rank_folders(const fs::path& folder);

// inputs.yaml: what ran.
//   model:    {target, name, variant, params, dtype, weights, source, config}
//   workload: {name, command, prompt_tokens, new_tokens, batch, requests, seed}
// `config` has the keys of a config.json.
struct RunInputs {
  std::optional<llm::ModelSpec> model;
  std::string command;
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
};
RunInputs read_run_inputs(const fs::path& run, const config::ConfFiles& conf,
                          Diagnostics& diagnostics);

}  // namespace llmprof::session
