// Tables of CPU activity: CUDA API calls and NVTX ranges.
#include <array>
#include <map>

#include "readers/nsys_sqlite/nccl_ranges.h"
#include "readers/nsys_sqlite/tables.h"

namespace llmprof::readers {
namespace {

using LocalThreads = LocalIds<trace::ThreadId, RawKey>;

struct LaunchScratch {
  LocalThreads threads;
  LocalIds<trace::StringId, RawKey> names;
};

class Launches final : public NsysColumnTable<trace::LaunchTable, LaunchScratch, 5> {
 public:
  Launches(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().launches, kColumns) {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    if (!store_times(row, i)) return RowUse::bad;
    LaunchScratch& local = scratch_[worker];
    columns_.thread[i] = local.threads.intern({static_cast<uint64_t>(row.integer(2))});
    columns_.correlation[i] = nsys_unsigned(row.integer(3));
    columns_.api[i] = local.names.intern({static_cast<uint64_t>(row.integer(4))});
    return RowUse::stored;
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    LaunchScratch& local = scratch_[worker];
    settle_threads(std::span(columns_.thread).subspan(first, count), local.threads);
    local.names.settle(std::span(columns_.api).subspan(first, count),
                       [&](RawKey name) { return reading_.strings[name]; });
  }

  void want_strings(NsysStrings& strings) const override {
    for (const LaunchScratch& local : scratch_) strings.want(local.names.values().values());
  }

 private:
  static constexpr std::array<std::string_view, 5> kColumns = {"start", "end", "globalTid",
                                                               "correlationId", "nameId|name"};
};

// Event types of NVTX_EVENTS that matter here.
enum NvtxEvent : int64_t { kMark = 34, kPushPop = 59, kStartEnd = 60, kDomainCreate = 75 };

struct NvtxDomain {
  uint64_t process = 0;
  int64_t domain = 0;
  friend auto operator<=>(const NvtxDomain&, const NvtxDomain&) = default;
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(trace::hash_mix(0, process), static_cast<size_t>(domain));
  }
};

// A text is in the row itself or is an id of the string table (-1: neither).
struct NvtxText {
  std::string text;
  int64_t id = -1;
  size_t place = 0;  // index of its row among all rows
};

struct RangeScratch {
  LocalThreads threads;
  LocalStrings texts;
  LocalIds<trace::StringId, RawKey> text_ids;
  LocalIds<trace::StringId, NvtxDomain> domains;
  std::map<NvtxDomain, NvtxText> domain_names;
  std::vector<RawKey> domain_name_ids;                   // of all rows that name a domain
  std::vector<std::pair<RawKey, NcclPayload>> payloads;  // by thread
};

class Ranges final : public NsysColumnTable<trace::RangeTable, RangeScratch, 6> {
 public:
  Ranges(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().ranges, kColumns),
        payloads_(reading.schema) {}

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    RangeScratch& local = scratch_[worker];
    const int64_t type = row.integer(2);
    const auto thread = static_cast<uint64_t>(row.integer(3));
    const NvtxDomain domain{nsys_process_key(thread), row.integer(4)};
    if (type == kDomainCreate) {
      NvtxText name{std::string(row.text(5)), row.is_null(6) ? -1 : row.integer(6), i};
      if (name.text.empty() && name.id >= 0) {
        local.domain_name_ids.push_back({static_cast<uint64_t>(name.id)});
      }
      local.domain_names[domain] = std::move(name);
      return RowUse::skipped;
    }
    if (type != kPushPop && type != kStartEnd && type != kMark) return RowUse::skipped;
    const auto start = row.number(0);
    const auto end = row.number(1);
    if (!start || (!end && !row.is_null(1))) return RowUse::bad;
    columns_.start[i] = *start;
    columns_.end[i] = end.value_or(trace::kOpenEnd);
    columns_.kind[i] = trace::RangeKind::push_pop;
    if (type == kStartEnd) columns_.kind[i] = trace::RangeKind::start_end;
    if (type == kMark) {
      columns_.kind[i] = trace::RangeKind::mark;
      columns_.end[i] = columns_.start[i];
    }
    if (columns_.end[i] < columns_.start[i]) return RowUse::bad;
    columns_.thread[i] = local.threads.intern({thread});
    columns_.domain[i] = domain.domain == 0 ? trace::StringId() : local.domains.intern(domain);
    // Until settled, an even number is a text of the row, an odd one an id of the string table.
    columns_.text[i] = trace::StringId();
    if (!row.is_null(5)) {
      columns_.text[i] = trace::StringId(local.texts.intern(row.text(5)).index() * 2);
    } else if (!row.is_null(6)) {
      const RawKey id{static_cast<uint64_t>(row.integer(6))};
      columns_.text[i] = trace::StringId(local.text_ids.intern(id).index() * 2 + 1);
    }
    if (!row.is_null(7)) {
      if (auto payload = payloads_.read(row.text(7))) {
        payload->start = *start;
        payload->place = i;
        local.payloads.emplace_back(RawKey{thread}, *payload);
      }
    }
    return RowUse::stored;
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    RangeScratch& local = scratch_[worker];
    settle_threads(std::span(columns_.thread).subspan(first, count), local.threads);
    local.domains.settle(std::span(columns_.domain).subspan(first, count),
                         [&](const NvtxDomain& domain) { return domain_name(domain); });
    for (size_t i = first; i < first + count; ++i) {
      if (!columns_.text[i].valid()) continue;
      const trace::StringId text(columns_.text[i].index() / 2);
      columns_.text[i] =
          columns_.text[i].index() % 2 == 0
              ? local.texts.settle(
                    text, [&](std::string_view own) { return reading_.builder.string(own); })
              : local.text_ids.settle(text, [&](RawKey id) { return reading_.strings[id]; });
    }
  }

  void want_strings(NsysStrings& strings) const override {
    for (const RangeScratch& local : scratch_) {
      strings.want(local.text_ids.values().values());
      strings.want(local.domain_name_ids);
    }
  }

  void deliver() override {
    std::vector<NcclPayload> payloads;
    for (RangeScratch& local : scratch_) {
      for (auto& [thread, payload] : local.payloads) {
        payload.thread = nsys_thread(reading_.builder, thread.value);
        payloads.push_back(payload);
      }
    }
    add_nccl_collectives(columns_, std::move(payloads), reading_.builder);
    NsysColumnTable::deliver();
  }

 private:
  static constexpr std::array<std::string_view, 8> kColumns = {
      "start", "end", "eventType", "globalTid", "domainId", "text", "textId", "binaryData"};

  // Any thread of the scan may have read the row that names the domain; of several rows, the last
  // counts.
  trace::StringId domain_name(const NvtxDomain& domain) {
    const NvtxText* last = nullptr;
    for (const RangeScratch& local : scratch_) {
      const auto known = local.domain_names.find(domain);
      if (known == local.domain_names.end()) continue;
      if (last == nullptr || known->second.place > last->place) last = &known->second;
    }
    if (last != nullptr && !last->text.empty()) return reading_.builder.string(last->text);
    const trace::StringId name =
        last == nullptr ? trace::StringId() : reading_.strings[{static_cast<uint64_t>(last->id)}];
    if (name.valid()) return name;
    return reading_.builder.string("domain " + std::to_string(domain.domain));
  }

  NcclPayloads payloads_;
};

}  // namespace

std::unique_ptr<NsysTable> nsys_launch_table(NsysReading& reading, const std::string& table) {
  return std::make_unique<Launches>(reading, table);
}

std::unique_ptr<NsysTable> nsys_range_table(NsysReading& reading, const std::string& table) {
  return std::make_unique<Ranges>(reading, table);
}

}  // namespace llmprof::readers
