#include "cpu_llm_server/journal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace cpu_llm_server {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

llmprof::Result<Journal> Journal::create(const std::filesystem::path& file) {
  std::FILE* opened = std::fopen(file.c_str(), "we");
  if (opened == nullptr) {
    return llmprof::fail(
        llmprof::ErrorKind::usage,
        fmt::format("--journal {}: cannot be written: {}", file.string(), std::strerror(errno)));
  }
  Journal journal(opened);
  journal.write(Json{{"format", "cpu_llm_server journal"}, {"version", 1}}.dump());
  return journal;
}

void Journal::write(const std::string& line) {
  std::fputs((line + "\n").c_str(), file_.get());
  std::fflush(file_.get());
}

void Journal::request(RequestId id, std::string_view name, int64_t arrival_ns, size_t prompt_tokens,
                      const GenerationLimits& limits) {
  write(Json{{"request", id},
             {"name", name},
             {"arrival_ns", arrival_ns},
             {"prompt_tokens", prompt_tokens},
             {"max_tokens", limits.max_tokens}}
            .dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Journal::step(uint64_t number, const Span& time, const StepPlan& plan,
                   std::span<const GeneratedToken> generated, int64_t slowed_ns) {
  Json parts = Json::array();
  for (const StepPart& part : plan.parts) {
    const bool got =
        std::ranges::find(generated, part.request, &GeneratedToken::request) != generated.end();
    parts.push_back({{"request", part.request},
                     {"cached", part.cached},
                     {"added", part.added},
                     {"prompt", part.prompt},
                     {"token", got}});
  }
  write(Json{{"step", number},
             {"start_ns", time.start_ns},
             {"end_ns", time.end_ns},
             {"parts", std::move(parts)},
             {"preempted", plan.preempted},
             {"waiting", plan.waiting},
             {"slowed_ns", slowed_ns}}
            .dump());
}

void Journal::canceled(RequestId id, int64_t at_ns) {
  write(Json{{"canceled", id}, {"at_ns", at_ns}}.dump());
}

void Journal::fault(const Fault& fault, const Span& time, std::optional<RequestId> evicted) {
  Json line = {
      {"fault", name_of(fault.kind)}, {"start_ns", time.start_ns}, {"end_ns", time.end_ns}};
  if (evicted) line["request"] = *evicted;
  if (fault.kind == FaultKind::slow_layer) {
    line["layer"] = fault.slow.layer;
    line["by"] = fault.slow.by;
  }
  write(line.dump());
}

}  // namespace cpu_llm_server
