#pragma once

#include <filesystem>

#include "base/streams/byte_stream.h"
#include "readers/requests/json_lines.h"
#include "readers/requests/request_rows.h"

namespace llmprof::readers {

// Reads a file with one request per line. `read_request(object, row)` fills a row; false: the
// object is not a valid request.
template <class ReadRequest>
Result<void> read_request_lines(const std::filesystem::path& path, RequestRows& rows,
                                ReadRequest read_request) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  JsonLines lines(**stream);
  RequestRow row;
  while (true) {
    auto line = lines.next();
    if (!line) return fail_with(line.error().within(path.string()));
    if (*line == JsonLines::Line::end) break;
    row.clear();
    if (*line == JsonLines::Line::object && read_request(lines.object(), row)) {
      rows.add(row);
    } else {
      rows.refuse(lines.number());
    }
  }
  rows.note_non_finite(lines.non_finite());
  if (!lines.cut().empty()) rows.note_cut(lines.cut());
  return {};
}

}  // namespace llmprof::readers
