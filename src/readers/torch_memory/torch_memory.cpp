#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/needed.h"
#include "base/text.h"
#include "readers/shared/reader.h"
#include "readers/torch_memory/pickle_machine.h"

namespace llmprof::readers {
namespace {

using torch_memory::Objects;
using torch_memory::PickleInput;

constexpr std::string_view kTorchMemoryFormat = "PyTorch memory snapshot";
constexpr size_t kLongestName = 200;
constexpr size_t kMostNamedKeys = 5;

bool recognizes_torch_memory(std::string_view head) {
  constexpr size_t kLooked = 4096;
  if (head.size() < 2 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return false;
  head = head.substr(0, kLooked);
  return contains(head, "segments") || contains(head, "device_traces") ||
         contains(head, "allocator_settings") || contains(head, "external_annotations");
}

// A path without the folders that may name users and projects: that of a package's file within the
// packages, otherwise the file's name.
std::string_view short_path(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.rfind(folder);
    if (at != std::string_view::npos) return path.substr(at + folder.size());
  }
  const size_t at = path.find_last_of("/\\");
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

// Gives the texts of a snapshot to the trace.
class SnapshotTexts {
 public:
  SnapshotTexts(const Objects& objects, trace::TraceBuilder& builder)
      : objects_(objects), builder_(builder) {}

  trace::StringId take(trace::StringId row, bool is_path) {
    if (!row.valid()) return row;
    const auto [found, added] =
        (is_path ? paths_ : names_).try_emplace(row.value, trace::StringId());
    if (added) {
      const std::string_view text = objects_.text_at(row.index());
      found->second =
          builder_.string(to_printable(shortened(is_path ? short_path(text) : text, kLongestName)));
    }
    return found->second;
  }

 private:
  const Objects& objects_;
  trace::TraceBuilder& builder_;
  std::unordered_map<uint32_t, trace::StringId> names_;
  std::unordered_map<uint32_t, trace::StringId> paths_;
};

void give_texts(SnapshotTexts texts, trace::AllocatorSnapshot& snapshot) {
  trace::Interner<trace::AllocatorFrameId, trace::AllocatorFrame> frames;
  std::vector<uint32_t> rows;  // in `frames`, by old row
  for (const trace::AllocatorFrame& frame : snapshot.stacks.frames.values()) {
    rows.push_back(
        frames.intern({texts.take(frame.name, false), texts.take(frame.file, true), frame.line})
            .value);
  }
  for (uint32_t& row : snapshot.stacks.rows) row = rows[row];
  snapshot.stacks.frames = std::move(frames);
  for (trace::AllocatorAnnotation& each : snapshot.annotations) {
    each.name = texts.take(each.name, false);
  }
}

std::string listed_keys(const Objects& objects) {
  std::string keys;
  size_t listed = 0;
  for (const auto& [key, count] : objects.unknown_keys()) {
    if (listed++ == kMostNamedKeys) break;
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", key);
  }
  return keys + (objects.unknown_keys().size() > kMostNamedKeys ? ", ..." : "");
}

void report_defects(const std::string& path, const Objects& objects, Diagnostics& diagnostics) {
  const auto say = [&](std::string_view text) { return fmt::format("{}: {}", path, text); };
  diagnostics.warn("memory_snapshot_bad_events",
                   say("skipped events of the allocator without a valid address or size"),
                   objects.bad_events());
  diagnostics.warn("memory_snapshot_bad_blocks",
                   say("skipped blocks without a known state or a valid size"),
                   objects.bad_blocks());
  diagnostics.warn("memory_snapshot_bad_segments",
                   say("skipped segments whose sizes are missing or contradict each other"),
                   objects.bad_segments());
  diagnostics.warn("memory_snapshot_blocks_differ",
                   say("segments whose blocks do not sum to the sizes that the segment states; the "
                       "stated sizes are used"),
                   objects.unlike_segments());
  diagnostics.info("memory_snapshot_unknown_actions",
                   say("skipped events of the allocator of a kind that llmprof does not know"),
                   objects.unknown_actions());
  if (!objects.unknown_keys().empty()) {
    diagnostics.info("memory_snapshot_unknown_keys",
                     say(fmt::format("keys that llmprof does not know: {}", listed_keys(objects))));
  }
  if (objects.has_host_memory()) {
    diagnostics.info("memory_snapshot_host_memory",
                     say("the snapshot also has the host's pinned memory, which is not analyzed"));
  }
}

void read_snapshot(ByteStream& stream, const std::filesystem::path& path,
                   trace::TraceBuilder& builder) {
  PickleInput input(stream);
  Objects objects;
  const torch_memory::Value root = torch_memory::run_pickle(input, objects);
  auto taken = attempt([&] { return objects.finish(root); });
  if (!taken) input.refuse(input.offset(), taken.error().message);
  trace::AllocatorSnapshot snapshot = std::move(*taken);
  builder.begin_capture(path, kTorchMemoryFormat, "PyTorch");
  give_texts(SnapshotTexts(objects, builder), snapshot);
  snapshot.capture = builder.capture_id();
  builder.trace().allocator_snapshots.push_back(std::move(snapshot));
  report_defects(path.string(), objects, builder.diagnostics());
}

Result<void> read_torch_memory(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  const auto read = attempt([&] { read_snapshot(**stream, path, builder); });
  if (!read) {
    return fail_with(read.error().within(path.string() + ": not a memory snapshot that llmprof "
                                                         "can read"));
  }
  return {};
}

}  // namespace

const Reader kTorchMemoryReader = {kTorchMemoryFormat, recognizes_torch_memory, read_torch_memory};

}  // namespace llmprof::readers
