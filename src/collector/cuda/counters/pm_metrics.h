#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "collector/cuda/cupti/pm_functions.h"

// Chooses the counters that a chip can sample together.
namespace llmprof::collector {

enum class Quantity : unsigned char {
  dram_read,
  dram_write,
  sm_active,
  tensor_active,
  engine_active,
  sm_clock,
  warps_active,
  instructions,
  pcie_read,
  pcie_write,
  nvlink_received,
  nvlink_sent,
};

// The hardware counters to sample, by priority. Names differ by chip: for each quantity, the first
// alternative that the chip supports and that still fits into one pass is used. PM sampling cannot
// replay, so metrics that need a second pass are skipped.
struct WantedMetric {
  Quantity quantity;
  const char* name;
  const char* unit;  // of the value: sums over the sample, percentages of the peak
};

// Checked with CUPTI 13.0's host API: all in one pass on GH100, GB100 and GA100; AD10x and GB20x
// lack NVLink, integrated chips (GA10B, GB10B, GB20B) DRAM and PCIe too, TU10x tensor cycles.
// The _realtime counters belong to the hardware monitor; the others need counters of a context, of
// which few fit.
inline constexpr WantedMetric kWantedMetrics[] = {
    {Quantity::dram_read, "dram__bytes_read.sum", "byte"},
    {Quantity::dram_read, "dram__bytes_op_read.sum", "byte"},  // GB20x
    {Quantity::dram_write, "dram__bytes_write.sum", "byte"},
    {Quantity::dram_write, "dram__bytes_op_write.sum", "byte"},
    {Quantity::sm_active, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%"},
    {Quantity::tensor_active,
     "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", "%"},
    {Quantity::tensor_active,
     "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
     "%"},
    {Quantity::tensor_active, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
     "%"},
    {Quantity::engine_active, "gr__cycles_active.avg.pct_of_peak_sustained_elapsed", "%"},
    {Quantity::sm_clock, "gpc__cycles_elapsed.avg.per_second", "Hz"},
    {Quantity::warps_active, "sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed", "%"},
    {Quantity::warps_active, "tpc__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
     "%"},  // GB20x
    {Quantity::instructions, "sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed", "%"},
    {Quantity::pcie_read, "pcie__read_bytes.sum", "byte"},
    {Quantity::pcie_read, "PCI.TriageCompute.pcie__read_bytes.sum", "byte"},  // GB10x
    {Quantity::pcie_write, "pcie__write_bytes.sum", "byte"},
    {Quantity::pcie_write, "PCI.TriageCompute.pcie__write_bytes.sum", "byte"},
    {Quantity::nvlink_received, "nvlrx__bytes.sum", "byte"},
    {Quantity::nvlink_sent, "nvltx__bytes.sum", "byte"},
};

inline constexpr size_t kMaxMetrics = std::size(kWantedMetrics);

struct MetricChoice {
  const char* names[kMaxMetrics] = {};
  const char* units[kMaxMetrics] = {};
  Quantity quantities[kMaxMetrics] = {};
  size_t count = 0;
  CUpti_Profiler_Host_Object* host = nullptr;  // evaluates the samples
  uint8_t* config = nullptr;                   // the hardware's configuration, allocated
  size_t config_bytes = 0;
};

[[nodiscard]] bool has(const MetricChoice& choice, Quantity quantity);

// The metrics of kWantedMetrics that fit into one pass on the chip, by priority; choosing none is
// not a failure. `availability`: the device's, must outlive the choice; null: everything the chip
// may have. Uses only CUPTI's host API: no GPU is needed.
PmFailure choose_metrics(const char* chip, const uint8_t* availability, MetricChoice& choice);

void release(MetricChoice& choice);

}  // namespace llmprof::collector
