// What a server streams to `llmprof load`: any bytes, in pieces that the first bytes choose.
// Reading them in pieces must give the same events as reading them at once.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/answer.h"
#include "load/sse.h"

namespace {

struct Stream {
  std::vector<std::pair<std::string, std::string>> events;
  llmprof::load::AnswerReader answer;
};

void read(Stream& stream, std::string_view bytes, size_t piece) {
  llmprof::load::SseParser parser([&](std::string_view event, std::string_view data) {
    stream.events.emplace_back(event, data);
    stream.answer.tokens_in(data);
  });
  while (!bytes.empty()) {
    parser.feed(bytes.substr(0, piece));
    bytes.remove_prefix(piece < bytes.size() ? piece : bytes.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Stream whole;
  Stream pieces;
  read(whole, bytes, bytes.size() + 1);
  read(pieces, bytes, 1U + data[0]);
  if (whole.events != pieces.events || whole.answer.tokens() != pieces.answer.tokens()) {
    std::fprintf(stderr, "pieces give other events\n");
    std::abort();
  }
  llmprof::load::AnswerReader one;
  one.tokens_in_whole(bytes);
  llmprof::load::message_in(bytes);
  return 0;
}
