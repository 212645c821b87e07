#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/json.h"
#include "mcp/tool.h"

namespace llmprof::mcp {

// Longest message of a client, in bytes: a statement of 100,000 bytes fits, however it is escaped.
inline constexpr size_t kLongestMessage = 2 << 20;
// Longest result of a tool, in bytes, as it is sent: clients refuse more than about 25,000 tokens.
inline constexpr size_t kLongestResult = 75'000;

struct ServerInfo {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  // for the model that uses the tools
};

// What HTTP repeats of a message, for proxies. Empty: not given.
struct MirroredHeaders {
  std::string_view version;  // MCP-Protocol-Version
  std::string_view method;   // Mcp-Method
  std::string_view name;     // Mcp-Name
};

// What to do about a message of the client.
struct Answer {
  Json message;
  int status = 200;             // of HTTP
  bool begins_session = false;  // of a client of the earlier era
};
struct Nothing {};  // a notification that changes nothing, or a response to nothing
struct CancelCall {
  Json id;
};
struct ToolCall {
  Json id;
  bool is_modern = false;
  const Tool* tool = nullptr;
  Json arguments;
  Json progress_token;  // null: the client wants no progress
};
using Step = std::variant<Answer, Nothing, CancelCall, ToolCall>;

// The Model Context Protocol of a server that has tools and nothing else, in both of its eras: the
// stateless revision 2026-07-28, in which each request states its version in `_meta`, and earlier
// ones, which begin with `initialize`. It keeps nothing between messages, so each of them selects
// its era by itself. Used from any thread.
class Protocol {
 public:
  Protocol(ServerInfo info, std::vector<Tool> tools);

  // `headers` are those of HTTP; null for stdio. A tool's arguments are checked when it runs.
  [[nodiscard]] Step take(std::string_view text, const MirroredHeaders* headers = nullptr) const;

  // The response to a call: its result, or what is wrong with its arguments. Runs the tool. Never
  // longer than kLongestResult.
  [[nodiscard]] Json run(const ToolCall& call, Call& running) const;

  // An error that answers no request in particular.
  static Json error_without_id(int code, std::string_view message);
  static Json error(const Json& id, int code, std::string_view message);

 private:
  struct Request;
  [[nodiscard]] Step request(const Request& request, const MirroredHeaders* headers) const;
  [[nodiscard]] Step modern(const Request& request, const MirroredHeaders* headers) const;
  [[nodiscard]] Step legacy(const Request& request) const;
  [[nodiscard]] Step call(const Request& request, bool is_modern) const;
  [[nodiscard]] Json result(const Json& id, bool is_modern, Json members) const;
  [[nodiscard]] Json own_name() const;

  ServerInfo info_;
  std::vector<Tool> tools_;
  Json listed_tools_;
};

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedVersion = -32022;

}  // namespace llmprof::mcp
