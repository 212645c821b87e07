#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "mcp/json.h"

namespace llmprof::mcp {

// A call of a tool while it runs.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  // What it does now, for the client that waits. From any thread.
  virtual void report(std::string_view what) = 0;
  // Set once nobody waits for the result.
  [[nodiscard]] virtual const std::atomic<bool>& cancelled() const = 0;
};

// An error is a text from which a model can repair its call; otherwise a value that satisfies the
// tool's output schema.
struct ToolResult {
  Json value;
  std::string error;  // empty: none

  static ToolResult failed(std::string text) { return {nullptr, std::move(text)}; }
};

// A tool that only reads. Its arguments satisfy `input_schema` when it is called.
struct Tool {
  std::string name;
  std::string title;
  std::string description;
  Json input_schema;
  Json output_schema;
  std::function<ToolResult(const Json& arguments, Call& call)> run;
};

}  // namespace llmprof::mcp
