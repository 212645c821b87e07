#pragma once

#include <optional>
#include <string_view>

#include "readers/kineto/category.h"
#include "readers/kineto/collective.h"
#include "readers/kineto/token.h"
#include "trace/tables.h"

namespace llmprof::readers {

// What an event's arguments say of work; tokens point into the text.
struct KinetoArguments {
  std::string_view correlation, external_id;
  std::string_view device, context, stream;
  std::string_view registers, shared_memory, bytes, graph, graph_node, name, kernel;
  trace::Extent grid{};
  trace::Extent block{};
  std::optional<CollectiveArguments> collective;  // few events have any of these

  CollectiveArguments& of_collective() {
    if (!collective) collective.emplace();
    return *collective;
  }
};

struct KinetoEvent {
  char phase = 0;
  std::optional<KinetoCategory> category;
  std::string_view category_token, name, pid, tid, start, duration;
  KinetoArguments arguments;
};

// A frame of Python that is the call of a module: "nn.Module: Qwen3DecoderLayer_7".
inline constexpr std::string_view kModulePrefix = "nn.Module: ";
inline bool is_module(std::string_view name_token) {
  return token_text(name_token).starts_with(kModulePrefix);
}

}  // namespace llmprof::readers
