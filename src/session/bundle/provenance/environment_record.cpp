#include <nlohmann/json.hpp>

#include "base/secrets/secrets.h"
#include "capture/installed_tool.h"
#include "session/bundle/provenance/machine_facts.h"
#include "session/bundle/provenance/provenance.h"

namespace llmprof::session {
namespace {

using Json = nlohmann::ordered_json;

// Missing is null, never empty.
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json tool(const Result<capture::InstalledTool>& found) {
  if (!found) return nullptr;
  return {{"path", found->path.string()}, {"version", text_or_null(found->version)}};
}

Json gpus(const MachineFacts& facts) {
  Json list = Json::array();
  for (const GpuFacts& gpu : facts.gpus) {
    list.push_back({{"name", gpu.name},
                    {"uuid", gpu.uuid},
                    {"memory_mib", gpu.memory_mib},
                    {"max_sm_clock_mhz", gpu.max_sm_clock_mhz},
                    {"max_memory_clock_mhz", gpu.max_memory_clock_mhz},
                    {"compute_capability", gpu.compute_capability}});
  }
  return list;
}

}  // namespace

std::string environment_record(std::string_view version) {
  const MachineFacts facts = machine_facts();
  Json environment = Json::object();
  for (const auto& [name, value] : facts.environment) {
    environment[name] = recorded_value(name, value);
  }
  const capture::ToolSearch search = capture::tool_search_here();
  const Json record = {
      {"llmprof", version},
      {"gpus", gpus(facts)},
      {"driver", text_or_null(facts.driver)},
      {"cuda", text_or_null(facts.cuda)},
      {"tools",
       {{"nsys", tool(capture::ensure_nsys(search))}, {"ncu", tool(capture::ensure_ncu(search))}}},
      {"cpu",
       {{"name", text_or_null(facts.cpu)},
        {"count", facts.cpu_count},
        {"memory_bytes", facts.memory_bytes}}},
      {"os", text_or_null(facts.os)},
      {"kernel", text_or_null(facts.kernel)},
      {"host", text_or_null(facts.host)},
      {"git",
       {{"revision", text_or_null(facts.git_revision)},
        {"changed", facts.git_revision.empty() ? Json(nullptr) : Json(facts.git_changed)}}},
      {"environment", environment}};
  constexpr int kIndent = 2;
  return record.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace llmprof::session
