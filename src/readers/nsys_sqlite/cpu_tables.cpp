// The tables of what ran on the CPU: CUDA API calls and NVTX ranges.
#include <array>
#include <map>

#include "readers/nsys_sqlite/column_table.h"
#include "readers/nsys_sqlite/keys.h"
#include "readers/nsys_sqlite/nccl_payload.h"
#include "readers/nsys_sqlite/nccl_ranges.h"
#include "readers/nsys_sqlite/tables.h"

namespace llmprof::readers {
namespace {

using LocalThreads = trace::Interner<trace::ThreadId, RawKey>;

std::vector<trace::ThreadId> settled_threads(trace::TraceBuilder& builder,
                                             const LocalThreads& local) {
  std::vector<trace::ThreadId> ids;
  for (const RawKey& thread : local.values()) ids.push_back(nsys_thread(builder, thread.value));
  return ids;
}

struct LaunchScratch {
  LocalThreads threads;
  trace::Interner<trace::StringId, RawKey> names;
};

class Launches final : public NsysColumnTable<trace::LaunchTable, LaunchScratch> {
 public:
  Launches(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().launches, kColumns) {}

  void make_room(size_t rows) override {
    resize_columns(rows, columns_.start, columns_.end, columns_.thread, columns_.api,
                   columns_.correlation);
  }

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    const auto times = nsys_times(row);
    if (!times) return RowUse::bad;
    LaunchScratch& local = scratch_[worker];
    columns_.start[i] = times->start;
    columns_.end[i] = times->end;
    columns_.thread[i] = local.threads.intern({static_cast<uint64_t>(row.integer(2))});
    columns_.correlation[i] = nsys_unsigned(row.integer(3));
    columns_.api[i] = local.names.intern({static_cast<uint64_t>(row.integer(4))});
    return RowUse::stored;
  }

  void prepare_settling(unsigned worker) override {
    const LaunchScratch& local = scratch_[worker];
    settled_[worker].threads = settled_threads(reading_.builder, local.threads);
    for (const RawKey& name : local.names.values()) {
      settled_[worker].names.push_back(reading_.strings[static_cast<int64_t>(name.value)]);
    }
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    const Settled& ids = settled_[worker];
    for (size_t i = first; i < first + count; ++i) {
      columns_.thread[i] = ids.threads[columns_.thread[i].index()];
      columns_.api[i] = ids.names[columns_.api[i].index()];
    }
  }

  void want_strings(NsysStrings& strings) const override {
    for (const LaunchScratch& local : scratch_) {
      for (const RawKey& name : local.names.values()) {
        strings.want(static_cast<int64_t>(name.value));
      }
    }
  }

 private:
  static constexpr std::array<std::string_view, 5> kColumns = {"start", "end", "globalTid",
                                                               "correlationId", "nameId|name"};
  struct Settled {
    std::vector<trace::ThreadId> threads;
    std::vector<trace::StringId> names;
  };
  std::vector<Settled> settled_ = std::vector<Settled>(reading_.workers);
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

// A text stands in the row itself or is an id of the string table (-1: neither).
struct NvtxText {
  std::string text;
  int64_t id = -1;
};

struct RangeScratch {
  LocalThreads threads;
  trace::StringPool texts;
  trace::Interner<trace::StringId, RawKey> text_ids;
  trace::Interner<trace::StringId, NvtxDomain> domains;
  std::map<NvtxDomain, NvtxText> domain_names;
  std::vector<std::pair<RawKey, NcclPayload>> payloads;  // by thread
};

class Ranges final : public NsysColumnTable<trace::RangeTable, RangeScratch> {
 public:
  Ranges(NsysReading& reading, const std::string& table)
      : NsysColumnTable(reading, table, reading.builder.trace().ranges, kColumns),
        payloads_(reading.schema) {}

  void make_room(size_t rows) override {
    resize_columns(rows, columns_.start, columns_.end, columns_.thread, columns_.domain,
                   columns_.text, columns_.kind);
  }

  RowUse store(const RowValues& row, size_t i, unsigned worker) override {
    RangeScratch& local = scratch_[worker];
    const int64_t type = row.integer(2);
    const auto thread = static_cast<uint64_t>(row.integer(3));
    const NvtxDomain domain{nsys_process_key(thread), row.integer(4)};
    if (type == kDomainCreate) {
      local.domain_names[domain] = {std::string(row.text(5)), row.is_null(6) ? -1 : row.integer(6)};
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
    // Until it is settled, an even number is a text of the row, an odd one an id of the table.
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
        local.payloads.emplace_back(RawKey{thread}, *payload);
      }
    }
    return RowUse::stored;
  }

  void prepare_settling(unsigned worker) override {
    const RangeScratch& local = scratch_[worker];
    Settled& ids = settled_[worker];
    ids.threads = settled_threads(reading_.builder, local.threads);
    for (size_t i = 0; i < local.texts.size(); ++i) {
      ids.texts.push_back(reading_.builder.string(local.texts[trace::StringId(i)]));
    }
    for (const RawKey& id : local.text_ids.values()) {
      ids.by_id.push_back(reading_.strings[static_cast<int64_t>(id.value)]);
    }
    for (const NvtxDomain& domain : local.domains.values()) {
      ids.domains.push_back(domain_name(domain));
    }
  }

  void settle(size_t first, size_t count, unsigned worker) override {
    const Settled& ids = settled_[worker];
    for (size_t i = first; i < first + count; ++i) {
      columns_.thread[i] = ids.threads[columns_.thread[i].index()];
      if (columns_.domain[i].valid()) columns_.domain[i] = ids.domains[columns_.domain[i].index()];
      if (columns_.text[i].valid()) {
        const size_t local = columns_.text[i].index();
        columns_.text[i] = local % 2 == 0 ? ids.texts[local / 2] : ids.by_id[local / 2];
      }
    }
  }

  void want_strings(NsysStrings& strings) const override {
    for (const RangeScratch& local : scratch_) {
      for (const RawKey& id : local.text_ids.values()) {
        strings.want(static_cast<int64_t>(id.value));
      }
      for (const auto& [domain, name] : local.domain_names) {
        if (name.text.empty() && name.id >= 0) strings.want(name.id);
      }
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

  // Any thread of the scan may have met the row that names the domain.
  trace::StringId domain_name(const NvtxDomain& domain) {
    for (const RangeScratch& local : scratch_) {
      const auto known = local.domain_names.find(domain);
      if (known == local.domain_names.end()) continue;
      if (!known->second.text.empty()) return reading_.builder.string(known->second.text);
      if (const trace::StringId name = reading_.strings[known->second.id]; name.valid())
        return name;
    }
    return reading_.builder.string("domain " + std::to_string(domain.domain));
  }

  struct Settled {
    std::vector<trace::ThreadId> threads;
    std::vector<trace::StringId> texts;
    std::vector<trace::StringId> by_id;
    std::vector<trace::StringId> domains;
  };
  std::vector<Settled> settled_ = std::vector<Settled>(reading_.workers);
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
