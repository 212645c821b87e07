#include "readers/kineto/metadata.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/text.h"
#include "readers/kineto/token.h"
#include "readers/shared/rank_of_path.h"
#include "readers/shared/tool_words.h"

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

// A whole number of the object that `text` is.
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

// What all of them have in common; none where even their names differ.
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

// Traces without a base (until 2023) count from 1970 on.
bool counts_unix_time(const trace::Trace& trace) {
  constexpr Nanoseconds kYear2010 = 1'262'304'000'000'000'000;
  for (const auto* column : {&trace.kernels.start, &trace.launches.start, &trace.operators.start}) {
    if (!column->empty()) return column->back() > kYear2010;
  }
  return false;
}

// What a listed device is known by, beside its number.
void describe(const trace::Device& known, trace::Device& device) {
  device.name = known.name;
  device.memory_bytes = known.memory_bytes;
  device.sm_count = known.sm_count;
  device.compute_capability = known.compute_capability;
}

}  // namespace

void describe_capture(const KinetoEnvelope& envelope, trace::TraceBuilder& builder) {
  const auto scalar = [&](std::string_view key) { return trim(envelope.value(key)); };
  const auto number = [&](std::string_view key) { return token_unsigned(scalar(key)); };
  trace::Capture& capture = builder.capture();
  if (const auto version = number("schemaVersion")) {
    capture.schema_version = std::to_string(*version);
  }
  capture.cuda_version = cuda_version(number("cuda_runtime_version").value_or(0));
  // The newest CUDA that the driver supports, in spite of its name.
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
    if (any) describe(*any, device);
    if (!rocm && known != listed.end()) describe(*known, device);
  }
}

}  // namespace llmprof::readers
