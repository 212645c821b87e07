// show_tape TAPE: prints its items as JSON, one per line, for tests in Python.
#include <cupti.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "activity_fields.h"
#include "tape.h"

namespace llmprof {
namespace {

using nlohmann::json;
using namespace tape;

json text(const Tape& from, TextId id) {
  const char* found = from.text(id);
  return found != nullptr ? json(found) : json();
}

json describe(const Tape& tape, const Api& api) {
  return {{"item", "api"},
          {"domain", api.domain},
          {"cbid", api.cbid},
          {"site", api.site == CUPTI_API_ENTER ? "enter" : "exit"},
          {"correlation", api.correlation},
          {"graph", api.graph_exec},
          {"function", text(tape, api.function)},
          {"symbol", text(tape, api.symbol)}};
}

json describe(const Resource& resource) {
  return {{"item", "resource"},
          {"cbid", resource.cbid},
          {"node", resource.node},
          {"original", resource.original_node}};
}

json describe(const Tape& tape, const Nvtx& nvtx) {
  static const char* const kOps[] = {"",
                                     "push",
                                     "pop",
                                     "start",
                                     "end",
                                     "mark",
                                     "domain_create",
                                     "domain_destroy",
                                     "register_string",
                                     "name_thread"};
  return {{"item", "nvtx"},
          {"op", kOps[static_cast<size_t>(nvtx.op)]},
          {"form", static_cast<int>(nvtx.form)},
          {"domain", nvtx.domain},
          {"text", text(tape, nvtx.text)},
          {"handle", nvtx.handle}};
}

json describe(const Tape& tape, const Activity& head, const char* bytes) {
  alignas(CUpti_ActivityKernel10) char record[sizeof(CUpti_ActivityKernel10)] = {};
  std::memcpy(record, bytes, head.record_bytes < sizeof record ? head.record_bytes : sizeof record);
  json row = {{"item", "activity"}, {"name", text(tape, head.name)}};
  fake::with_record(record, [&](auto& value) {
    const fake::Fields fields = fake::fields_of(value);
    row.update({{"kind", static_cast<int>(fields.kind)},
                {"start", fields.start},
                {"end", fields.end},
                {"correlation", fields.correlation},
                {"device", fields.device},
                {"stream", fields.stream},
                {"graph", fields.graph},
                {"node", fields.node},
                {"bytes", fields.bytes}});
    if constexpr (requires { value.gridX; }) {
      row["grid"] = {int{value.gridX}, int{value.gridY}, int{value.gridZ}};
      row["block"] = {int{value.blockX}, int{value.blockY}, int{value.blockZ}};
      row["registers"] = int{value.registersPerThread};
      row["dynamic_shared"] = int{value.dynamicSharedMemory};
    }
  });
  return row;
}

json describe(const Tape& tape, const Item& item) {
  switch (item.head.kind) {
    case Kind::api:
      return describe(tape, item.as<Api>());
    case Kind::resource:
      return describe(item.as<Resource>());
    case Kind::nvtx:
      return describe(tape, item.as<Nvtx>());
    case Kind::activity:
      return describe(tape, item.as<Activity>(), item.tail<Activity>());
    case Kind::dropped:
      return {{"item", "dropped"}, {"records", item.as<Dropped>().records}};
    default:
      return {{"item", "other"}};
  }
}

int run(const char* path) {
  Tape tape;
  std::string problem;
  if (!tape.load(path, problem)) {
    std::fprintf(stderr, "show_tape: %s\n", problem.c_str());
    return 1;
  }
  for (const Item& item : tape.items) {
    json row = describe(tape, item);
    row["thread"] = item.head.thread;
    row["time"] = item.head.time;
    std::puts(row.dump().c_str());
  }
  return 0;
}

}  // namespace
}  // namespace llmprof

int main(int count, char** arguments) { return count == 2 ? llmprof::run(arguments[1]) : 2; }
