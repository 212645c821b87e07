#pragma once

#include <simdjson.h>
#include <cstdint>
#include <optional>
#include <string_view>

#include "readers/kineto/collective.h"
#include "readers/kineto/memory.h"
#include "readers/kineto/product.h"
#include "readers/kineto/rows.h"
#include "readers/kineto/token.h"
#include "trace/tables.h"

namespace llmprof::readers {

// What an event is about, from its "cat".
enum class KinetoCategory : uint8_t {
  kernel,
  copy,
  fill,
  api_call,
  cpu_operator,
  annotation,
  gpu_annotation,
  python_function,
  instant,
  known_but_unused,
  unknown,
};

// An event's arguments about work; tokens point into the text.
struct KinetoArguments {
  std::string_view correlation, external_id;
  std::string_view device, context, stream;
  std::string_view registers, shared_memory, bytes, graph, graph_node, name, kernel;
  trace::Extent grid{};
  trace::Extent block{};
  std::optional<CollectiveArguments> collective;  // few events have any of these
  const ProductOperator* multiplies = nullptr;    // an operator that multiplies matrices
  std::optional<ProductArguments> product;        // of such an operator
  std::optional<MemoryArguments> memory;          // what an allocator reports

  CollectiveArguments& of_collective() {
    if (!collective) collective.emplace();
    return *collective;
  }
  MemoryArguments& of_memory() {
    if (!memory) memory.emplace();
    return *memory;
  }
  ProductArguments& of_product() {
    if (!product) product.emplace();
    return *product;
  }
};

struct KinetoEvent {
  char phase = 0;
  std::optional<KinetoCategory> category;
  std::string_view category_token, name, pid, tid, start, duration;
  KinetoArguments arguments;
};

// A Python frame that is a module call: "nn.Module: Qwen3DecoderLayer_7".
inline constexpr std::string_view kModulePrefix = "nn.Module: ";
inline bool is_module(std::string_view name_token) {
  return token_text(name_token).starts_with(kModulePrefix);
}

// An allocator's report: an instant, without a category in 2021.
inline bool is_memory_report(std::string_view name_token) {
  return token_text(name_token) == "[memory]";
}

// Adds an event to the rows, or only counts it. Returns whether it has all that its kind requires.
bool add_event_rows(const KinetoEvent& event, KinetoRows& rows);

// Reads one event and adds it to the rows. An event that lacks a required value counts as bad; one
// without data for us is only counted. An error code means that the text is not JSON here, and that
// nothing after it can be trusted.
//
// The text that contains `event` ends at `end`; SIMDJSON_PADDING readable bytes must follow, the
// first of which is 0.
simdjson::error_code read_kineto_event(simdjson::ondemand::object event, const char* end,
                                       KinetoRows& rows);

}  // namespace llmprof::readers
