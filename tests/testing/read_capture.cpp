#include "testing/read_capture.h"

#include <span>
#include <string>

#include "base/streams/byte_stream.h"
#include "readers/shared/reader.h"

namespace llmprof::testing {

namespace {

Result<void> read_into(trace::TraceBuilder& builder, const std::filesystem::path& path) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  std::string head(readers::kHeadBytes, '\0');
  const auto filled = (*stream)->read(std::span(head));
  if (!filled) return fail_with(filled.error());
  head.resize(*filled);
  const readers::Reader* reader = readers::find_reader(head);
  if (reader == nullptr) return fail_with(readers::unreadable(path, head));
  return reader->read(path, builder);
}

}  // namespace

Result<trace::Trace> read_capture(const std::filesystem::path& path) {
  return read_captures({path});
}

Result<trace::Trace> read_captures(const std::vector<std::filesystem::path>& paths) {
  trace::TraceBuilder builder;
  for (const std::filesystem::path& path : paths) {
    if (auto read = read_into(builder, path); !read) return fail_with(read.error());
  }
  return std::move(builder).freeze();
}

}  // namespace llmprof::testing
