#pragma once

#include <simdjson.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "readers/kineto/collective.h"
#include "readers/kineto/rows.h"
#include "readers/kineto/token.h"
#include "trace/tables.h"

namespace llmprof::readers {

// What an event with a duration is about, as its "cat" says.
enum class KinetoCategory : uint8_t {
  kernel,
  copy,
  fill,
  api_call,
  cpu_operator,
  annotation,
  gpu_annotation,
  python_function,
  known_but_unused,
  unknown,
};

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

// Adds an event to the rows, or counts it as what it is. Whether it was as its kind must be.
bool add_event_rows(const KinetoEvent& event, KinetoRows& rows);

// Reads one event and adds it to the rows. An event that lacks what its kind must have is counted
// as bad; one that holds nothing for us is counted as what it is. An error code means that the text
// is not JSON here, and that nothing after it can be trusted.
//
// The text that `event` stands in ends at `end`; SIMDJSON_PADDING readable bytes must follow, the
// first of them 0.
simdjson::error_code read_kineto_event(simdjson::ondemand::object event, const char* end,
                                       KinetoRows& rows);

// One thread's part of reading a trace: turns a window of whole events into rows.
class KinetoWindow {
 public:
  // Needs kWindowMargin writable bytes before and after the window. The rows of the window before
  // are forgotten.
  void parse(std::span<char> window);

  [[nodiscard]] KinetoRows& rows() { return rows_; }

 private:
  bool parse_at_once(std::span<char> window);
  void parse_singly(std::span<char> window);
  // Whether the text was JSON, as it is or after repair.
  bool parse_event(std::span<char> event);
  // SIMDJSON_PADDING bytes follow, the first of them 0.
  simdjson::error_code parse_padded(std::span<const char> text);

  simdjson::ondemand::parser parser_;
  KinetoRows rows_;
};

}  // namespace llmprof::readers
