#include "session/bundle/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/secrets/secrets.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "config/config_tree.h"
#include "llm/hugging_face_config.h"
#include "profile/json/json.h"

namespace llmprof::session {
namespace {

template <class Record>
void write_record(const Artifacts& bundle, std::string_view name, const Record& record) {
  bundle.write(name, to_printable_lines(profile::json::described_to_json(record)));
}

// None if the file does not exist; an unreadable one adds a diagnostic with this code.
template <class Record>
std::optional<Record> read_record(const fs::path& file, size_t largest, std::string_view code,
                                  Diagnostics& diagnostics) {
  if (!is_file(file)) return std::nullopt;
  auto record = read_all(file, largest).and_then([&](const std::string& text) {
    return profile::json::described_from_json<Record>(text).map_error(
        [&](const Error& error) { return error.within(file.string()); });
  });
  if (record) return std::move(*record);
  diagnostics.warn(code, record.error().message);
  return std::nullopt;
}

constexpr std::string_view kCapturesFile = "captures.json";
constexpr size_t kLargestCapturesFile = 4UL << 20U;

// The content of captures.json.
struct CapturesFile {
  std::vector<profile::CaptureFailure> failed;
  std::vector<Diagnostic> notes;

  void fields(auto& field) const {
    field("failed", failed, "captures that failed");
    field("notes", notes, "what worked in another way than planned");
  }
};

constexpr std::string_view kRanksFile = "ranks.json";
constexpr std::string_view kRankFolder = "rank";
constexpr size_t kLargestRanksFile = 64UL << 20U;
constexpr uint64_t kHighestRank = 1'000'000;

// None if the file does not exist.
std::optional<RanksRecord> read_one(const fs::path& folder, Diagnostics& diagnostics) {
  auto record = read_record<RanksRecord>(folder / kRanksFile, kLargestRanksFile,
                                         "ranks_record_unreadable", diagnostics);
  if (!record) return record;
  if (record->world_size.value_or(0) > kHighestRank) record->world_size.reset();
  std::erase_if(record->ranks, [](const RankRecord& rank) { return rank.rank > kHighestRank; });
  for (RankRecord& rank : record->ranks) {
    if (!profile::is_known(rank.state)) rank.state = RankState::recorded;
  }
  return record;
}

constexpr size_t kLargestInputsFile = 4UL << 20U;

std::optional<uint64_t> positive(const config::ConfigNode& count) {
  const auto value = count.integer();
  return value && *value > 0 ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
}

std::string command_text(const config::ConfigNode& command) {
  std::string words = command.text;
  for (const config::ConfigNode& word : command.children) {
    words += (words.empty() ? "" : " ") + word.text;
  }
  return words;
}

// The recorded configuration if there is one, otherwise the model that the record names.
std::optional<llm::ModelSpec> model_of(const config::ConfigDocument& document,
                                       const config::ConfigNode& model,
                                       const config::ConfFiles& conf, Diagnostics& diagnostics) {
  const config::ConfigNode& config = model["config"];
  const std::string target = model["target"].text;
  const bool written = config.is_map() && !config.children.empty();
  if (!written && target.empty()) return std::nullopt;
  auto spec = written ? llm::read_hugging_face_config(
                            document, config,
                            {model["name"].text, model["dtype"].text, model["kv_cache_dtype"].text})
                      : llm::load_model_spec(target, conf);
  if (!spec) {
    diagnostics.warn("model_of_run_unusable",
                     fmt::format("the run's model cannot be used: {}; name it with --model",
                                 spec.error().message));
    return std::nullopt;
  }
  if (const std::string& name = model["name"].text; !name.empty()) spec->name = name;
  if (const std::string& variant = model["variant"].text; !variant.empty()) spec->variant = variant;
  return *spec;
}

}  // namespace

void write_captures_record(const Artifacts& bundle, const CapturesRecord& record) {
  write_record(bundle, kCapturesFile, CapturesFile{record.failures, record.notes.items()});
}

CapturesRecord read_captures_record(const fs::path& run, Diagnostics& diagnostics) {
  CapturesRecord record;
  auto file = read_record<CapturesFile>(run / kCapturesFile, kLargestCapturesFile,
                                        "captures_record_unreadable", diagnostics);
  if (!file) return record;
  record.failures = std::move(file->failed);
  for (const Diagnostic& note : file->notes) {
    record.notes.add(note.severity, note.code, note.message, note.count);
  }
  return record;
}

std::vector<RankRecord> RanksRecord::not_recorded() const {
  std::vector<RankRecord> others;
  std::ranges::copy_if(ranks, std::back_inserter(others),
                       [](const RankRecord& rank) { return rank.state != RankState::recorded; });
  return others;
}

void write_ranks_record(const Artifacts& bundle, const RanksRecord& record) {
  write_record(bundle, kRanksFile, record);
}

std::string rank_folder_name(uint64_t rank) { return fmt::format("{}{}", kRankFolder, rank); }

std::vector<RankFolder> rank_folders(const fs::path& folder) {
  std::vector<RankFolder> found;
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with(kRankFolder) || !is_folder(entry)) continue;
    const auto rank = parse_int(std::string_view(name).substr(kRankFolder.size()));
    if (!rank || *rank < 0 || rank_folder_name(static_cast<uint64_t>(*rank)) != name) continue;
    found.push_back({static_cast<uint64_t>(*rank), entry});
  }
  std::ranges::sort(found, {}, &RankFolder::rank);
  return found;
}

RanksRecord read_ranks_record(const fs::path& folder, Diagnostics& diagnostics) {
  RanksRecord all;
  for (const RankFolder& of_rank : rank_folders(folder)) {
    auto record = read_one(of_rank.path, diagnostics);
    if (!record) continue;  // recorded without --rank-folder
    all.finished = all.finished && record->finished;
    if (record->world_size) {
      all.world_size = std::max(all.world_size.value_or(0), *record->world_size);
    }
    for (RankRecord& rank : record->ranks) {
      if (rank.rank == of_rank.rank) all.ranks.push_back(std::move(rank));
    }
  }
  if (all.ranks.empty()) return read_one(folder, diagnostics).value_or(RanksRecord{});
  return all;
}

RunInputs read_run_inputs(const fs::path& run, const config::ConfFiles& conf,
                          Diagnostics& diagnostics) {
  RunInputs inputs;
  const fs::path file = run / "inputs.yaml";
  if (!is_file(file)) return inputs;
  const auto document = read_all(file, kLargestInputsFile).and_then([&](const std::string& text) {
    return config::parse_yaml(text, file.string());
  });
  if (!document) {
    diagnostics.warn("run_inputs_unreadable", document.error().message);
    return inputs;
  }
  inputs.model = model_of(*document, document->root["model"], conf, diagnostics);
  const config::ConfigNode& workload = document->root["workload"];
  // Earlier versions of llmprof recorded values that this one hides.
  inputs.command = llmprof::without_secrets(command_text(workload["command"]));
  inputs.prompt_tokens = positive(workload["prompt_tokens"]);
  inputs.new_tokens = positive(workload["new_tokens"]);
  inputs.batch = positive(workload["batch"]);
  return inputs;
}

}  // namespace llmprof::session
