#include "job/partial/columns.h"

#include <vector>

namespace llmprof::job {
namespace {

using analysis::CollectiveKey;
using analysis::Collectives;

constexpr auto kLastKind = static_cast<uint64_t>(trace::CollectiveKind::barrier);
constexpr size_t kColumns = 9;

uint64_t bits(Nanoseconds time) { return static_cast<uint64_t>(time); }

void write_key(const CollectiveKey& key, ColumnWriter& out) {
  out.count(static_cast<uint64_t>(key.kind));
  out.count(key.bytes ? 1 : 0);
  out.count(key.bytes.value_or(0));
  out.text(key.group);
  out.count(key.group_stated ? 1 : 0);
  out.text(key.members);
  out.count(key.group_size);
}

// False where it cannot be one.
bool read_key(ColumnReader& in, CollectiveKey& key) {
  const uint64_t kind = in.count();
  if (kind > kLastKind) return false;
  key.kind = static_cast<trace::CollectiveKind>(kind);
  const bool sized = in.count() != 0;
  const uint64_t bytes = in.count();
  if (sized) key.bytes = bytes;
  key.group = in.text();
  key.group_stated = in.count() != 0;
  key.members = in.text();
  const uint64_t size = in.count();
  key.group_size = static_cast<uint32_t>(size);
  return size <= UINT32_MAX && !in.damaged();
}

// Of each row the one before it with the same key: a group numbers its own.
class LastOfKey {
 public:
  explicit LastOfKey(size_t keys) : last_(keys, 0) {}

  uint64_t& operator[](uint32_t key) { return last_[key]; }

 private:
  std::vector<uint64_t> last_;
};

}  // namespace

void write_collectives(const Collectives& from, ColumnWriter& out) {
  out.count(from.keys.size());
  for (const CollectiveKey& key : from.keys) write_key(key, out);
  const size_t rows = from.size();
  out.count(rows);
  for (size_t i = 0; i < rows; ++i) out.difference(bits(from.end[i]), bits(from.start[i]));
  for (size_t i = 0; i < rows; ++i) out.difference(bits(from.busy_before[i]), 0);
  // Since the collective before it ended, the device computed; the rest is short.
  uint64_t before = 0;
  for (size_t i = 0; i < rows; ++i) {
    out.difference(bits(from.start[i]), before + bits(from.busy_before[i]));
    before = bits(from.end[i]);
  }
  for (size_t i = 0; i < rows; ++i) {
    out.count(from.launched[i] != Collectives::kNotKnown ? 1 : 0);
  }
  // A host launches at its own pace, however far behind the device is.
  before = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (from.launched[i] == Collectives::kNotKnown) continue;
    out.difference(bits(from.launched[i]), before);
    before = bits(from.launched[i]);
  }
  for (size_t i = 0; i < rows; ++i) {
    out.difference(bits(from.end[i]) - bits(from.start[i]), bits(from.exposed[i]));
  }
  for (size_t i = 0; i < rows; ++i) out.count(from.key[i]);
  before = 0;
  for (size_t i = 0; i < rows; ++i) {
    out.difference(from.step[i], before);
    before = from.step[i];
  }
  LastOfKey last(from.keys.size());
  for (size_t i = 0; i < rows; ++i) {
    out.difference(from.sequence[i], last[from.key[i]]);
    last[from.key[i]] = from.sequence[i];
  }
  for (size_t i = 0; i < rows; ++i) out.count(from.in_graph[i]);
}

std::optional<Collectives> read_collectives(ColumnReader& in, size_t steps) {
  Collectives to;
  const uint64_t keys = in.count();
  if (keys > in.left()) return std::nullopt;
  to.keys.resize(keys);
  for (CollectiveKey& key : to.keys) {
    if (!read_key(in, key)) return std::nullopt;
  }
  const uint64_t rows = in.count();
  if (rows > in.left() / kColumns) return std::nullopt;  // each has a byte at least in each column
  const auto fill = [&](auto& column, const auto& value) {
    column.resize(rows);
    for (size_t i = 0; i < rows; ++i) {
      column[i] = static_cast<std::remove_cvref_t<decltype(column[i])>>(value(i));
    }
  };
  fill(to.end, [&](size_t) { return in.difference(0); });  // its duration, until starts are known
  fill(to.busy_before, [&](size_t) { return in.difference(0); });
  uint64_t before = 0;
  fill(to.start, [&](size_t i) {
    const uint64_t start = in.difference(before + bits(to.busy_before[i]));
    before = start + bits(to.end[i]);
    to.end[i] = static_cast<Nanoseconds>(before);
    return start;
  });
  fill(to.launched, [&](size_t) { return in.count() == 0 ? Collectives::kNotKnown : 0; });
  before = 0;
  for (Nanoseconds& launched : to.launched) {
    if (launched == Collectives::kNotKnown) continue;
    before = in.difference(before);
    launched = static_cast<Nanoseconds>(before);
  }
  fill(to.exposed,
       [&](size_t i) { return bits(to.end[i]) - bits(to.start[i]) - in.difference(0); });
  fill(to.key, [&](size_t) { return in.count(); });
  before = 0;
  fill(to.step, [&](size_t) { return before = in.difference(before); });
  for (size_t i = 0; i < rows; ++i) {
    if (to.key[i] >= keys) return std::nullopt;
    if (to.step[i] >= steps && to.step[i] != Collectives::kNoStep) return std::nullopt;
  }
  LastOfKey last(keys);
  fill(to.sequence, [&](size_t i) { return last[to.key[i]] = in.difference(last[to.key[i]]); });
  fill(to.in_graph, [&](size_t) { return in.count(); });
  if (in.damaged()) return std::nullopt;
  return to;
}

}  // namespace llmprof::job
