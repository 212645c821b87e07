// Prints the content of a capture as JSON, for tests in Python.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "testing/read_capture.h"

namespace llmprof {
namespace {

using nlohmann::json;

json describe(const trace::Trace& trace) {
  const auto text = [&](trace::StringId id) {
    return id.valid() ? json(trace.strings[id]) : json(nullptr);
  };
  const trace::Process& process = trace.processes.front();
  json all = {{"format", trace.captures.front().format},
              {"wall_clock_ns", trace.captures.front().wall_clock_ns.value_or(0)},
              {"clock_domain", trace.captures.front().clock_domain},
              {"job", trace.captures.front().job},
              {"process", {{"pid", process.pid}, {"name", process.name}}}};
  for (const char* list :
       {"threads", "ranges", "steps", "operators", "collectives", "host_calls", "diagnostics"}) {
    all[list] = json::array();
  }
  const auto number = [&](const char* name, const std::optional<uint32_t>& value) {
    all[name] = value ? json(*value) : json(nullptr);
  };
  number("rank", trace.captures.front().rank);
  number("local_rank", trace.captures.front().local_rank);
  number("world_size", trace.captures.front().world_size);
  for (const trace::Thread& thread : trace.threads) {
    all["threads"].push_back({{"tid", thread.tid}, {"name", thread.name}});
  }
  const trace::RangeTable& ranges = trace.ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    all["ranges"].push_back(
        {{"name", text(ranges.text[i])},
         {"domain", text(ranges.domain[i])},
         {"thread", ranges.thread[i].value},
         {"start", ranges.start[i]},
         {"end", ranges.end[i] == trace::kOpenEnd ? json() : json(ranges.end[i])},
         {"kind", static_cast<int>(ranges.kind[i])}});
  }
  const trace::StepTable& steps = trace.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    all["steps"].push_back({{"time", steps.time[i]},
                            {"kind", static_cast<int>(steps.kind[i])},
                            {"batch", steps.batch[i]},
                            {"tokens", steps.tokens[i]}});
  }
  const trace::OperatorTable& operators = trace.operators;
  for (size_t i = 0; i < operators.size(); ++i) {
    json row = {{"name", text(operators.name[i])},
                {"start", operators.start[i]},
                {"end", operators.end[i]}};
    if (!operators.flops.empty()) row["flops"] = operators.flops[i];
    if (!operators.bytes.empty()) row["bytes"] = operators.bytes[i];
    all["operators"].push_back(row);
  }
  const trace::CollectiveTable& collectives = trace.collectives;
  for (size_t i = 0; i < collectives.size(); ++i) {
    all["collectives"].push_back({{"kind", static_cast<int>(collectives.kind[i])},
                                  {"start", collectives.start[i]},
                                  {"end", collectives.end[i]},
                                  {"bytes", collectives.bytes[i]},
                                  {"group", text(collectives.group[i])},
                                  {"members", text(collectives.members[i])},
                                  {"group_size", collectives.group_size[i]},
                                  {"correlation", collectives.correlation[i]}});
  }
  const trace::HostCallTable& calls = trace.host_calls;
  all["host_calls_of_driver"] = calls.of_driver;
  for (size_t i = 0; i < calls.size(); ++i) {
    all["host_calls"].push_back({{"start", calls.start[i]},
                                 {"end", calls.end[i]},
                                 {"thread", calls.thread[i].value},
                                 {"kind", static_cast<int>(calls.kind[i])},
                                 {"handle", calls.handle[i]}});
  }
  for (const Diagnostic& item : trace.diagnostics.items()) {
    all["diagnostics"].push_back({{"code", item.code}, {"count", item.count}});
  }
  return all;
}

int run(const char* path) {
  const auto trace = testing::read_capture(path);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return static_cast<int>(trace.error().kind);
  }
  std::puts(describe(*trace).dump().c_str());
  return 0;
}

}  // namespace
}  // namespace llmprof

int main(int count, char** arguments) { return count == 2 ? llmprof::run(arguments[1]) : 2; }
