#include "job/partial/partial.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/files.h"
#include "base/streams/deflate.h"
#include "base/text.h"
#include "job/partial/columns.h"
#include "profile/json/reader.h"
#include "profile/json/writer.h"

namespace llmprof::job {
namespace {

constexpr std::string_view kMagic = "LLMPPART";
constexpr uint64_t kVersion = 2;
constexpr size_t kVersionBytes = 4;
constexpr size_t kSizeBytes = 8;
constexpr size_t kHeaderBytes = 24;
constexpr int kLevel = 6;  // libdeflate's: 9 takes three times as long for 2 % fewer bytes
constexpr std::string_view kAgain = "write it again with `llmprof analyze --partial`";

void append_number(std::string& out, uint64_t number, size_t bytes) {
  constexpr unsigned kBitsOfByte = 8;
  for (size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>((number >> (kBitsOfByte * i)) & UINT8_MAX);
  }
}

uint64_t number_at(std::string_view bytes, size_t at, size_t size) {
  constexpr unsigned kBitsOfByte = 8;
  uint64_t number = 0;
  for (size_t i = 0; i < size; ++i) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (kBitsOfByte * i);
  }
  return number;
}

void write_steps(const RankPart& part, ColumnWriter& out) {
  out.count(part.step_start.size());
  uint64_t before = 0;
  for (const Nanoseconds start : part.step_start) {
    out.difference(static_cast<uint64_t>(start), before);
    before = static_cast<uint64_t>(start);
  }
  for (size_t i = 0; i < part.step_end.size(); ++i) {
    out.difference(static_cast<uint64_t>(part.step_end[i]),
                   static_cast<uint64_t>(part.step_start[i]));
  }
}

bool read_steps(ColumnReader& in, RankPart& part) {
  if (in.count() != part.steps.size()) return false;
  uint64_t before = 0;
  for (size_t i = 0; i < part.steps.size(); ++i) {
    before = in.difference(before);
    part.step_start.push_back(static_cast<Nanoseconds>(before));
  }
  for (const Nanoseconds start : part.step_start) {
    part.step_end.push_back(static_cast<Nanoseconds>(in.difference(static_cast<uint64_t>(start))));
  }
  return !in.damaged();
}

tl::unexpected<Error> damaged(std::string_view what) {
  return fail_input(fmt::format("a damaged partial profile: {}; {}", what, kAgain));
}

}  // namespace

std::string partial_name(uint64_t rank) { return fmt::format("rank{}{}", rank, kPartialExtension); }

bool is_partial(std::string_view head) { return head.starts_with(kMagic); }

std::string to_partial(const RankPart& part) {
  std::string content;
  ColumnWriter columns(content);
  columns.text(to_printable_lines(profile::json::described_to_json(part.identity)));
  columns.text(profile::to_json(part.profile));
  write_step_columns(part.steps, columns);
  write_collectives(part.collectives.unpacked(), columns);
  write_steps(part, columns);
  std::string out(kMagic);
  append_number(out, kVersion, kVersionBytes);
  append_number(out, 0, kVersionBytes);
  append_number(out, content.size(), kSizeBytes);
  return out + zlib_compressed(content, kLevel);
}

Result<RankPart> from_partial(std::string_view bytes) {
  if (!is_partial(bytes)) {
    return fail_input(
        "no partial profile of llmprof, which `llmprof analyze --partial` writes of each rank");
  }
  if (bytes.size() < kHeaderBytes) return damaged("it is cut off");
  const uint64_t version = number_at(bytes, kMagic.size(), kVersionBytes);
  if (version != kVersion) {
    return fail_input(
        fmt::format("a partial profile of version {}; this llmprof reads version {}: use the same "
                    "llmprof for all ranks and for the merge",
                    version, kVersion));
  }
  const uint64_t size = number_at(bytes, kHeaderBytes - kSizeBytes, kSizeBytes);
  const auto content = zlib_decompressed(bytes.substr(kHeaderBytes), size);
  if (!content) return damaged("its content cannot be decompressed");
  ColumnReader columns(*content);
  RankPart part;
  auto identity = profile::json::described_from_json<RankIdentity>(columns.text());
  if (!identity) return damaged("who its rank is cannot be read");
  part.identity = std::move(*identity);
  auto profile = profile::from_json(columns.text());
  if (!profile) return damaged(profile.error().message);
  part.profile = std::move(*profile);
  auto steps = read_step_columns(columns);
  if (!steps || !part.profile.steps.empty()) return damaged("its steps cannot be read");
  part.steps = std::move(*steps);
  auto collectives = read_collectives(columns, part.steps.size());
  if (!collectives) return damaged("its collectives cannot be read");
  part.collectives = PackedCollectives(std::move(*collectives));
  if (!read_steps(columns, part)) return damaged("the times of its steps cannot be read");
  return part;
}

Result<void> write_partial(const std::filesystem::path& file, const RankPart& part, bool replace) {
  return replace ? write_file_atomically(file, to_partial(part))
                 : write_new_file(file, to_partial(part));
}

Result<RankPart> read_partial(const std::filesystem::path& file) {
  const auto bytes = read_file(file, is_partial);
  if (!bytes) return fail_with(bytes.error());
  auto part = from_partial(*bytes);
  if (!part) return fail_with(part.error().within(file.string()));
  return part;
}

}  // namespace llmprof::job
