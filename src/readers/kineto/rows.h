#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "readers/shared/local_ids.h"
#include "trace/append.h"
#include "trace/memory_events.h"
#include "trace/tables.h"

namespace llmprof::readers {

// A process or thread as the trace names it: usually a number, sometimes a word.
struct KinetoTaskId {
  uint64_t key = 0;
  uint64_t number = 0;  // 0 for a word

  friend bool operator==(const KinetoTaskId&, const KinetoTaskId&) = default;
};

struct KinetoThread {
  KinetoTaskId process;
  KinetoTaskId thread;

  friend bool operator==(const KinetoThread&, const KinetoThread&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(process.key, thread.key); }
};

// A GPU event does not name its process.
struct KinetoQueue {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;

  friend bool operator==(const KinetoQueue&, const KinetoQueue&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(device, context, stream); }
};

// What an event says about communication between ranks.
struct KinetoCollective {
  CollectiveKind kind = CollectiveKind::other;
  uint64_t bytes = 0;  // of one rank's message; 0: not stated
  trace::StringId group;
  trace::StringId members;
  uint32_t group_size = 0;
  uint64_t sequence = trace::kNoSequence;
};

struct KinetoTaskName {
  KinetoThread task;
  bool of_thread;  // otherwise of the process
  trace::StringId name;
};

// Events by how they were handled.
struct KinetoCounts {
  uint64_t usable = 0;        // understood, stored or not
  uint64_t bad = 0;           // not JSON, or without what an event of its kind requires
  uint64_t repaired = 0;      // held bytes that are not valid characters
  uint64_t skipped = 0;       // flows, instants, counters, the profiler's own marks
  uint64_t bad_products = 0;  // operators whose recorded sizes are not those of a matrix product
  uint64_t bad_memory = 0;    // reports of allocators without a value, or with impossible ones
  uint64_t old_memory = 0;    // of GPUs, without addresses and totals
  uint64_t host_memory = 0;
  uint64_t other_memory = 0;  // of devices that are neither the host nor CUDA's or ROCm's GPUs
  uint64_t python_functions = 0;
  uint64_t gpu_annotations = 0;
  std::map<std::string, uint64_t, std::less<>> unknown_categories;
  std::set<std::string, std::less<>> python_packages;  // of the functions; at most a few hundred

  void operator+=(const KinetoCounts& other) {
    usable += other.usable;
    bad += other.bad;
    repaired += other.repaired;
    skipped += other.skipped;
    bad_products += other.bad_products;
    bad_memory += other.bad_memory;
    old_memory += other.old_memory;
    host_memory += other.host_memory;
    other_memory += other.other_memory;
    python_functions += other.python_functions;
    gpu_annotations += other.gpu_annotations;
    for (const auto& [category, count] : other.unknown_categories) {
      unknown_categories[category] += count;
    }
    python_packages.insert(other.python_packages.begin(), other.python_packages.end());
  }
};

// What one thread has read of a trace, with the thread's own ids.
struct KinetoRows {
  LocalStrings strings;  // as in the file, including escapes
  LocalShapes shapes;
  LocalIds<trace::QueueId, KinetoQueue> queues;
  LocalIds<trace::ThreadId, KinetoThread> threads;

  trace::KernelTable kernels;
  trace::MemoryOperationTable memory_operations;
  trace::LaunchTable launches;
  std::vector<std::pair<trace::LaunchRow, trace::StringId>> launched_names;
  trace::OperatorTable operators;
  trace::RangeTable annotations;
  trace::RangeTable modules;
  trace::CollectiveTable collectives;
  trace::ProductTable products;
  trace::TensorMemoryTable tensor_memory;
  std::vector<KinetoTaskName> task_names;
  KinetoCounts counts;
  bool ends_within_event = false;

  auto tables() {
    return std::tie(kernels, memory_operations, launches, operators, annotations, modules,
                    collectives, products, tensor_memory);
  }
  // Drops the rows; keeps the ids, unless there are too many to be worth keeping.
  void clear() {
    std::apply([](auto&... table) { (trace::clear_rows(table), ...); }, tables());
    launched_names.clear();
    task_names.clear();
    counts = {};
    ends_within_event = false;
    constexpr size_t kMostEntries = 1UL << 15U;
    constexpr size_t kMostStringBytes = 8UL << 20U;
    if (std::max({strings.size(), shapes.size(), queues.size(), threads.size()}) > kMostEntries ||
        strings.values().bytes() > kMostStringBytes) {
      strings = {};
      shapes = {};
      queues = {};
      threads = {};
    }
  }
};

}  // namespace llmprof::readers
