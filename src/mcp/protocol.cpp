#include "mcp/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/text.h"
#include "mcp/schema_check.h"

namespace llmprof::mcp {
namespace {

constexpr std::string_view kModernVersion = "2026-07-28";
// Newest first.
constexpr std::array<std::string_view, 4> kLegacyVersions = {"2025-11-25", "2025-06-18",
                                                             "2025-03-26", "2024-11-05"};
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
// What the client chooses and gets back in every answer.
constexpr size_t kLongestId = 256;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
// Tools are the same as long as the process runs.
constexpr int kListIsFreshMs = 3'600'000;

bool is_legacy(std::string_view version) {
  return std::ranges::find(kLegacyVersions, version) != kLegacyVersions.end();
}

Json all_versions() {
  Json versions = Json::array({kModernVersion});
  for (const std::string_view version : kLegacyVersions) versions.push_back(version);
  return versions;
}

bool is_id(const Json& value) {
  return value.is_number_integer() ||
         (value.is_string() && value.get_ref<const std::string&>().size() <= kLongestId);
}

std::string text_or_empty(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

// As clients encode what headers cannot contain.
std::string as_header(const std::string& text) {
  std::string encoded = "=?base64?";
  append_base64(encoded, text);
  return encoded + "?=";
}

Json describe(const Tool& tool) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", tool.input_schema},
          {"outputSchema", tool.output_schema},
          {"annotations",
           {{"title", tool.title},
            {"readOnlyHint", true},
            {"destructiveHint", false},
            {"idempotentHint", true},
            {"openWorldHint", false}}}};
}

Json text_content(std::string text) {
  return Json::array({{{"type", "text"}, {"text", std::move(text)}}});
}

}  // namespace

struct Protocol::Request {
  Json id;
  std::string method;
  Json params;
};

Protocol::Protocol(ServerInfo info, std::vector<Tool> tools)
    : info_(std::move(info)), tools_(std::move(tools)), listed_tools_(Json::array()) {
  for (const Tool& tool : tools_) listed_tools_.push_back(describe(tool));
}

Json Protocol::error(const Json& id, int code, std::string_view message) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", code}, {"message", std::string(message)}}}};
}

Json Protocol::error_without_id(int code, std::string_view message) {
  Json answer = error(nullptr, code, message);
  answer.erase("id");
  return answer;
}

Step Protocol::take(std::string_view text, const MirroredHeaders* headers) const {
  auto parsed = parse_json(text);
  if (!parsed) {
    return Answer{error_without_id(kParseError, "the message is not JSON in UTF-8"), kBadRequest};
  }
  const Json& message = *parsed;
  const auto refuse = [](std::string_view why) {
    return Answer{error_without_id(kInvalidRequest, why), kBadRequest};
  };
  if (message.is_array()) return refuse("send one message at a time, not a batch");
  if (member(message, "jsonrpc") != Json("2.0")) return refuse("the message is not JSON-RPC 2.0");
  const Json& method = member(message, "method");
  if (method.is_null() && (message.contains("result") || message.contains("error"))) {
    return Nothing{};
  }
  if (!method.is_string()) return refuse("the message has no method");
  const Json& params = member(message, "params");
  const bool has_params = message.contains("params");
  if (!message.contains("id")) {
    if (method != Json("notifications/cancelled")) return Nothing{};
    return CancelCall{member(params, "requestId")};
  }
  const Json& id = message["id"];
  if (!is_id(id)) {
    return refuse(
        fmt::format("the id must be a whole number, or a text of up to {} bytes", kLongestId));
  }
  if (has_params && !params.is_object()) {
    return Answer{error(id, kInvalidParams, "params must be an object"), kBadRequest};
  }
  return request({id, method.get<std::string>(), has_params ? params : Json::object()}, headers);
}

Step Protocol::request(const Request& request, const MirroredHeaders* headers) const {
  const Json& version = member(member(request.params, "_meta"), kVersionKey);
  const std::string_view header = headers == nullptr ? std::string_view() : headers->version;
  const bool has_modern_header = !header.empty() && !is_legacy(header);
  if (version.is_null() && !has_modern_header && request.method != "server/discover") {
    return legacy(request);
  }
  return modern(request, headers);
}

Step Protocol::modern(const Request& request, const MirroredHeaders* headers) const {
  const auto refuse = [&](int code, std::string_view why, int status = kBadRequest) {
    return Answer{error(request.id, code, why), status};
  };
  const Json& meta = member(request.params, "_meta");
  const Json& version = member(meta, kVersionKey);
  if (!version.is_string()) {
    return refuse(kInvalidParams, fmt::format("params._meta must have {}", kVersionKey));
  }
  if (!member(meta, kCapabilitiesKey).is_object()) {
    return refuse(kInvalidParams, fmt::format("params._meta must have {}", kCapabilitiesKey));
  }
  if (headers != nullptr && headers->version != version.get_ref<const std::string&>()) {
    return refuse(kHeaderMismatch, "the header MCP-Protocol-Version does not match the body");
  }
  if (version != Json(kModernVersion)) {
    Answer answer = refuse(kUnsupportedVersion, "unsupported protocol version");
    answer.message["error"]["data"] = {
        {"supported", all_versions()},
        {"requested", shortened(version.get_ref<const std::string&>(), kLongestId)}};
    return answer;
  }
  const bool is_call = request.method == "tools/call";
  if (headers != nullptr) {
    if (headers->method != request.method) {
      return refuse(kHeaderMismatch, "the header Mcp-Method does not match the body");
    }
    const std::string name = text_or_empty(member(request.params, "name"));
    if (is_call && headers->name != name && headers->name != as_header(name)) {
      return refuse(kHeaderMismatch, "the header Mcp-Name does not match the body");
    }
  }
  if (is_call) return call(request, true);
  if (request.method == "tools/list") {
    if (request.params.contains("cursor")) return refuse(kInvalidParams, "unknown cursor");
    return Answer{
        result(request.id, true,
               {{"tools", listed_tools_}, {"ttlMs", kListIsFreshMs}, {"cacheScope", "public"}})};
  }
  if (request.method == "server/discover") {
    return Answer{result(request.id, true,
                         {{"supportedVersions", all_versions()},
                          {"capabilities", {{"tools", Json::object()}}},
                          {"instructions", info_.instructions},
                          {"ttlMs", kListIsFreshMs},
                          {"cacheScope", "public"}})};
  }
  return refuse(kMethodNotFound, "method not found", kNotFound);
}

Step Protocol::legacy(const Request& request) const {
  if (request.method == "initialize") {
    const std::string wanted = text_or_empty(member(request.params, "protocolVersion"));
    Answer answer{result(
        request.id, false,
        {{"protocolVersion", is_legacy(wanted) ? wanted : std::string(kLegacyVersions.front())},
         {"capabilities", {{"tools", Json::object()}}},
         {"serverInfo", own_name()},
         {"instructions", info_.instructions}})};
    answer.begins_session = true;
    return answer;
  }
  if (request.method == "ping") return Answer{result(request.id, false, Json::object())};
  if (request.method == "tools/list") {
    if (request.params.contains("cursor")) {
      return Answer{error(request.id, kInvalidParams, "unknown cursor")};
    }
    return Answer{result(request.id, false, {{"tools", listed_tools_}})};
  }
  if (request.method == "tools/call") return call(request, false);
  return Answer{error(request.id, kMethodNotFound, "method not found")};
}

Step Protocol::call(const Request& request, bool is_modern) const {
  const std::string name = text_or_empty(member(request.params, "name"));
  const auto tool = std::ranges::find(tools_, name, &Tool::name);
  if (tool == tools_.end()) {
    std::vector<std::string_view> known;
    known.reserve(tools_.size());
    for (const Tool& each : tools_) known.emplace_back(each.name);
    const auto close = nearest(name, known);
    return Answer{error(request.id, kInvalidParams,
                        fmt::format("unknown tool '{}'{}", to_printable(shortened(name, 100)),
                                    close ? fmt::format("; did you mean {}?", *close) : ""))};
  }
  Json arguments = member(request.params, "arguments");
  if (arguments.is_null()) arguments = Json::object();
  const Json& token = member(member(request.params, "_meta"), "progressToken");
  return ToolCall{request.id, is_modern, &*tool, std::move(arguments),
                  is_id(token) ? token : Json()};
}

Json Protocol::run(const ToolCall& call, Call& running) const {
  ToolResult found;
  const std::string fault = fault_of(call.arguments, call.tool->input_schema);
  if (fault.empty()) {
    try {
      found = call.tool->run(call.arguments, running);
    } catch (const std::exception&) {
      // What an exception says may name paths.
      return error(call.id, kInternalError, "internal error");
    }
  } else {
    found = ToolResult::failed(fault);
  }
  const auto failed = [&](std::string text) {
    return result(call.id, call.is_modern,
                  {{"content", text_content(std::move(text))}, {"isError", true}});
  };
  constexpr size_t kLongestError = 8000;
  if (!found.error.empty())
    return failed(shortened(to_printable_lines(found.error), kLongestError));
  const auto answer = [&](std::string text, Json value) {
    return result(call.id, call.is_modern,
                  {{"content", text_content(std::move(text))},
                   {"structuredContent", std::move(value)},
                   {"isError", false}});
  };
  std::string text = to_line(found.value);
  const size_t around = to_line(answer("", nullptr)).size();
  if (around + text.size() + bytes_as_json(text) > kLongestResult) {
    return failed(fmt::format("the answer is longer than {} bytes; ask for fewer rows or columns",
                              kLongestResult));
  }
  return answer(std::move(text), std::move(found.value));
}

Json Protocol::result(const Json& id, bool is_modern, Json members) const {
  if (is_modern) {
    members["resultType"] = "complete";
    members["_meta"] = {{std::string(kServerInfoKey), own_name()}};
  }
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(members)}};
}

Json Protocol::own_name() const {
  return {{"name", info_.name}, {"title", info_.title}, {"version", info_.version}};
}

}  // namespace llmprof::mcp
