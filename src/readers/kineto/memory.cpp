#include "readers/kineto/memory.h"

#include <array>
#include <utility>

#include "readers/kineto/token.h"

namespace llmprof::readers {
namespace {

// c10::DeviceType. PyTorch calls AMD's GPUs "cuda", too.
constexpr uint64_t kCpu = 0;
constexpr uint64_t kCuda = 1;
constexpr uint64_t kHip = 6;
constexpr uint64_t kMostTypes = 256;

// No machine has as much: sums of any number of events stay far from overflow.
constexpr uint64_t kLargestSize = uint64_t{1} << 50U;
constexpr uint64_t kMostDevices = 1 << 16;

std::optional<uint64_t> memory_size(std::string_view token) {
  const auto bytes = token_unsigned(token);
  return bytes && *bytes < kLargestSize ? bytes : std::nullopt;
}

// A change of 0 is none.
std::optional<int64_t> memory_change(std::string_view token) {
  const bool is_free = token.starts_with('-');
  if (is_free) token.remove_prefix(1);
  const auto bytes = memory_size(token);
  if (!bytes || *bytes == 0) return std::nullopt;
  return is_free ? -static_cast<int64_t>(*bytes) : static_cast<int64_t>(*bytes);
}

}  // namespace

std::string_view MemoryArguments::* memory_argument(std::string_view key) {
  using Argument = std::pair<std::string_view, std::string_view MemoryArguments::*>;
  static constexpr std::array<Argument, 6> kArguments = {{
      {"Addr", &MemoryArguments::address},
      {"Bytes", &MemoryArguments::bytes},
      {"Total Allocated", &MemoryArguments::allocated},
      {"Total Reserved", &MemoryArguments::reserved},
      {"Device Type", &MemoryArguments::device_type},
      {"Device Id", &MemoryArguments::device},
  }};
  for (const auto& [name, argument] : kArguments) {
    if (key == name) return argument;
  }
  return nullptr;
}

MemoryReport memory_report(const MemoryArguments& arguments) {
  using About = MemoryReport::About;
  MemoryReport report;
  const auto type = token_unsigned(arguments.device_type);
  const auto bytes = memory_change(arguments.bytes);
  if (!type || *type >= kMostTypes || !bytes) return report;
  if (*type == kCpu) {
    report.about = About::host;
    return report;
  }
  if (*type != kCuda && *type != kHip) {
    report.about = About::other_device;
    return report;
  }
  if (arguments.address.empty() && arguments.allocated.empty() && arguments.reserved.empty()) {
    report.about = About::without_totals;
    return report;
  }
  const auto device = token_unsigned(arguments.device);
  const auto address = token_unsigned(arguments.address);
  const auto allocated = memory_size(arguments.allocated);
  const auto reserved = memory_size(arguments.reserved);
  if (!device || *device >= kMostDevices || !address || *address == 0 || !allocated || !reserved) {
    return report;
  }
  return {About::gpu, static_cast<uint32_t>(*device), *address, *bytes, *allocated, *reserved};
}

}  // namespace llmprof::readers
