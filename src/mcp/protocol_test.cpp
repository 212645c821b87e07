#include "mcp/protocol.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace llmprof::mcp {
namespace {

class QuietCall final : public Call {
 public:
  void report(std::string_view /*what*/) override {}
  [[nodiscard]] const std::atomic<bool>& cancelled() const override { return cancelled_; }

 private:
  std::atomic<bool> cancelled_ = false;
};

// Repeats its text, `times` times.
Tool echo() {
  Tool tool;
  tool.name = "echo";
  tool.input_schema = Json::parse(R"({"type": "object", "required": ["text"],
    "additionalProperties": false,
    "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}})");
  tool.output_schema = {{"type", "object"}};
  tool.run = [](const Json& arguments, Call& /*call*/) -> ToolResult {
    const auto text = arguments["text"].get<std::string>();
    if (text == "fail") return ToolResult::failed("say something else");
    if (text == "throw") throw std::runtime_error("/home/jo/secret");
    std::string all;
    for (int64_t i = 0; i < arguments.value("times", int64_t{1}); ++i) all += text;
    return {{{"said", all}}, ""};
  };
  return tool;
}

const Protocol& protocol() {
  static const Protocol kProtocol({"test", "Test", "1.2", "Call echo."}, {echo()});
  return kProtocol;
}

Json meta(std::string_view version = "2026-07-28") {
  return {{"io.modelcontextprotocol/protocolVersion", version},
          {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
}

Json request(std::string_view method, Json params = Json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}};
}

// The response to a message, after the tool that it calls.
Json respond(const Json& message, const MirroredHeaders* headers = nullptr) {
  const Step step = protocol().take(to_line(message), headers);
  if (const auto* const call = std::get_if<ToolCall>(&step)) {
    QuietCall running;
    return protocol().run(*call, running);
  }
  return std::get<Answer>(step).message;
}

int code_of(const Json& message, const MirroredHeaders* headers = nullptr) {
  return respond(message, headers)["error"]["code"].get<int>();
}

TEST(Protocol, TheHandshakeChoosesAVersionOfTheEarlierEra) {
  for (const std::string version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    const Json result = respond(request("initialize", {{"protocolVersion", version}}))["result"];
    EXPECT_EQ(result["protocolVersion"], version);
    EXPECT_EQ(result["serverInfo"],
              Json({{"name", "test"}, {"title", "Test"}, {"version", "1.2"}}));
    EXPECT_EQ(result["capabilities"], Json({{"tools", Json::object()}}));
    EXPECT_FALSE(result.contains("resultType"));
  }
  for (const std::string version : {"1999-01-01", "2026-07-28"}) {
    EXPECT_EQ(
        respond(request("initialize", {{"protocolVersion", version}}))["result"]["protocolVersion"],
        "2025-11-25");
  }
  EXPECT_EQ(respond(request("ping"))["result"], Json::object());
}

TEST(Protocol, TheLaterEraNeedsItsMeta) {
  const Json discovered = respond(request("server/discover", {{"_meta", meta()}}))["result"];
  EXPECT_EQ(discovered["resultType"], "complete");
  EXPECT_EQ(discovered["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(discovered["instructions"], "Call echo.");
  EXPECT_GE(discovered["ttlMs"].get<int>(), 0);
  EXPECT_EQ(discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "test");
  EXPECT_EQ(code_of(request("server/discover")), kInvalidParams);
  Json lacking = meta();
  lacking.erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(code_of(request("tools/list", {{"_meta", lacking}})), kInvalidParams);
  const Json unknown = respond(request("tools/list", {{"_meta", meta("2030-01-01")}}));
  EXPECT_EQ(unknown["error"]["code"], kUnsupportedVersion);
  EXPECT_EQ(unknown["error"]["data"]["requested"], "2030-01-01");
  for (const std::string removed : {"ping", "initialize", "logging/setLevel"}) {
    EXPECT_EQ(code_of(request(removed, {{"_meta", meta()}})), kMethodNotFound);
  }
}

TEST(Protocol, ToolsAreListedWithTheirSchemasInBothEras) {
  const Json legacy = respond(request("tools/list"))["result"]["tools"];
  const Json modern = respond(request("tools/list", {{"_meta", meta()}}))["result"];
  EXPECT_EQ(legacy, modern["tools"]);
  EXPECT_EQ(modern["cacheScope"], "public");
  EXPECT_EQ(legacy[0]["name"], "echo");
  EXPECT_EQ(legacy[0]["annotations"]["readOnlyHint"], true);
  EXPECT_EQ(code_of(request("tools/list", {{"cursor", "x"}})), kInvalidParams);
}

TEST(Protocol, ACallHasItsResultTwice) {
  const Json params = {{"name", "echo"}, {"arguments", {{"text", "a\"b"}}}};
  const Json result = respond(request("tools/call", params))["result"];
  EXPECT_EQ(result["structuredContent"], Json({{"said", "a\"b"}}));
  EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()),
            result["structuredContent"]);
  EXPECT_EQ(result["isError"], false);
}

TEST(Protocol, WhatAModelCanRepairIsAResult) {
  const auto text_of = [](const Json& arguments) {
    const Json result =
        respond(request("tools/call", {{"name", "echo"}, {"arguments", arguments}}))["result"];
    EXPECT_EQ(result["isError"], true);
    EXPECT_FALSE(result.contains("structuredContent"));
    return result["content"][0]["text"].get<std::string>();
  };
  EXPECT_EQ(text_of({{"text", "fail"}}), "say something else");
  EXPECT_EQ(text_of({{"txt", "x"}}), "the argument 'text' is missing");
  EXPECT_EQ(text_of({{"text", "x"}, {"tims", 2}}),
            "unknown argument 'tims'; did you mean 'times'?");
  EXPECT_EQ(text_of(Json::array()), "arguments must be of type object");
  EXPECT_NE(text_of({{"text", "0123456789"}, {"times", 4000}}).find("longer than"),
            std::string::npos);
}

TEST(Protocol, FaultsOfTheProtocolAreErrors) {
  EXPECT_EQ(code_of(request("tools/call", {{"name", "ecko"}})), kInvalidParams);
  EXPECT_EQ(respond(request("tools/call", {{"name", "ecko"}}))["error"]["message"],
            "unknown tool 'ecko'; did you mean echo?");
  const Json internal =
      respond(request("tools/call", {{"name", "echo"}, {"arguments", {{"text", "throw"}}}}));
  EXPECT_EQ(internal["error"]["code"], kInternalError);
  // An exception's text may name paths.
  EXPECT_EQ(to_line(internal).find("secret"), std::string::npos);
  EXPECT_EQ(code_of(request("resources/list")), kMethodNotFound);
}

TEST(Protocol, LongResultsAreNeverSent) {
  // Quotes are escaped twice: in the text, and as its content.
  for (int times = 1000; times < 80'000; times += 3777) {
    const Json params = {{"name", "echo"}, {"arguments", {{"text", "\"x"}, {"times", times}}}};
    EXPECT_LE(to_line(respond(request("tools/call", params))).size(), kLongestResult) << times;
  }
}

TEST(Protocol, NotificationsHaveNoAnswer) {
  const auto take = [](const char* text) { return protocol().take(text); };
  EXPECT_TRUE(std::holds_alternative<Nothing>(
      take(R"({"jsonrpc": "2.0", "method": "notifications/initialized"})")));
  EXPECT_TRUE(
      std::holds_alternative<Nothing>(take(R"({"jsonrpc": "2.0", "id": 1, "result": {}})")));
  const Step cancelled = take(
      R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}})");
  EXPECT_EQ(std::get<CancelCall>(cancelled).id, Json("a"));
}

TEST(Protocol, HeadersRepeatTheBody) {
  const Json call =
      request("tools/call", {{"name", "echo"}, {"arguments", {{"text", "x"}}}, {"_meta", meta()}});
  const MirroredHeaders right = {"2026-07-28", "tools/call", "echo"};
  EXPECT_TRUE(respond(call, &right).contains("result"));
  const MirroredHeaders encoded = {"2026-07-28", "tools/call", "=?base64?ZWNobw==?="};
  EXPECT_TRUE(respond(call, &encoded).contains("result"));
  for (const MirroredHeaders& wrong :
       {MirroredHeaders{"", "tools/call", "echo"},
        MirroredHeaders{"2025-11-25", "tools/call", "echo"},
        MirroredHeaders{"2026-07-28", "", "echo"}, MirroredHeaders{"2026-07-28", "ping", "echo"},
        MirroredHeaders{"2026-07-28", "tools/call", ""},
        MirroredHeaders{"2026-07-28", "tools/call", "other"}}) {
    EXPECT_EQ(code_of(call, &wrong), kHeaderMismatch);
  }
  const MirroredHeaders legacy = {"2025-11-25", "", ""};
  EXPECT_TRUE(respond(request("ping"), &legacy).contains("result"));
  const MirroredHeaders none;
  EXPECT_TRUE(respond(request("ping"), &none).contains("result"));
}

TEST(Protocol, IdsAreShortAndWhole) {
  const auto id = [](const Json& value) {
    Json message = request("ping");
    message["id"] = value;
    return respond(message);
  };
  EXPECT_EQ(id("text")["id"], "text");
  EXPECT_EQ(id(-3)["id"], -3);
  for (const Json& wrong :
       {Json(nullptr), Json(1.5), Json(true), Json(Json::array()), Json(std::string(257, 'x'))}) {
    const Json answer = id(wrong);
    EXPECT_EQ(answer["error"]["code"], kInvalidRequest);
    EXPECT_FALSE(answer.contains("id"));
  }
}

}  // namespace
}  // namespace llmprof::mcp
