#include "http/get.h"

#include "base/text.h"
#include "http/raw_server_test.h"

namespace llmprof::http {
namespace {

using namespace std::chrono_literals;

Result<Answer> get_from(const RawServer& server, std::string_view host = "127.0.0.1") {
  return get({false, std::string(host), server.port, "/health"}, 5s);
}

TEST(Get, ReturnsStatusAndBody) {
  RawServer server(
      {"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n"
       "Content-Length: 4\r\n\r\nwait"});
  const auto answer = get_from(server, "localhost");
  server.wait();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->content_type, "text/plain");
  EXPECT_EQ(answer->body, "wait");
  EXPECT_TRUE(server.requests.at(0).starts_with("GET /health HTTP/1.1\r\n"));
  EXPECT_TRUE(contains(server.requests.at(0), "\r\nHost: localhost:"));
  EXPECT_TRUE(server.requests.at(0).ends_with("\r\n\r\n"));
}

TEST(Get, TakesEveryFormOfABody) {
  for (const char* text : {
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
           "chunked\r\n\r\n3\r\nwai\r\n1;x=y\r\nt\r\n0\r\n\r\n",
           "HTTP/1.0 200 OK\r\n\r\nwait",
           "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwait",
           "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
           "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwait",
       }) {
    RawServer server({text});
    const auto answer = get_from(server);
    ASSERT_TRUE(answer) << text << answer.error().message;
    EXPECT_EQ(answer->status, 200) << text;
    EXPECT_EQ(answer->body, "wait") << text;
  }
}

TEST(Get, TakesNothingElseForAnAnswer) {
  const std::string endless(1U << 20U, 'x');
  for (const std::string& text : {
           std::string("SSH-2.0-OpenSSH_9.2 something\r\n"),
           std::string(),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nwait"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwait\r\n"),
           std::string(
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nx"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nwait\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\nx"),
           "HTTP/1.1 200 OK\r\nX: " + endless,
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + endless,
           endless,
       }) {
    RawServer server({text});
    const auto answer = get_from(server);
    ASSERT_FALSE(answer) << text.substr(0, 100);
    EXPECT_EQ(answer.error().kind, ErrorKind::tool);
    EXPECT_TRUE(answer.error().message.starts_with("http://127.0.0.1:")) << answer.error().message;
  }
}

TEST(GetStatus, DoesNotWaitForTheBody) {
  RawServer server(
      {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 503 Busy\r\nContent-Length: 1000\r\n\r\nwait"});
  const Url url{false, "localhost", server.port, "/health"};
  EXPECT_EQ(*get_status(url, 5s), 204);
  EXPECT_EQ(*get_status(url, 5s), 503);
}

TEST(Get, LimitsTheBody) {
  RawServer server({"HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x')});
  const auto answer = get({false, "127.0.0.1", server.port, "/"}, 5s, {}, {}, 1000);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(contains(answer.error().message, "longer than 1000 bytes"));
}

TEST(Get, ReportsThatNobodyAnswers) {
  uint16_t port = 0;
  {
    RawServer server({"HTTP/1.0 200 OK\r\n\r\n"});
    port = server.port;
    EXPECT_EQ(get_from(server)->status, 200);
  }
  const auto answer = get({false, "localhost", port, "/"}, 5s);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(contains(answer.error().message, "is the server running there?"));
}

TEST(Get, ReportsAnAnswerThatDoesNotEnd) {
  const FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), where, length), 0);
  ASSERT_EQ(::listen(listener.get(), 5), 0);
  ASSERT_EQ(::getsockname(listener.get(), where, &length), 0);
  const auto answer = get({false, "127.0.0.1", ntohs(address.sin_port), "/"}, 100ms);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(contains(answer.error().message, "not complete within 0.1 s"));
}

TEST(AddressesOf, KnowsAddressesAndLocalhostWithoutALookup) {
  EXPECT_EQ(*addresses_of("localhost", 1s), (std::vector<std::string>{"127.0.0.1", "::1"}));
  EXPECT_EQ(*addresses_of("::1", 1s), std::vector<std::string>{"::1"});
  EXPECT_EQ(*addresses_of("10.1.2.3", 1s), std::vector<std::string>{"10.1.2.3"});
  EXPECT_EQ(*addresses_of("0.0.0.0", 1s), std::vector<std::string>{"127.0.0.1"});
}

}  // namespace
}  // namespace llmprof::http
