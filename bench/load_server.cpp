// A server that answers every POST with a stream of chunks, and nothing else: what `llmprof load`
// and wrk are measured against.
//   bench_load_server CHUNKS GAP_US      0: all chunks at once; prints its port
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "http/server.h"

namespace {

namespace http = llmprof::http;

constexpr int64_t kMicrosecond = 1000;

struct Answer {
  Answer(http::EventLoop& loop, std::shared_ptr<http::Responder> to)
      : timer(loop), responder(std::move(to)) {}

  http::Timer timer;
  std::shared_ptr<http::Responder> responder;
  int sent = 0;
};

class ChunkServer {
 public:
  ChunkServer(int chunks, int64_t gap_ns) : chunks_(chunks), gap_ns_(gap_ns) {}

  int run() {
    auto server = http::Server::listen(
        loop_, 0, [this](const http::ServerRequest& request, std::shared_ptr<http::Responder> to) {
          if (request.path() == "/v1/models") {
            to->answer(200, "application/json", R"({"data":[{"id":"bench","owned_by":"bench"}]})");
            return;
          }
          to->begin_stream(200, "text/event-stream");
          send_more(std::make_shared<Answer>(loop_, std::move(to)));
        });
    if (!server) {
      fmt::print(stderr, "{}\n", server.error().message);
      return 1;
    }
    fmt::print("{}\n", (*server)->port());
    std::fflush(stdout);
    loop_.run();
    return 0;
  }

 private:
  void send_more(const std::shared_ptr<Answer>& answer) {
    while (answer->sent < chunks_) {
      const bool is_last = ++answer->sent == chunks_;
      answer->responder->send(is_last ? kLast : kChunk);
      if (is_last) break;
      if (gap_ns_ == 0) continue;
      answer->timer.start_at(http::monotonic_ns() + gap_ns_, [this, answer] { send_more(answer); });
      return;
    }
    answer->responder->end_stream();
  }

  static constexpr std::string_view kChunk =
      "data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"model\":\"bench\",\"choices\":"
      "[{\"index\":0,\"text\":\" token\",\"finish_reason\":null}]}\n\n";
  static constexpr std::string_view kLast =
      "data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"model\":\"bench\",\"choices\":"
      "[{\"index\":0,\"text\":\" token\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";

  int chunks_;
  int64_t gap_ns_;
  http::EventLoop loop_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_load_server CHUNKS GAP_US\n");
    return 2;
  }
  const int chunks = std::atoi(argv[1]);
  const int64_t gap_us = std::atoll(argv[2]);
  return ChunkServer(chunks, gap_us * kMicrosecond).run();
}
