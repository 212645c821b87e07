#include "testing/captured_trace.h"

#include <cstdio>
#include <cstdlib>

#include "base/byte_stream.h"
#include "readers/detect.h"

namespace llmprof::testing {
namespace {

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "test set-up failed: %s\n", error.message.c_str());
  std::abort();
}

}  // namespace

Trace captured_trace(std::initializer_list<std::filesystem::path> paths) {
  TraceBuilder builder;
  for (const std::filesystem::path& path : paths) {
    const auto head = read_head(path, kHeadBytes);
    if (!head) give_up(head.error());
    const Reader* reader = find_reader(*head);
    if (reader == nullptr) give_up(unreadable(path, *head));
    if (const auto done = reader->read(path, builder); !done) give_up(done.error());
  }
  return std::move(builder).freeze();
}

}  // namespace llmprof::testing
