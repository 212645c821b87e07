#include <fmt/format.h>

#include <algorithm>

#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

enum class SliceKind : uint8_t { kernel, copy, set, replay };

static_assert(Pyramid::kClasses == static_cast<size_t>(analysis::KernelClass::other) + 1);

class GpuRowWriter {
 public:
  GpuRowWriter(const ExportSource& source, Draft& draft)
      : source_(source), trace_(source.trace), results_(source.results), draft_(draft) {
    entry_of_name_.resize(trace_.strings.size(), RowsOf::kNone);
    shape_row_.resize(trace_.shapes.size(), 0);
    for (const analysis::KernelRow& row : results_.ranking.rows) {
      if (row.name.valid()) described_.emplace(row.name.value, &row.description);
    }
    for (const profile::Layer& layer : results_.layers.rows) {
      layer_names_.push_back(draft_.names.intern(layer.name).value);
    }
    for (auto& [name, column] : slices_.columns) {
      column.reserve(trace_.kernels.size() + trace_.memory_operations.size());
    }
  }

  void run() {
    const std::vector<std::vector<WorkRow>> work = work_by_queue(trace_);
    for (const trace::QueueId queue : queues_in_order()) {
      if (!work[queue.index()].empty()) write_queue(queue, work[queue.index()]);
    }
  }

 private:
  // By device, then stream.
  [[nodiscard]] std::vector<trace::QueueId> queues_in_order() const {
    std::vector<trace::QueueId> order;
    order.reserve(trace_.queues.size());
    for (size_t i = 0; i < trace_.queues.size(); ++i) order.emplace_back(i);
    std::ranges::stable_sort(order, {}, [&](trace::QueueId id) {
      const trace::Queue& queue = trace_.queues[id];
      return std::tuple(queue.device, queue.process, queue.context, queue.stream);
    });
    return order;
  }

  void write_queue(trace::QueueId queue, const std::vector<WorkRow>& work) {
    Track track = stream_track(queue);
    track.count = work.size();
    std::optional<Pyramid> pyramid;
    if (work.size() >= Pyramid::kFewestRows) pyramid.emplace(draft_.window);
    for (const WorkRow row : work) write(row, pyramid);
    slices_.rows += work.size();
    if (pyramid) {
      track.levels =
          pyramid->write(pyramids_.column("busy"), pyramids_.column("class"), pyramids_.rows);
    }
    draft_.add_track(std::move(track));
  }

  [[nodiscard]] Track stream_track(trace::QueueId id) const {
    const trace::Queue& queue = trace_.queues[id];
    const bool cpu = trace_.device_of(id).kind == trace::DeviceKind::cpu;
    Track track = device_track(source_, queue.device, TrackKind::stream,
                               cpu ? "operators" : fmt::format("stream {}", queue.stream), slices_);
    track.id = fmt::format("{}/stream{}", track.group, queue.stream);
    // Other contexts and processes have streams with the same number.
    const auto same = std::ranges::count_if(trace_.queues.values(), [&](const trace::Queue& other) {
      return other.device == queue.device && other.stream == queue.stream;
    });
    if (same < 2) return track;
    track.label += fmt::format(", context {}", queue.context);
    track.id += fmt::format("/context{}", queue.context);
    if (!queue.process.valid()) return track;
    const uint64_t pid = trace_.processes[queue.process.index()].pid;
    track.label += fmt::format(", process {}", pid);
    track.id += fmt::format("/process{}", pid);
    return track;
  }

  uint32_t add_entry(std::string_view name, std::string_view short_name,
                     analysis::KernelClass kernel_class) {
    return draft_.kernel({draft_.names.intern(name).value, draft_.names.intern(short_name).value,
                          static_cast<uint8_t>(kernel_class)});
  }

  uint32_t kernel_entry(trace::StringId name) {
    if (!name.valid()) {
      if (nameless_ == RowsOf::kNone) nameless_ = add_entry("", "", analysis::KernelClass::other);
      return nameless_;
    }
    uint32_t& entry = entry_of_name_[name.index()];
    if (entry == RowsOf::kNone) {
      const auto found = described_.find(name.value);
      const std::string_view text = trace_.strings[name];
      entry = found == described_.end()
                  ? add_entry(text, text, analysis::KernelClass::other)
                  : add_entry(text, found->second->short_name, found->second->kernel_class);
    }
    return entry;
  }

  uint32_t operation_entry(bool fill, trace::StringId detail) {
    const uint64_t key = static_cast<uint64_t>(detail.value) << 1U | (fill ? 1U : 0U);
    const auto [known, is_new] = operation_entries_.try_emplace(key, 0);
    if (is_new) {
      const std::string_view direction = trace_.strings[detail];
      const std::string text = fmt::format("{}{}{}", fill ? "Memset" : "Memcpy",
                                           direction.empty() ? "" : " ", direction);
      known->second = add_entry(text, text, analysis::KernelClass::memory);
    }
    return known->second;
  }

  uint32_t shape_of(trace::ShapeId id) {
    if (!id.valid()) return 0;
    uint32_t& row = shape_row_[id.index()];
    if (row == 0) {
      draft_.shapes.push_back(trace_.shapes[id]);
      row = static_cast<uint32_t>(draft_.shapes.size());
    }
    return trace_.shapes[id].block[0] > 0 ? row : 0;
  }

  // 0 for none, the row + 1 otherwise.
  template <class Id>
  static int64_t linked(const std::vector<uint32_t>& rows, Id id) {
    if (!id.valid() || id.index() >= rows.size() || rows[id.index()] == RowsOf::kNone) return 0;
    return static_cast<int64_t>(rows[id.index()]) + 1;
  }
  template <class Id>
  static Id owner(const std::vector<Id>& owners, uint32_t row) {
    return row < owners.size() ? owners[row] : Id();
  }

  struct Slice {
    SliceKind kind;
    uint32_t entry;
    uint32_t shape = 0;
    int64_t layer = 0;
    uint64_t bytes = 0;
  };

  void write(WorkRow work, std::optional<Pyramid>& pyramid) {
    const Slice slice = work.kind == WorkKind::kernel             ? kernel_slice(work.row)
                        : work.kind == WorkKind::memory_operation ? operation_slice(work.row)
                                                                  : replay_slice();
    const WorkOwners& owners = owners_[static_cast<size_t>(work.kind)];
    const Interval interval = interval_of(trace_, work);
    const Nanoseconds at = draft_.at(interval.start);
    const uint64_t length = draft_.length(interval.start, interval.end);
    const uint8_t cause = work.row < owners.idle_before.size() ? owners.idle_before[work.row]
                                                               : analysis::IdleBefore::kNotIdle;
    slices_.add(at, length, static_cast<uint8_t>(slice.kind), slice.entry, slice.shape,
                linked(draft_.rows.call, owner(owners.launch, work.row)),
                linked(draft_.rows.instance, owner(owners.instance, work.row)),
                linked(draft_.rows.step, owner(owners.step, work.row)), slice.layer, slice.bytes,
                static_cast<uint8_t>(cause + 1));  // 0: not idle
    if (pyramid) {
      const Nanoseconds from = draft_.window.origin + at;
      pyramid->add(from, from + static_cast<Nanoseconds>(length),
                   draft_.kernels[slice.entry].kernel_class);
    }
  }

  Slice kernel_slice(uint32_t row) {
    const trace::KernelTable& table = trace_.kernels;
    const analysis::LayerRowId layer = owner(results_.layers.of_kernel, row);
    return {.kind = SliceKind::kernel,
            .entry = kernel_entry(table.name[row]),
            .shape = shape_of(table.shape[row]),
            .layer = layer.valid() ? static_cast<int64_t>(layer_names_[layer.index()]) + 1 : 0};
  }

  Slice operation_slice(uint32_t row) {
    const trace::MemoryOperationTable& table = trace_.memory_operations;
    const bool fill = table.kind[row] == trace::MemoryKind::set;
    return {.kind = fill ? SliceKind::set : SliceKind::copy,
            .entry = operation_entry(fill, table.detail[row]),
            .bytes = table.bytes[row]};
  }

  Slice replay_slice() {
    if (replay_ == RowsOf::kNone) {
      constexpr std::string_view kName = "CUDA graph (kernels not recorded)";
      replay_ = add_entry(kName, kName, analysis::KernelClass::other);
    }
    return {.kind = SliceKind::replay, .entry = replay_};
  }

  const ExportSource& source_;
  const trace::Trace& trace_;
  const analysis::Results& results_;
  Draft& draft_;
  std::unordered_map<uint32_t, const analysis::KernelDescription*> described_;  // by name
  std::vector<uint32_t> entry_of_name_;
  std::unordered_map<uint64_t, uint32_t> operation_entries_;
  uint32_t nameless_ = RowsOf::kNone;
  uint32_t replay_ = RowsOf::kNone;
  std::vector<uint32_t> shape_row_;  // + 1
  std::vector<uint32_t> layer_names_;
  std::array<WorkOwners, 3> owners_ = {owners_of(source_, WorkKind::kernel),
                                       owners_of(source_, WorkKind::memory_operation),
                                       owners_of(source_, WorkKind::graph_replay)};
  Table& slices_ = draft_.table("slices",
                                "start:sdelta duration:u kind:u8 kernel:u shape:u call:sdelta "
                                "instance:sdelta step:sdelta layer:sdelta bytes:u gap:u8");
  Table& pyramids_ = draft_.table("pyramid", "busy:u8 class:u8");
};

}  // namespace

void add_gpu_rows(const ExportSource& source, Draft& draft) { GpuRowWriter(source, draft).run(); }

}  // namespace llmprof::exports
