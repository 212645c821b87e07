#include "job/partial/partial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/files.h"
#include "base/streams/deflate.h"
#include "base/text.h"
#include "profile/json/json.h"

namespace llmprof::job {
namespace {

using analysis::CollectiveKey;
using analysis::Collectives;

constexpr std::string_view kMagic = "LLMPPART";
constexpr uint32_t kVersion = 4;
constexpr int kLevel = 6;  // of libdeflate: 9 takes three times as long for 2 % fewer bytes
constexpr std::string_view kAgain = "write it again with `llmprof analyze --partial`";

struct Header {
  std::array<char, 8> magic{};
  uint32_t version = 0;
  uint32_t unused = 0;
  uint64_t content_bytes = 0;
};
static_assert(sizeof(Header) == 24 && std::endian::native == std::endian::little);

uint64_t bits(Nanoseconds time) { return static_cast<uint64_t>(time); }

template <class Stream>
void code_key(Stream& stream, CollectiveKey& key) {
  constexpr auto kLastKind = static_cast<uint8_t>(CollectiveKind::barrier);
  auto kind = static_cast<uint8_t>(key.kind);
  code_number(stream, kind, 0);
  stream.check(kind <= kLastKind);
  key.kind = static_cast<CollectiveKind>(std::min(kind, kLastKind));
  bool has_bytes = key.bytes.has_value();
  code_number(stream, has_bytes, 0);
  if (has_bytes && !key.bytes) key.bytes.emplace();
  if (has_bytes) code_number(stream, *key.bytes, 0);
  stream.text(key.group);
  code_number(stream, key.group_stated, 0);
  stream.text(key.members);
  code_number(stream, key.group_size, 0);
}

// Column by column, each number relative to a prediction from its row or the previous one.
template <class Stream>
void code_collectives(Stream& stream, Collectives& of, size_t steps) {
  constexpr size_t kColumns = 9;
  code_size(stream, of.keys);
  for (CollectiveKey& key : of.keys) code_key(stream, key);
  code_size(stream, of.start, kColumns);
  const size_t rows = of.size();
  for (auto* times : {&of.end, &of.launched, &of.exposed, &of.busy_before}) times->resize(rows);
  for (auto* numbers : {&of.key, &of.step}) numbers->resize(rows);
  of.sequence.resize(rows);
  of.in_graph.resize(rows);
  std::vector<uint64_t> duration(rows);
  for (size_t i = 0; i < rows; ++i) {
    duration[i] = bits(of.end[i]) - bits(of.start[i]);
    code_number(stream, duration[i], 0);
  }
  for (Nanoseconds& busy : of.busy_before) code_number(stream, busy, 0);
  // The device computed between the previous collective's end and this start; the rest is short.
  uint64_t before = 0;
  for (size_t i = 0; i < rows; ++i) {
    code_number(stream, of.start[i], before + bits(of.busy_before[i]));
    before = bits(of.start[i]) + duration[i];
    of.end[i] = static_cast<Nanoseconds>(before);
  }
  for (Nanoseconds& launched : of.launched) {
    bool is_known = launched != Collectives::kNotKnown;
    code_number(stream, is_known, 0);
    if (!is_known) launched = Collectives::kNotKnown;
  }
  // Relative to the previous launch: the host launches at its own pace, however late the device is.
  before = 0;
  for (Nanoseconds& launched : of.launched) {
    if (launched == Collectives::kNotKnown) continue;
    code_number(stream, launched, before);
    before = bits(launched);
  }
  for (size_t i = 0; i < rows; ++i) code_number(stream, of.exposed[i], duration[i]);
  for (uint32_t& key : of.key) {
    code_number(stream, key, 0);
    stream.check(key < of.keys.size());
  }
  before = 0;
  for (uint32_t& step : of.step) {
    code_number(stream, step, before);
    stream.check(step < steps || step == Collectives::kNoStep);
    before = step;
  }
  std::vector<uint64_t> last(of.keys.size() + 1, 0);  // each group has its own numbers
  for (size_t i = 0; i < rows; ++i) {
    uint64_t& of_key = last[std::min<size_t>(of.key[i], of.keys.size())];
    code_number(stream, of.sequence[i], of_key);
    of_key = of.sequence[i];
  }
  for (uint8_t& in_graph : of.in_graph) code_number(stream, in_graph, 0);
}

template <class Stream>
void code_step_times(Stream& stream, std::vector<Nanoseconds>& start,
                     std::vector<Nanoseconds>& end) {
  code_size(stream, start);
  end.resize(start.size());
  for (size_t i = 0; i < start.size(); ++i) {
    code_number(stream, start[i], i == 0 ? 0 : start[i - 1]);
  }
  for (size_t i = 0; i < end.size(); ++i) code_number(stream, end[i], start[i]);
}

tl::unexpected<Error> damaged(std::string_view what) {
  return fail_input(fmt::format("a damaged partial profile: {}; {}", what, kAgain));
}

}  // namespace

std::string partial_name(uint64_t rank) { return fmt::format("rank{}{}", rank, kPartialExtension); }

bool is_partial(std::string_view head) { return head.starts_with(kMagic); }

std::string to_partial(const RankPart& part) {
  std::string content;
  NumberWriter columns(content);
  columns.text(to_printable_lines(profile::json::described_to_json(part.identity)));
  columns.text(profile::to_json(part.profile));
  write_steps(part.steps.unpacked(), columns);
  write_collectives(part.collectives.unpacked(), columns);
  std::vector<Nanoseconds> start = part.step_start;
  std::vector<Nanoseconds> end = part.step_end;
  code_step_times(columns, start, end);
  Header header{{}, kVersion, 0, content.size()};
  kMagic.copy(header.magic.data(), kMagic.size());
  const auto head = std::bit_cast<std::array<char, sizeof(Header)>>(header);
  return std::string(head.begin(), head.end()) + zlib_compressed(content, kLevel);
}

Result<RankPart> from_partial(std::string_view bytes) {
  if (!is_partial(bytes)) {
    return fail_input("not a partial profile; `llmprof analyze --partial` writes one per rank");
  }
  Header header;
  if (bytes.size() < sizeof header) return damaged("it is cut off");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion) {
    return fail_input(
        fmt::format("a partial profile of version {}; this llmprof reads version {}: use the same "
                    "llmprof for all ranks and for the merge",
                    header.version, kVersion));
  }
  const auto content = zlib_decompressed(bytes.substr(sizeof header), header.content_bytes);
  if (!content) return damaged("its content cannot be decompressed");
  NumberReader columns(*content);
  RankPart part;
  std::string text;
  columns.text(text);
  auto identity = profile::json::described_from_json<RankIdentity>(text);
  if (!identity) return damaged("who its rank is cannot be read");
  part.identity = std::move(*identity);
  columns.text(text);
  auto profile = profile::from_json(text);
  if (!profile) return damaged(profile.error().message);
  part.profile = std::move(*profile);
  part.steps = PackedSteps(read_steps(columns));
  if (columns.damaged() || !part.profile.steps.empty()) return damaged("its steps cannot be read");
  part.collectives = PackedCollectives(read_collectives(columns, part.steps.size()));
  if (columns.damaged()) return damaged("its collectives cannot be read");
  code_step_times(columns, part.step_start, part.step_end);
  if (columns.damaged() || part.step_start.size() != part.steps.size()) {
    return damaged("the times of its steps cannot be read");
  }
  return part;
}

void write_collectives(Collectives from, NumberWriter& out) { code_collectives(out, from, 0); }

Collectives read_collectives(NumberReader& in, size_t steps) {
  Collectives to;
  code_collectives(in, to, steps);
  return to;
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
