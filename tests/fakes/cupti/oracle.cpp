#include "oracle.h"

#include <cupti.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "activity_fields.h"
#include "layout.h"

namespace llmprof::fake {
namespace {

// -1: not requested.
int oracle_file() {
  static const int file = [] {
    constexpr int kMode = 0644;
    const char* path = std::getenv("FAKE_CUPTI_ORACLE");
    return path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode);
  }();
  return file;
}

const char* word(Fate fate) {
  switch (fate) {
    case Fate::delivered:
      return "delivered";
    case Fate::off:
      return "off";
    case Fate::dropped:
      return "dropped";
    case Fate::unfinished:
      return "unfinished";
    case Fate::broken:
      return "broken";
    case Fate::lost:
      return "lost";
  }
  return "";
}

// `record` may lack the last fields of its type, in an older layout.
std::string line(const void* record, size_t bytes) {
  alignas(CUpti_ActivityKernel10) char copy[sizeof(CUpti_ActivityKernel10)] = {};
  std::memcpy(copy, record, bytes);
  Fields f;
  with_record(copy, [&](auto& value) { f = fields_of(value); });
  constexpr size_t kLongestNumbers = 256;
  char text[kLongestNumbers];
  std::snprintf(text, sizeof text, " %d %llu %llu %u %u %u %u %u %llu %llu ",
                static_cast<int>(f.kind), static_cast<unsigned long long>(f.start),
                static_cast<unsigned long long>(f.end), f.correlation, f.device, f.context,
                f.stream, f.graph, static_cast<unsigned long long>(f.node),
                static_cast<unsigned long long>(f.bytes));
  return std::string(text) + (f.name != nullptr ? f.name : "") + "\n";
}

CUpti_ActivityKind kind_of(const void* record) {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  std::memcpy(&kind, record, sizeof kind);
  return kind;
}

void write_out(const std::string& lines) {
  if (write(oracle_file(), lines.data(), lines.size()) < 0) std::perror("FAKE_CUPTI_ORACLE");
}

}  // namespace

void write_fate(Fate fate, const void* record) {
  if (oracle_file() < 0) return;
  write_out(word(fate) + line(record, delivered_bytes(kind_of(record))));
}

BufferLines::BufferLines(const uint8_t* buffer, size_t bytes) {
  if (oracle_file() < 0) return;
  for (size_t at = 0; at < bytes;) {
    const size_t size = delivered_bytes(kind_of(buffer + at));
    lines_.push_back(line(buffer + at, size));
    at += size;
  }
}

void BufferLines::write_fate(Fate fate) const {
  std::string all;
  for (const std::string& line : lines_) all += word(fate) + line;
  if (!all.empty()) write_out(all);
}

}  // namespace llmprof::fake
