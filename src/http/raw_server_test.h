#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"

namespace llmprof::http {

// Takes one connection after the other, answers the first request of each with the next of these
// texts, byte for byte, and closes. It never looks at what it is asked.
class RawServer {
 public:
  explicit RawServer(std::vector<std::string> answers)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), where, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 5), 0);
    EXPECT_EQ(::getsockname(listener_.get(), where, &length), 0);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this, texts = std::move(answers)] {
      for (const std::string& text : texts) answer(text);
    });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() { wait(); }
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

  uint16_t port = 0;
  std::vector<std::string> requests;

 private:
  void answer(const std::string& text) {
    const FileDescriptor peer(::accept(listener_.get(), nullptr, nullptr));
    std::array<char, 4000> buffer{};
    const ssize_t got = ::recv(peer.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) requests.emplace_back(buffer.data(), static_cast<size_t>(got));
    std::string_view left = text;
    while (!left.empty()) {
      const ssize_t sent = ::send(peer.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      left.remove_prefix(static_cast<size_t>(sent));
    }
  }

  FileDescriptor listener_;
  std::thread thread_;
};

}  // namespace llmprof::http
