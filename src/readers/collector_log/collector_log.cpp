#include "readers/shared/reader.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/streams/byte_stream.h"
#include "base/streams/ordered_windows.h"
#include "base/text.h"
#include "readers/collector_log/records.h"
#include "readers/collector_log/rows.h"
#include "wire/log_format.h"

namespace llmprof::readers {
namespace {

using collector_log::DecodedChunks;
using collector_log::Findings;
using collector_log::Rows;

constexpr std::string_view kCollectorLogFormat = "llmprof log";

bool recognizes_collector_log(std::string_view head) {
  return head.starts_with(std::string_view(wire::kFileMagic.data(), wire::kFileMagic.size()));
}

template <size_t Size>
std::string text_of(const char (&characters)[Size]) {
  return to_printable({characters, strnlen(characters, Size)});
}

// Logs before version 1.4 have zeros in these fields.
std::string clock_domain(const wire::FileHeader& header) {
  constexpr uint64_t kInitialTimeNamespace = 0xEFFFFFFA;
  const auto& id = header.boot_id;
  if (std::all_of(std::begin(id), std::end(id), [](uint8_t byte) { return byte == 0; })) return {};
  const bool initial = header.time_namespace == 0 || header.time_namespace == kInitialTimeNamespace;
  const std::string boot = collector_log::uuid_text(id);
  return initial ? boot : fmt::format("{}/time:[{}]", boot, header.time_namespace);
}

bool has_sane_sizes(const wire::FileHeader& header) {
  return std::has_single_bit(header.chunk_bytes) &&
         header.chunk_bytes >= wire::kSmallestChunkBytes &&
         header.chunk_bytes <= wire::kLargestChunkBytes &&
         header.header_bytes >= sizeof(wire::FileHeader) &&
         header.header_bytes % wire::kRecordAlignment == 0 &&
         header.header_bytes <= header.chunk_bytes / 2;
}

class Log {
 public:
  Log(const std::filesystem::path& path, trace::TraceBuilder& builder)
      : file_(path.string()), builder_(builder) {}

  Result<void> read(ByteStream& stream) {
    if (auto begun = read_header(stream); !begun) return begun;
    begin_capture();
    Rows rows(builder_, process_);
    if (auto done = read_chunks(stream, rows); !done) return done;
    cut_off_ = cut_off_ || !stream.damage().empty();
    report(rows.finish());
    return {};
  }

 private:
  static constexpr size_t kWindowBytes = 1UL << 20U;
  static constexpr uint64_t kSample = 16;
  // The collector maps up to four chunks in advance, and threads may be about to take one.
  static constexpr uint64_t kMostSpareChunks = 6;

  // The header is the start of chunk 0, which stays in chunk_.
  Result<void> read_header(ByteStream& stream) {
    chunk_.resize(sizeof header_);
    auto got = stream.read(chunk_);
    if (!got) return fail_with(got.error().within(file_));
    if (*got < sizeof header_) {
      return fail_input(
          fmt::format("{}: llmprof log truncated within its header ({} of {} bytes): nothing can "
                      "be read; copy the file again, or record again",
                      file_, *got, sizeof header_));
    }
    std::memcpy(&header_, chunk_.data(), sizeof header_);
    return judge_header();
  }

  Result<void> judge_header() {
    header_intact_ = header_.checksum == wire::header_checksum(header_);
    if (header_.byte_order == wire::kOtherByteOrderMark) {
      return fail_input(
          fmt::format("{}: llmprof log recorded on a machine with the other byte order; analyze it "
                      "on a machine of that kind",
                      file_));
    }
    if (header_intact_ && header_.major_version != wire::kMajorVersion) {
      return fail_input(
          fmt::format("{}: llmprof log in format version {}.{}; this llmprof reads version {}: use "
                      "the llmprof that recorded it",
                      file_, header_.major_version, header_.minor_version, wire::kMajorVersion));
    }
    if (has_sane_sizes(header_)) return {};
    if (header_intact_) {
      return fail_input(
          fmt::format("{}: llmprof log with invalid sizes in its header (chunks of {} bytes); it "
                      "was not written by llmprof",
                      file_, header_.chunk_bytes));
    }
    header_.chunk_bytes = wire::kChunkBytes;
    header_.header_bytes = sizeof header_;
    return {};
  }

  void begin_capture() {
    builder_.begin_capture(file_, kCollectorLogFormat, trace::kCollectorTool);
    trace::Capture& capture = builder_.capture();
    if (header_intact_) {
      capture.tool_version = text_of(header_.collector_version);
      capture.schema_version = fmt::format("{}.{}", header_.major_version, header_.minor_version);
      capture.host = text_of(header_.host);
      if (header_.wall_ns >= 0 && header_.monotonic_ns >= 0) {
        capture.wall_clock_ns = header_.wall_ns - header_.monotonic_ns;
      }
      capture.clock_domain = clock_domain(header_);
      // The log's times are the clock's values.
      if (!capture.clock_domain.empty()) capture.clock_ns = 0;
    }
    const uint64_t id = header_intact_ ? header_.process_id : 0;
    process_ = builder_.process(id, id);
    if (header_intact_) builder_.process_info(process_).name = text_of(header_.executable);
  }

  Result<void> read_chunks(ByteStream& stream, Rows& rows) {
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(file_, unknown);
    if (!unknown) expected_chunks_ = bytes / header_.chunk_bytes;
    if (auto first = read_first_chunk(stream, rows); !first || cut_off_) return first;
    // Both are powers of two: a window holds complete chunks.
    const size_t window_bytes = std::max<size_t>(kWindowBytes, header_.chunk_bytes);
    const uint64_t window_chunks = window_bytes / header_.chunk_bytes;
    std::vector<DecodedChunks> slots;
    const unsigned slot_count = window_slot_count();
    slots.reserve(slot_count);
    for (unsigned i = 0; i < slot_count; ++i) {
      slots.emplace_back(header_.chunk_bytes, 1 + i * window_chunks, slot_count * window_chunks);
    }
    const auto whole = [](std::string_view buffer, size_t) { return buffer.size(); };
    auto read = parse_in_windows(stream, window_bytes, whole, slots, [&](DecodedChunks& decoded) {
      add(decoded, rows);
      return true;
    });
    return read ? read : fail_with(read.error().within(file_));
  }

  Result<void> read_first_chunk(ByteStream& stream, Rows& rows) {
    size_t filled = chunk_.size();
    chunk_.resize(header_.chunk_bytes);
    auto got = stream.read(std::span(chunk_).subspan(filled));
    if (!got) return fail_with(got.error().within(file_));
    filled += *got;
    cut_off_ = filled < chunk_.size();
    DecodedChunks decoded(header_.chunk_bytes, 0, 0);
    const size_t begin = std::min<size_t>(header_.header_bytes, filled);
    decoded.parse_chunk(std::span<const char>(chunk_).first(filled).subspan(begin), 0);
    add(decoded, rows);
    return {};
  }

  void add(const DecodedChunks& decoded, Rows& rows) {
    rows.add(decoded);
    cut_off_ = cut_off_ || decoded.cut_off;
    chunks_ += decoded.chunks;
    // A large log is similar throughout: its first part shows how many rows will follow.
    if (!made_room_ && chunks_ * kSample >= expected_chunks_) {
      rows.expect(expected_chunks_ / chunks_ + 1);
      made_room_ = true;
    }
  }

  void warn(std::string_view code, std::string_view message, uint64_t count) {
    builder_.diagnostics().warn(code, fmt::format("{}: {}", file_, message), count);
  }
  void info(std::string_view code, std::string_view message, uint64_t count) {
    builder_.diagnostics().info(code, fmt::format("{}: {}", file_, message), count);
  }

  void report(const Findings& findings) {
    warn("collector_log_damaged_header",
         "the log's header is damaged: its process, host and wall-clock time are unknown",
         header_intact_ ? 0 : 1);
    warn("collector_log_truncated",
         "the log is truncated; everything before the cut was read (copy the file again if this is "
         "a copy)",
         cut_off_ || chunks_ < findings.chunks_when_closed ? 1 : 0);
    warn("collector_log_damaged_chunks",
         "chunks with a damaged header; their records were read where the checksum is valid",
         findings.damaged_headers);
    warn("collector_log_damaged_chunks",
         "chunks are blank, more than an ended recording leaves; their content is lost",
         findings.blank_chunks > kMostSpareChunks ? findings.blank_chunks : 0);
    warn("collector_log_damaged_records",
         "skipped sequences of damaged records; the records around them were read",
         findings.damaged_stretches);
    warn("collector_log_dropped",
         "records that the program could not write (disk full, size limit, or a signal handler "
         "within an annotation)",
         findings.dropped);
    warn("collector_log_bad_values", "skipped records with invalid values", findings.bad_values);
    warn("collector_log_lost_names", "names and domains that were lost", findings.lost_names);
    warn("collector_log_lost_definitions",
         "skipped kernels, memory operations and counter values whose definition was lost",
         findings.lost_definitions);
    warn("collector_cupti_dropped",
         "records of kernels and memory operations that CUPTI dropped because its buffers were "
         "full; trace fewer steps at a time (--duty)",
         findings.cupti_dropped);
    warn("collector_counters_lost",
         "overflows of the hardware's buffer of counter samples; samples were lost; sample at a "
         "lower rate (LLMPROF_COUNTER_HZ)",
         findings.counters_lost);
    warn("collector_replays_overwritten",
         "skipped kernels of graph replays at the end of a traced window: the graph was replayed "
         "again untraced before CUPTI had read their times",
         findings.overwritten_kernels);
    warn("graph_built_before_attach",
         "kernels of graphs that were built before the collector attached: their layers are "
         "unknown; start the program with the collector",
         findings.kernels_of_old_graphs);
    info("collector_log_unfinished", "records that were being written when the program ended",
         findings.unfinished_chunks);
    info("collector_log_unknown_records",
         "skipped records of unknown types; a newer llmprof reads them", findings.unknown);
    info("collector_log_cut_names",
         fmt::format("names longer than {} bytes, truncated", wire::kLongestString),
         findings.cut_names);
    info("collector_log_open_ranges", "ranges that were never closed", findings.open_ranges);
    info("collector_log_ends_without_start",
         "ends of ranges whose start is not in this log (it may be in the parent process's)",
         findings.ends_without_start);
    info("collector_log_outer_operators",
         "operators that contain other operators: only the inner ones count as kernels",
         findings.outer_operators);
    info("collector_log_not_closed",
         "the program did not close its log (it was killed, ended by _exit, or is still running); "
         "what it recorded until then was read",
         findings.closed ? 0 : 1);
    warn("collector_log_empty", "the log contains no annotations and no GPU work",
         findings.rows == 0 && !findings.never_armed ? 1 : 0);
    for (const Diagnostic& notice : findings.notices) {
      builder_.diagnostics().add(notice.severity, notice.code,
                                 fmt::format("{}: {}", file_, notice.message), notice.count);
    }
  }

  std::string file_;
  trace::TraceBuilder& builder_;
  wire::FileHeader header_{};
  bool header_intact_ = false;
  trace::ProcessId process_;
  std::vector<char> chunk_;
  uint64_t chunks_ = 0;           // read so far
  uint64_t expected_chunks_ = 0;  // from the file's size; 0: unknown
  bool made_room_ = false;
  bool cut_off_ = false;
};

Result<void> read_collector_log_file(const std::filesystem::path& path,
                                     trace::TraceBuilder& builder) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  return Log(path, builder).read(**stream);
}

}  // namespace

const Reader kCollectorLogReader = {kCollectorLogFormat, recognizes_collector_log,
                                    read_collector_log_file};

std::optional<LogEnd> read_log_end(const std::filesystem::path& log) {
  std::ifstream file(log, std::ios::binary);
  wire::FileHeader header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  const bool sane = recognizes_collector_log({header.magic.data(), header.magic.size()}) &&
                    header.checksum == wire::header_checksum(header) && has_sane_sizes(header);
  if (!sane) return std::nullopt;
  const size_t before = header.header_bytes + sizeof(wire::ChunkHeader);
  std::vector<char> chunk(header.chunk_bytes - before);
  file.seekg(static_cast<std::streamoff>(before));
  file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
  chunk.resize(static_cast<size_t>(file.gcount()));
  LogEnd end;
  end.process = header.process_id;
  collector_log::Records records(chunk, 0);
  for (collector_log::Record record; records.next(record);) {
    if (record.type == wire::RecordType::clean_end) end.by_exit = true;
  }
  return end;
}

}  // namespace llmprof::readers
