// Prints the communication between ranks that the analysis found in one capture as JSON, for tests
// in Python: profile.json has a rank's collectives only together with other ranks'.
//   list_collectives CAPTURE
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/analyze.h"
#include "config/conf_files.h"
#include "profile/vocabulary.h"
#include "testing/read_capture.h"

namespace llmprof {
namespace {

using analysis::Collectives;
using nlohmann::json;

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json collective(const Collectives& all, size_t row) {
  const analysis::CollectiveKey& key = all.keys[all.key[row]];
  json fields = {{"kind", profile::to_string(key.kind)},
                 {"bytes", or_null(key.bytes)},
                 {"group", key.group},
                 {"group_stated", key.group_stated},
                 {"members", key.members},
                 {"group_size", key.group_size},
                 {"start", all.start[row]},
                 {"end", all.end[row]},
                 {"exposed", all.exposed[row]},
                 {"busy_before", all.busy_before[row]},
                 {"in_graph", all.in_graph[row] != 0}};
  fields["launched"] =
      all.launched[row] == Collectives::kNotKnown ? json() : json(all.launched[row]);
  fields["step"] = all.step[row] == Collectives::kNoStep ? json() : json(all.step[row]);
  fields["sequence"] = all.sequence[row] == trace::kNoSequence ? json() : json(all.sequence[row]);
  return fields;
}

json describe(const trace::Capture& capture, const analysis::Analyzed& analyzed) {
  json all = {{"rank", or_null(capture.rank)},
              {"world_size", or_null(capture.world_size)},
              {"host", capture.host},
              {"steps", json::array()},
              {"collectives", json::array()}};
  for (const analysis::Step& step : analyzed.results.stages.steps) {
    const auto stage = analyzed.results.stages.instances[step.instance.index()].stage;
    all["steps"].push_back({{"stage", analyzed.results.stages.stages[stage].name},
                            {"start", step.start},
                            {"end", step.end}});
  }
  const Collectives& collectives = analyzed.results.collectives;
  for (size_t row = 0; row < collectives.size(); ++row) {
    all["collectives"].push_back(collective(collectives, row));
  }
  return all;
}

int list(const char* path) {
  const auto conf = config::ConfFiles::open(std::nullopt).value();
  const analysis::AnalysisRules rules{
      analysis::KernelRules::load(conf).value(), analysis::StageRules::load(conf).value(),
      llm::GpuSpecs::load(conf).value(), analysis::EngineRules::load(conf).value()};
  auto trace = testing::read_capture(path);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 3;
  }
  const auto analyzed = analysis::analyze(*trace, rules, {});
  if (!analyzed) {
    std::fprintf(stderr, "%s\n", analyzed.error().message.c_str());
    return 3;
  }
  std::puts(describe(trace->captures.front(), *analyzed).dump().c_str());
  return 0;
}

}  // namespace
}  // namespace llmprof

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: list_collectives CAPTURE\n", stderr);
    return 2;
  }
  return llmprof::list(argv[1]);
}
