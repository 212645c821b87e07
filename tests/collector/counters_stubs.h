#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "wire/cuda_records.h"

// Replaces the rest of the collector in tests of its counters: the log is a pipe to the test, the
// driver's devices are made up.
namespace llmprof::counter_tests {

struct Column {
  std::string name;
  std::string unit;
};
struct Set {
  wire::CounterSet head{};
  std::vector<Column> columns;
};
struct Sample {
  wire::CounterSample head{};
  std::vector<double> values;
};
struct Recorded {
  std::vector<Set> sets;
  std::vector<Sample> samples;
  std::vector<std::string> off;
  uint64_t lost = 0;
  std::vector<pid_t> writers;  // one per record
  int exit_status = -1;
};

// Runs the scenario in a new process, with a fresh state of the collector; returns its records.
Recorded run(const std::function<void()>& scenario);

// The machine that this process sees.
struct Machine {
  uint32_t devices = 1;
  std::vector<uint32_t> in_use = {0};
  std::string pci_bus_id = "0000:00:06.0";  // empty: unknown to the driver
  std::string missing_symbol;               // of libcupti
  void* cupti = nullptr;                    // null: the functions linked into the test
};
Machine& machine();

}  // namespace llmprof::counter_tests
