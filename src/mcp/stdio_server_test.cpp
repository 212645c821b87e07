#include "mcp/stdio_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "mcp/protocol.h"

namespace llmprof::mcp {
namespace {

// Waits until it is cancelled, or answers.
Tool waiting_tool() {
  Tool tool;
  tool.name = "wait";
  tool.input_schema = Json::parse(R"({"type": "object"})");
  tool.output_schema = tool.input_schema;
  tool.run = [](const Json& arguments, Call& call) -> ToolResult {
    if (!arguments.contains("forever")) return {arguments, ""};
    call.report("waiting");
    while (!call.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ToolResult::failed("cancelled");
  };
  return tool;
}

// A client of a server on a thread of its own.
class PipedServer {
 public:
  PipedServer() {
    EXPECT_EQ(::pipe2(to_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from_.data(), O_CLOEXEC), 0);
    served_ = std::async(std::launch::async, [this] {
      auto result = serve_stdio(protocol_, to_[0], from_[1]);
      ::close(from_[1]);
      return result.has_value();
    });
  }
  PipedServer(const PipedServer&) = delete;
  PipedServer& operator=(const PipedServer&) = delete;
  ~PipedServer() {
    close_input();
    served_.wait();
    ::close(to_[0]);
    ::close(from_[0]);
  }

  void send(const std::string& line) const {
    const std::string bytes = line + '\n';
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t size = ::write(to_[1], bytes.data() + at, bytes.size() - at);
      ASSERT_GT(size, 0);
      at += static_cast<size_t>(size);
    }
  }
  void call(const Json& id, const Json& arguments) const {
    send(to_line({{"jsonrpc", "2.0"},
                  {"id", id},
                  {"method", "tools/call"},
                  {"params", {{"name", "wait"}, {"arguments", arguments}}}}));
  }
  // Null at the end.
  Json read() {
    for (;;) {
      if (const size_t end = text_.find('\n'); end != std::string::npos) {
        Json message = Json::parse(text_.substr(0, end));
        text_.erase(0, end + 1);
        return message;
      }
      std::array<char, 4096> piece{};
      const ssize_t size = ::read(from_[0], piece.data(), piece.size());
      if (size <= 0) return nullptr;
      text_.append(piece.data(), static_cast<size_t>(size));
    }
  }
  void close_input() {
    if (to_[1] >= 0) ::close(to_[1]);
    to_[1] = -1;
  }
  bool ended_well() { return served_.get(); }

 private:
  Protocol protocol_{{"test", "Test", "1", ""}, {waiting_tool()}};
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  std::string text_;
  std::shared_future<bool> served_;
};

TEST(StdioServer, CancelledCallsHaveNoAnswer) {
  PipedServer server;
  server.call(1, {{"forever", true}});
  server.call(2, {{"forever", true}});
  server.call(3, {{"n", 3}});
  server.send(R"({"jsonrpc":"2.0","id":9,"method":"ping"})");
  EXPECT_EQ(server.read()["id"], 9);  // read while a call works
  server.call(1, Json::object());
  EXPECT_EQ(server.read()["error"]["code"], kInvalidRequest);  // the id is in use
  for (const std::string id : {"2", "1", "\"1\"", "null"}) {
    server.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                id + "}}");
  }
  EXPECT_EQ(server.read()["id"], 3);
  server.call(1, {{"n", 1}});
  EXPECT_EQ(server.read()["result"]["structuredContent"]["n"], 1);
}

TEST(StdioServer, AThousandIdsAtOnce) {
  PipedServer server;
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i) {
      server.call(i % 2 == 0 ? Json(i) : Json(std::to_string(i)), {{"n", i}});
    }
  });
  std::set<int> seen;
  for (int i = 0; i < 1000; ++i) {
    const Json answer = server.read();
    const int n = answer["result"]["structuredContent"]["n"].get<int>();
    EXPECT_EQ(answer["id"], n % 2 == 0 ? Json(n) : Json(std::to_string(n)));
    seen.insert(n);
  }
  sender.join();
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(StdioServer, LongLinesCostOnlyThemselves) {
  PipedServer server;
  std::thread sender([&] {
    server.send(std::string(3 * kLongestMessage, 'x'));
    server.send(std::string(kLongestMessage + 1, 'x'));
    server.send(std::string(kLongestMessage, 'x'));
    server.send("");
    server.send(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  });
  EXPECT_EQ(server.read()["error"]["code"], kInvalidRequest);
  EXPECT_EQ(server.read()["error"]["code"], kInvalidRequest);
  EXPECT_EQ(server.read()["error"]["code"], kParseError);
  EXPECT_EQ(server.read()["id"], 1);
  sender.join();
}

TEST(StdioServer, AtTheEndOpenCallsAreAnswered) {
  PipedServer server;
  for (int i = 0; i < 20; ++i) server.call(i, {{"n", i}});
  server.send(R"({"jsonrpc":"2.0","id":99,"method":"ping"})");
  server.close_input();
  std::set<int> ids;
  for (Json answer = server.read(); !answer.is_null(); answer = server.read()) {
    ids.insert(answer["id"].get<int>());
  }
  EXPECT_EQ(ids.size(), 21U);
  EXPECT_TRUE(server.ended_well());
}

}  // namespace
}  // namespace llmprof::mcp
