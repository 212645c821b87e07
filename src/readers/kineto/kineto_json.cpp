#include "readers/shared/reader.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/streams/ordered_windows.h"
#include "base/text.h"
#include "readers/kineto/array_stream.h"
#include "readers/kineto/merge.h"
#include "readers/kineto/token.h"
#include "readers/kineto/window.h"
#include "readers/shared/tool_words.h"
#include "trace/builder.h"

namespace llmprof::readers {
namespace {

namespace ondemand = simdjson::ondemand;

trace::Device read_device(ondemand::object properties, const char* end) {
  trace::Device device;
  std::string major;
  std::string minor;
  for (auto entry : properties) {
    ondemand::field field;
    std::string_view key;
    if (std::move(entry).get(field) != simdjson::SUCCESS) break;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) break;
    const std::string_view token = json_token(field.value(), end);
    if (key == "id") device.ordinal = token_uint32(token, UINT32_MAX);
    if (key == "name" && is_string_token(token)) device.name = unescaped(token_text(token));
    if (key == "totalGlobalMem") device.memory_bytes = token_unsigned(token).value_or(0);
    if (key == "numSms") device.sm_count = token_uint32(token);
    if (key == "computeMajor" && token_unsigned(token)) major = token_text(token);
    if (key == "computeMinor" && token_unsigned(token)) minor = token_text(token);
  }
  if (!major.empty() && !minor.empty()) device.compute_capability = major + "." + minor;
  return device;
}

std::vector<trace::Device> read_devices(std::string_view text) {
  std::vector<trace::Device> devices;
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array list;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return devices;
  if (document.get_array().get(list) != simdjson::SUCCESS) return devices;
  for (auto entry : list) {
    ondemand::object properties;
    if (entry.get_object().get(properties) != simdjson::SUCCESS) break;
    devices.push_back(read_device(properties, padded.data() + padded.size()));
  }
  return devices;
}

// A whole number in the object `text`.
std::optional<uint32_t> read_number(std::string_view text, std::string_view key) {
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::value value;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return std::nullopt;
  if (document.find_field_unordered(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  const auto number = token_unsigned(json_token(value, padded.data() + padded.size()));
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

// What all devices have in common; none if their names differ.
std::optional<trace::Device> common_device(const std::vector<trace::Device>& devices) {
  if (devices.empty()) return std::nullopt;
  trace::Device common = devices.front();
  for (const trace::Device& other : devices) {
    if (other.name != common.name) return std::nullopt;
    if (other.memory_bytes != common.memory_bytes) common.memory_bytes = 0;
    if (other.sm_count != common.sm_count) common.sm_count = 0;
    if (other.compute_capability != common.compute_capability) common.compute_capability.clear();
  }
  return common;
}

// Traces without a base time (until 2023) count from 1970.
bool counts_unix_time(const trace::Trace& trace) {
  constexpr Nanoseconds kYear2010 = 1'262'304'000'000'000'000;
  for (const auto* column : {&trace.kernels.start, &trace.launches.start, &trace.operators.start}) {
    if (!column->empty()) return column->back() > kYear2010;
  }
  return false;
}

// Describes the current capture and those of its devices that have work: a trace lists every GPU of
// the machine. ROCm numbers an event's device among all nodes of the machine, including CPUs, so
// its number identifies no GPU: such devices get what all listed GPUs have in common. Values of an
// unexpected type are skipped.
void describe_capture(const JsonEnvelope& envelope, trace::TraceBuilder& builder) {
  const auto scalar = [&](std::string_view key) { return trim(envelope.value(key)); };
  const auto number = [&](std::string_view key) { return token_unsigned(scalar(key)); };
  trace::Capture& capture = builder.capture();
  if (const auto version = number("schemaVersion")) {
    capture.schema_version = std::to_string(*version);
  }
  capture.cuda_version = cuda_version(number("cuda_runtime_version").value_or(0));
  // Despite its name, the newest CUDA version that the driver supports.
  if (capture.cuda_version.empty()) {
    capture.cuda_version = cuda_version(number("cuda_driver_version").value_or(0));
  }
  if (const auto base = number("baseTimeNanoseconds"); base && *base <= INT64_MAX) {
    capture.wall_clock_ns = static_cast<int64_t>(*base);
  } else if (counts_unix_time(builder.trace())) {
    capture.wall_clock_ns = 0;
  }
  capture.rank = read_number(envelope.value("distributedInfo"), "rank");
  if (!capture.rank) capture.rank = rank_of_path(capture.path);
  capture.world_size = read_number(envelope.value("distributedInfo"), "world_size");
  if (const std::string_view host = scalar("host_name"); is_string_token(host)) {
    capture.host = unescaped(token_text(host));
  }
  const bool rocm = !scalar("roctracer_version").empty() || !scalar("hip_runtime_version").empty();
  const std::vector<trace::Device> listed = read_devices(envelope.value("deviceProperties"));
  const std::optional<trace::Device> any = rocm ? common_device(listed) : std::nullopt;
  for (trace::Device& device : builder.trace().devices) {
    if (device.capture != builder.capture_id()) continue;
    const auto known = std::find_if(listed.begin(), listed.end(), [&](const trace::Device& each) {
      return each.ordinal == device.ordinal;
    });
    if (rocm ? !any : known == listed.end()) continue;
    const uint32_t ordinal = device.ordinal;
    device = rocm ? *any : *known;
    device.capture = builder.capture_id();
    device.ordinal = ordinal;
  }
}

bool recognizes_kineto(std::string_view head) {
  JsonEnvelope envelope = kineto_envelope();
  const size_t taken = envelope.take(head);
  if (envelope.has_stray_text()) return false;
  if (envelope.bare_array()) {
    // Rows of other tools are arrays of objects, too; only events have a phase.
    JsonEnvelope first_event;
    const std::string_view rest = head.substr(taken);
    first_event.take(rest.substr(std::min(rest.find_first_not_of(" \t\r\n"), rest.size())));
    return first_event.has_key("ph");
  }
  // The events may start far later; these keys are specific to Chrome and Kineto.
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
  diagnostics.warn("kineto_bad_products",
                   "operators whose recorded input sizes are not those of a matrix product; "
                   "kernels that they launch themselves have no dimensions",
                   counts.bad_products);
  diagnostics.warn("kineto_bad_memory",
                   "skipped memory events without an address, size or total, or with impossible "
                   "ones; what PyTorch holds may be wrong",
                   counts.bad_memory);
  diagnostics.info("kineto_old_memory",
                   "skipped memory events of GPUs without addresses and totals, as old versions of "
                   "PyTorch write them",
                   counts.old_memory);
  diagnostics.info("kineto_host_memory",
                   "memory events of the host, which are not mixed with the GPUs'",
                   counts.host_memory);
  diagnostics.info("kineto_other_memory",
                   "skipped memory events of devices that are neither NVIDIA's nor AMD's GPUs",
                   counts.other_memory);
  diagnostics.info("kineto_python_functions", "skipped Python function frames",
                   counts.python_functions);
  diagnostics.info("kineto_gpu_annotations",
                   "skipped annotations that are repeated on the GPU's timeline",
                   counts.gpu_annotations);
  diagnostics.info("kineto_skipped_events",
                   "skipped flow arrows, instants, counters and the profiler's own marks, which "
                   "contain no GPU work and no calls",
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
  const JsonEnvelope& envelope = array.envelope();
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

tl::unexpected<Error> fail_without_events(const std::filesystem::path& path, std::string_view why,
                                          const std::string& damage) {
  return fail_input(
      fmt::format("{}: PyTorch trace without a usable event: {}{}{}; record it again with "
                  "torch.profiler and export_chrome_trace(), and let the program finish",
                  path.string(), why, damage.empty() ? "" : ", and ", damage));
}

Result<void> read_kineto_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  return read_kineto(**stream, path, builder);
}

}  // namespace

const Reader kKinetoReader = {trace::kPyTorchTrace, &recognizes_kineto, &read_kineto_file};

Result<void> read_kineto(ByteStream& stream, const std::filesystem::path& path,
                         trace::TraceBuilder& builder, const KinetoOptions& options) {
  KinetoArrayStream array(stream);
  std::vector<KinetoWindow> windows(options.threads != 0 ? options.threads : window_slot_count());
  std::optional<KinetoMerge> merge;
  const auto cut = [&](std::string_view buffer, size_t) { return array.cut(buffer); };
  const auto add = [&](KinetoWindow& window) {
    if (!merge) {
      builder.begin_capture(path, trace::kPyTorchTrace, "PyTorch profiler");
      merge.emplace(builder);
    }
    merge->add(window.rows());
    return true;
  };
  bool any_array = false;
  while (true) {
    auto found = array.next_array();
    if (!found) return fail_with(found.error());
    if (!*found) break;
    any_array = true;
    auto read = parse_in_windows(array, options.window_bytes, cut, windows, add);
    if (!read) return read;
  }
  if (!any_array) return fail_without_events(path, "it has no \"traceEvents\"", stream.damage());
  KinetoCounts counts = merge ? merge->counts() : KinetoCounts();
  if (counts.usable == 0) {
    const std::string unread = fmt::format("none of its {} events could be read", counts.bad);
    return fail_without_events(path, counts.bad == 0 ? "its event array is empty" : unread,
                               stream.damage());
  }
  merge->finish();
  describe_capture(array.envelope(), builder);
  if (merge->ends_within_event() && array.closed()) ++counts.bad;
  report_counts(path, counts, builder.diagnostics());
  builder.trace().python_packages.insert(counts.python_packages.begin(),
                                         counts.python_packages.end());
  report_envelope(path, array, stream.damage(), builder.diagnostics());
  return {};
}

}  // namespace llmprof::readers
