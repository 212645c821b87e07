#include <algorithm>
#include <string>
#include <vector>

#include "base/streams/byte_stream.h"
#include "base/streams/ordered_windows.h"
#include "readers/nsys_csv/merge.h"
#include "readers/nsys_csv/report.h"
#include "readers/nsys_csv/window.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

using nsys_csv::PreambleLine;
using nsys_csv::WalkState;
using nsys_csv::WindowWalk;

constexpr size_t kWindowBytes = 512UL << 10U;
constexpr size_t kHeadBytes = 64UL << 10U;

// nsys's own messages are enough: a file with only those is still from nsys, and read() says what
// is wrong with it.
bool is_by_nsys(std::string_view line) {
  const PreambleLine preamble = nsys_csv::read_preamble_line(line);
  switch (preamble.kind) {
    case PreambleLine::Kind::processing:
      return true;
    case PreambleLine::Kind::title:
      return preamble.report.ends_with("sum") || preamble.report.ends_with("trace");
    case PreambleLine::Kind::refusal:
      return line.find(".sqlite") != std::string_view::npos;
    default:
      return false;
  }
}

bool recognizes_nsys_csv(std::string_view head) {
  WindowWalk walk;
  std::string copy(head);
  walk.parse(copy);
  if (!walk.content().parts.empty()) return true;
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    if (is_by_nsys(head.substr(0, end))) return true;
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

Result<void> read_nsys_csv_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  auto head = read_head(path, kHeadBytes);
  if (!head) return fail_with(head.error());
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());

  WalkState state;
  state.announced.report = nsys_csv::report_in_file_name(path.filename().string());
  WindowWalk first(state);
  first.parse(*head);
  std::vector<WindowWalk> walks(window_slot_count(), WindowWalk(first.exit()));
  nsys_csv::Merge merge(path, builder);
  const size_t window = head->size() < kHeadBytes ? kHeadBytes : kWindowBytes;
  auto done =
      parse_in_windows(**stream, window, nsys_csv::whole_lines, walks, [&](WindowWalk& walk) {
        if (!(walk.assumed() == state)) {
          walk.assume(state);
          walk.parse_again();
        }
        state = walk.exit();
        walk.assume(state);
        merge.add(walk);
        return true;
      });
  if (!done) return done;
  return merge.finish((*stream)->damage());
}

}  // namespace

const Reader kNsysCsvReader = {"nsys stats CSV", recognizes_nsys_csv, read_nsys_csv_file};

}  // namespace llmprof::readers
