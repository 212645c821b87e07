// Any bytes as a message to `llmprof mcp`, over stdio and with the headers of HTTP. It may be
// refused, but each answer is JSON-RPC on one line, no longer than clients accept, and repeats the
// request's id.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mcp/protocol.h"

namespace {

using llmprof::mcp::Json;

class QuietCall final : public llmprof::mcp::Call {
 public:
  void report(std::string_view /*what*/) override {}
  [[nodiscard]] const std::atomic<bool>& cancelled() const override { return cancelled_; }

 private:
  std::atomic<bool> cancelled_ = false;
};

llmprof::mcp::Tool echo() {
  llmprof::mcp::Tool tool;
  tool.name = "echo";
  tool.input_schema = Json::parse(R"({"type": "object", "additionalProperties": false,
    "properties": {
      "kind": {"type": "string", "enum": ["step", "kernel"]},
      "text": {"type": ["string", "integer"], "maxLength": 5000},
      "limit": {"type": "integer", "minimum": 1, "maximum": 10},
      "list": {"type": "array", "maxItems": 3, "items": {"type": ["string", "number"]}},
      "values": {"type": "object", "additionalProperties": {"type": "number"}}}})");
  tool.output_schema = {{"type", "object"}};
  tool.run = [](const Json& arguments, llmprof::mcp::Call& /*call*/) {
    return llmprof::mcp::ToolResult{{{"said", arguments}}, ""};
  };
  return tool;
}

void check(const Json& message, const Json& id) {
  const std::string line = llmprof::mcp::to_line(message);
  const bool is_whole = line.find('\n') == std::string::npos &&
                        line.size() <= llmprof::mcp::kLongestResult &&
                        message.contains("result") != message.contains("error") &&
                        (!message.contains("id") || id.is_null() || message["id"] == id);
  if (is_whole && llmprof::mcp::parse_json(line)) return;
  std::fprintf(stderr, "not an answer: %.200s\n", line.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  static const llmprof::mcp::Protocol protocol({"fuzz", "Fuzz", "1", "Call echo."}, {echo()});
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const llmprof::mcp::MirroredHeaders headers = {"2026-07-28", "tools/call", "echo"};
  for (const auto* const given :
       {static_cast<const llmprof::mcp::MirroredHeaders*>(nullptr), &headers}) {
    const llmprof::mcp::Step step = protocol.take(text, given);
    if (const auto* const answer = std::get_if<llmprof::mcp::Answer>(&step)) {
      check(answer->message, nullptr);
    }
    if (const auto* const call = std::get_if<llmprof::mcp::ToolCall>(&step)) {
      QuietCall running;
      check(protocol.run(*call, running), call->id);
    }
  }
  return 0;
}
