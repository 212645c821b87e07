#include "readers/kineto/kineto_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/streams/ordered_windows.h"
#include "readers/kineto/array_stream.h"
#include "readers/kineto/merge.h"
#include "readers/kineto/metadata.h"
#include "readers/kineto/window.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kKinetoFormat = "PyTorch trace";

bool recognizes_kineto(std::string_view head) {
  KinetoEnvelope envelope;
  const size_t taken = envelope.take(head);
  if (envelope.has_stray_text()) return false;
  if (envelope.bare_array()) {
    // Rows of other tools are arrays of objects, too: an event has a phase.
    KinetoEnvelope first_event;
    const std::string_view rest = head.substr(taken);
    first_event.take(rest.substr(std::min(rest.find_first_not_of(" \t\r\n"), rest.size())));
    return first_event.has_key("ph");
  }
  // The events may begin far later; these keys are Chrome's and Kineto's own.
  constexpr std::array<std::string_view, 5> kOwnKeys = {"traceEvents", "deviceProperties",
                                                        "baseTimeNanoseconds", "displayTimeUnit",
                                                        "distributedInfo"};
  return std::any_of(kOwnKeys.begin(), kOwnKeys.end(),
                     [&](std::string_view key) { return envelope.has_key(key); });
}

void report_counts(const std::filesystem::path& path, const KinetoCounts& counts,
                   Diagnostics& diagnostics) {
  diagnostics.warn(
      "kineto_bad_events",
      fmt::format("{}: skipped malformed events (invalid JSON, or no name, time or duration)",
                  path.filename().string()),
      counts.bad);
  diagnostics.warn("kineto_invalid_utf8",
                   "events with invalid UTF-8; each invalid byte is shown as \xEF\xBF\xBD",
                   counts.repaired);
  diagnostics.info("kineto_python_functions", "skipped Python function frames",
                   counts.python_functions);
  diagnostics.info("kineto_gpu_annotations",
                   "skipped annotations that are repeated on the GPU's timeline",
                   counts.gpu_annotations);
  diagnostics.info(
      "kineto_skipped_events",
      "skipped flow arrows, instants, counters and the profiler's own marks, which contain no "
      "GPU work and no calls",
      counts.skipped);
  uint64_t unknown = 0;
  std::string names;
  for (const auto& [name, count] : counts.unknown_categories) {
    unknown += count;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, count);
  }
  diagnostics.info("kineto_unknown_categories",
                   fmt::format("skipped events of unknown categories: {}", names), unknown);
}

void report_envelope(const std::filesystem::path& path, const KinetoArrayStream& array,
                     const std::string& damage, Diagnostics& diagnostics) {
  const std::string file = path.filename().string();
  const KinetoEnvelope& envelope = array.envelope();
  std::string truncated;
  if (!damage.empty()) {
    truncated = damage + "; everything before it was read";
  } else if (!array.closed()) {
    truncated =
        "the trace is truncated within its events (the program was probably stopped while writing "
        "it); everything before the cut was read";
  } else if (!envelope.complete()) {
    truncated = "the trace is truncated within the metadata after its events; all events were read";
  }
  diagnostics.warn("kineto_truncated", fmt::format("{}: {}", file, truncated),
                   truncated.empty() ? 0 : 1);
  if (envelope.has_stray_text()) {
    diagnostics.warn("kineto_stray_text", "skipped text after the end of the trace");
  }
  diagnostics.info("kineto_large_metadata", "skipped metadata larger than 1 MiB",
                   envelope.oversized_values());
}

class KinetoRead {
 public:
  KinetoRead(ByteStream& content, const std::filesystem::path& path, trace::TraceBuilder& builder,
             const KinetoOptions& options)
      : content_(content),
        array_(content),
        path_(path),
        builder_(builder),
        options_(options),
        slots_(options.threads != 0 ? options.threads : window_slot_count()) {
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i].number = i;
  }

  Result<void> run() {
    bool found = false;
    while (true) {
      auto array = array_.next_array();
      if (!array) return fail_with(array.error());
      if (!*array) break;
      found = true;
      if (auto read = read_array(); !read) return read;
    }
    if (!found) return fail_without_events("it has no \"traceEvents\"");
    if (!merge_ || merge_->counts().usable == 0) {
      const uint64_t bad = merge_ ? merge_->counts().bad : 0;
      return fail_without_events(bad == 0
                                     ? "its event array is empty"
                                     : fmt::format("none of its {} events could be read", bad));
    }
    finish();
    return {};
  }

 private:
  struct Slot {
    KinetoWindow window;
    size_t number = 0;

    void parse(std::span<char> text) { window.parse(text); }
  };

  Result<void> read_array() {
    const auto cut = [this](std::string_view buffer, size_t) { return array_.cut(buffer); };
    return parse_in_windows(array_, options_.window_bytes, cut, slots_, [this](const Slot& slot) {
      const KinetoRows& rows = slot.window.rows();
      if (!merge_) begin();
      merge_->add(slot.number, rows);
      return true;
    });
  }

  void begin() {
    trace::Capture capture;
    capture.path = path_.string();
    capture.format = kKinetoFormat;
    capture.tool = "PyTorch profiler";
    builder_.begin_capture(std::move(capture));
    merge_.emplace(builder_, slots_.size());
  }

  void finish() {
    merge_->finish();
    describe_capture(array_.envelope(), builder_);
    KinetoCounts counts = merge_->counts();
    if (merge_->ends_within_event() && array_.closed()) ++counts.bad;
    report_counts(path_, counts, builder_.diagnostics());
    builder_.trace().python_packages.insert(counts.python_packages.begin(),
                                            counts.python_packages.end());
    report_envelope(path_, array_, content_.damage(), builder_.diagnostics());
  }

  tl::unexpected<Error> fail_without_events(const std::string& why) const {
    const std::string damage = content_.damage();
    return fail_input(fmt::format(
        "{}: PyTorch trace without a usable event: {}{}{}; record it again with torch.profiler "
        "and export_chrome_trace(), and let the program finish",
        path_.string(), why, damage.empty() ? "" : ", and ", damage));
  }

  ByteStream& content_;
  KinetoArrayStream array_;
  const std::filesystem::path& path_;
  trace::TraceBuilder& builder_;
  KinetoOptions options_;
  std::vector<Slot> slots_;
  std::optional<KinetoMerge> merge_;
};

Result<void> read_kineto_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  return read_kineto(**stream, path, builder);
}

}  // namespace

const Reader kKinetoReader = {kKinetoFormat, &recognizes_kineto, &read_kineto_file};

Result<void> read_kineto(ByteStream& stream, const std::filesystem::path& path,
                         trace::TraceBuilder& builder, const KinetoOptions& options) {
  return KinetoRead(stream, path, builder, options).run();
}

}  // namespace llmprof::readers
