#include "capture/local_requests.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "base/files.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;

// Answers one request with these bytes, on a port of the system's choice.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), where, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), where, &length), 0);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this, text = std::move(answer)] {
      const FileDescriptor peer(::accept(listener_.get(), nullptr, nullptr));
      std::array<char, 1000> buffer{};
      const ssize_t got = ::recv(peer.get(), buffer.data(), buffer.size(), 0);
      if (got > 0) request.assign(buffer.data(), static_cast<size_t>(got));
      ::send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL);
    });
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;
  ~OneAnswer() { wait(); }
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

  uint16_t port = 0;
  std::string request;

 private:
  FileDescriptor listener_;
  std::thread thread_;
};

TEST(ParseHttpUrl, TakesAddressesOfThisMachine) {
  const auto url = parse_http_url("http://127.0.0.1:8000/v1/health?x=1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_EQ(url->port, 8000);
  EXPECT_EQ(url->path, "/v1/health?x=1");
  EXPECT_EQ(parse_http_url("http://localhost")->port, 80);
  EXPECT_EQ(parse_http_url("http://localhost?x")->path, "/?x");
  EXPECT_EQ(parse_http_url("http://[::1]:81/")->host, "::1");
  EXPECT_EQ(parse_http_url("http://[::1]:81/")->port, 81);
}

TEST(ParseHttpUrl, RefusesTheRestAsUsage) {
  for (const char* url : {"https://127.0.0.1/", "127.0.0.1:80", "http://example.com/",
                          "http://127.0.0.1:0/", "http://127.0.0.1:99999/", "http://", "",
                          "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y"}) {
    const auto parsed = parse_http_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage) << url;
  }
}

TEST(HttpGet, ReturnsTheStatus) {
  OneAnswer server("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
  const HttpUrl url{"localhost", server.port, "/health"};
  EXPECT_EQ(http_get_status(url, 5s), 503);
  server.wait();
  EXPECT_TRUE(server.request.starts_with("GET /health HTTP/1.1\r\n")) << server.request;
  EXPECT_TRUE(contains(server.request, "\r\nHost: localhost:"));
  EXPECT_TRUE(server.request.ends_with("\r\n\r\n"));
}

TEST(HttpGet, TakesNothingElseForAnAnswer) {
  OneAnswer server("SSH-2.0-OpenSSH_9.2 something\r\n");
  EXPECT_EQ(http_get_status({"127.0.0.1", server.port, "/"}, 5s), std::nullopt);
}

TEST(HttpGet, ReportsThatNobodyAnswers) {
  uint16_t port = 0;
  {
    OneAnswer server("HTTP/1.0 200 OK\r\n\r\n");
    port = server.port;
    EXPECT_EQ(http_get_status({"127.0.0.1", port, "/"}, 5s), 200);
  }
  EXPECT_EQ(http_get_status({"127.0.0.1", port, "/"}, 5s), std::nullopt);
}

}  // namespace
}  // namespace llmprof::capture
