#include <fmt/format.h>

#include <algorithm>

#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

enum class SliceKind : uint8_t { kernel, copy, set, replay };

static_assert(Pyramid::kClasses == static_cast<size_t>(analysis::KernelClass::other) + 1);

// Rows of a table by queue, in their order.
template <class Rows>
std::vector<std::vector<uint32_t>> by_queue(const Rows& table, size_t queues) {
  std::vector<size_t> count(queues, 0);
  for (const trace::QueueId queue : table.queue) ++count[queue.index()];
  std::vector<std::vector<uint32_t>> rows(queues);
  for (size_t i = 0; i < queues; ++i) rows[i].reserve(count[i]);
  for (size_t row = 0; row < table.size(); ++row) {
    rows[table.queue[row].index()].push_back(static_cast<uint32_t>(row));
  }
  return rows;
}

class GpuRowWriter {
 public:
  GpuRowWriter(const ExportSource& source, Draft& draft)
      : source_(source), trace_(source.trace), results_(source.results), draft_(draft) {
    entry_of_name_.resize(trace_.strings.size(), RowsOf::kNone);
    shape_row_.resize(trace_.shapes.size(), 0);
    for (const analysis::KernelRow& row : results_.ranking.rows) {
      if (row.name.valid()) described_.emplace(row.name.value, &row.description);
    }
    for (const analysis::LayerRow& layer : results_.layers.rows) {
      layer_names_.push_back(draft_.names.add(layer.name));
    }
    for (auto& [name, column] : slices_.columns) {
      column.reserve(trace_.kernels.size() + trace_.memory_operations.size());
    }
  }

  void run() {
    const size_t queues = trace_.queues.size();
    const auto kernels = by_queue(trace_.kernels, queues);
    const auto operations = by_queue(trace_.memory_operations, queues);
    const auto replays = by_queue(trace_.graph_replays, queues);
    for (const trace::QueueId queue : queues_in_order()) {
      const size_t i = queue.index();
      const size_t count = kernels[i].size() + operations[i].size() + replays[i].size();
      if (count > 0) write_queue(queue, count, kernels[i], operations[i], replays[i]);
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

  void write_queue(trace::QueueId queue, size_t count, const std::vector<uint32_t>& kernels,
                   const std::vector<uint32_t>& operations, const std::vector<uint32_t>& replays) {
    Track track;
    name_track(queue, track);
    track.first = slices_.rows;
    track.count = count;
    std::optional<Pyramid> pyramid;
    if (count >= Pyramid::kFewestRows) pyramid.emplace(draft_.window);
    pyramid_ = pyramid ? &*pyramid : nullptr;
    if (operations.empty() && replays.empty()) {
      for (const uint32_t row : kernels) write_kernel(row);
    } else {
      merge(kernels, operations, replays);
    }
    slices_.rows += count;
    if (pyramid) {
      track.levels =
          pyramid->write(pyramids_.column("busy"), pyramids_.column("class"), pyramids_.rows);
    }
    draft_.add_track(std::move(track));
  }

  void merge(const std::vector<uint32_t>& kernels, const std::vector<uint32_t>& operations,
             const std::vector<uint32_t>& replays) {
    constexpr Nanoseconds kNever = INT64_MAX;
    size_t k = 0;
    size_t m = 0;
    size_t r = 0;
    while (k < kernels.size() || m < operations.size() || r < replays.size()) {
      const Nanoseconds kernel = k < kernels.size() ? trace_.kernels.start[kernels[k]] : kNever;
      const Nanoseconds operation =
          m < operations.size() ? trace_.memory_operations.start[operations[m]] : kNever;
      const Nanoseconds replay =
          r < replays.size() ? trace_.graph_replays.start[replays[r]] : kNever;
      if (k < kernels.size() && kernel <= operation && kernel <= replay) {
        write_kernel(kernels[k++]);
      } else if (m < operations.size() && operation <= replay) {
        write_operation(operations[m++]);
      } else {
        write_replay(replays[r++]);
      }
    }
  }

  void name_track(trace::QueueId id, Track& track) const {
    const trace::Queue& queue = trace_.queues[id];
    const bool cpu = trace_.device_of(id).kind == trace::DeviceKind::cpu;
    track.kind = "stream";
    track.table = "slices";
    track.group = group_of(source_, queue.device);
    track.device = device_of(source_, queue.device);
    track.label = cpu ? "operators" : fmt::format("stream {}", queue.stream);
    track.id = fmt::format("{}/stream{}", track.group, queue.stream);
    size_t same = 0;  // other contexts and processes have streams with the same number
    for (size_t i = 0; i < trace_.queues.size(); ++i) {
      const trace::Queue& other = trace_.queues[trace::QueueId(i)];
      if (other.device == queue.device && other.stream == queue.stream) ++same;
    }
    if (same < 2) return;
    track.label += fmt::format(", context {}", queue.context);
    track.id += fmt::format("/context{}", queue.context);
    if (!queue.process.valid()) return;
    const uint64_t pid = trace_.processes[queue.process.index()].pid;
    track.label += fmt::format(", process {}", pid);
    track.id += fmt::format("/process{}", pid);
  }

  uint32_t add_entry(std::string_view name, std::string_view short_name,
                     analysis::KernelClass kernel_class) {
    return draft_.kernel(
        {draft_.names.add(name), draft_.names.add(short_name), static_cast<uint8_t>(kernel_class)});
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

  template <class Rows>
  void write(const Slice& slice, const Rows& table, uint32_t row,
             const std::vector<analysis::InstanceId>& instances,
             const std::vector<analysis::StepId>& steps, const std::vector<uint8_t>& causes) {
    const Nanoseconds at = draft_.at(table.start[row]);
    const uint64_t length = draft_.length(table.start[row], table.end[row]);
    const uint8_t cause = row < causes.size() ? causes[row] : analysis::IdleBefore::kNotIdle;
    slices_.add(at, length, static_cast<uint8_t>(slice.kind), slice.entry, slice.shape,
                linked(draft_.rows.call, owner(table.launch, row)),
                linked(draft_.rows.instance, owner(instances, row)),
                linked(draft_.rows.step, owner(steps, row)), slice.layer, slice.bytes,
                static_cast<uint8_t>(cause + 1));  // 0: not idle
    if (pyramid_ != nullptr) {
      const Nanoseconds from = draft_.window.origin + at;
      pyramid_->add(from, from + static_cast<Nanoseconds>(length),
                    draft_.kernels[slice.entry].kernel_class);
    }
  }

  void write_kernel(uint32_t row) {
    const trace::KernelTable& table = trace_.kernels;
    const analysis::WorkOwners& owners = results_.stages.owners;
    const analysis::LayerRowId layer = owner(results_.layers.of_kernel, row);
    write({.kind = SliceKind::kernel,
           .entry = kernel_entry(table.name[row]),
           .shape = shape_of(table.shape[row]),
           .layer = layer.valid() ? static_cast<int64_t>(layer_names_[layer.index()]) + 1 : 0},
          table, row, owners.kernel_instance, owners.kernel_step, results_.idle_before.kernel);
  }

  void write_operation(uint32_t row) {
    const trace::MemoryOperationTable& table = trace_.memory_operations;
    const analysis::WorkOwners& owners = results_.stages.owners;
    const bool fill = table.kind[row] == trace::MemoryKind::set;
    write({.kind = fill ? SliceKind::set : SliceKind::copy,
           .entry = operation_entry(fill, table.detail[row]),
           .bytes = table.bytes[row]},
          table, row, owners.memory_instance, owners.memory_step,
          results_.idle_before.memory_operation);
  }

  void write_replay(uint32_t row) {
    const analysis::WorkOwners& owners = results_.stages.owners;
    if (replay_ == RowsOf::kNone) {
      constexpr std::string_view kName = "CUDA graph (kernels not recorded)";
      replay_ = add_entry(kName, kName, analysis::KernelClass::other);
    }
    write({.kind = SliceKind::replay, .entry = replay_}, trace_.graph_replays, row,
          owners.replay_instance, owners.replay_step, results_.idle_before.graph_replay);
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
  Pyramid* pyramid_ = nullptr;  // of the current stream
  Table& slices_ = draft_.table("slices", {{"start", Coding::sdelta},
                                           {"duration", Coding::u},
                                           {"kind", Coding::u8},
                                           {"kernel", Coding::u},
                                           {"shape", Coding::u},
                                           {"call", Coding::sdelta},
                                           {"instance", Coding::sdelta},
                                           {"step", Coding::sdelta},
                                           {"layer", Coding::sdelta},
                                           {"bytes", Coding::u},
                                           {"gap", Coding::u8}});
  Table& pyramids_ = draft_.table("pyramid", {{"busy", Coding::u8}, {"class", Coding::u8}});
};

}  // namespace

void add_gpu_rows(const ExportSource& source, Draft& draft) { GpuRowWriter(source, draft).run(); }

}  // namespace llmprof::exports
