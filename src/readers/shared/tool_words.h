#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trace/tables.h"

// Words and numbers that several tools share.
namespace llmprof::readers {

// From nsys's number for a kind of memory (ENUM_CUDA_MEM_KIND).
trace::MemoryPlace nsys_memory_place(int64_t kind);

// From a tool's spelling: "Pageable", "Device Static".
trace::MemoryPlace named_memory_place(std::string_view name);

// CUpti_ActivityMemcpyKind in nsys's spelling: "Host-to-Device". An unknown kind is "Unknown".
std::string_view copy_direction(uint32_t kind);
// The same from the short form, "HtoD"; any other word stays.
std::string_view copy_direction(std::string_view brief);

// 13000 is "13.0", 12040 is "12.4"; empty if the number is not a CUDA version.
std::string cuda_version(uint64_t number);

// The power of ten between a unit of time and nanoseconds: "ns" 0, "us" 3, "msecond" 6, "s" 9.
std::optional<int> time_unit_power(std::string_view unit);

// "   2    1    1", "2x1x1", "(2, 1, 1)" and the like.
std::optional<trace::Extent> parse_extent(std::string_view text);

// A capture's rank in a distributed job, from the usual file names: "rank-3.pt.trace.json.gz",
// "dp0_pp0_tp1_ep0_rank3.1764.pt.trace.json.gz" (vLLM), "1764-TP-3.trace.json.gz" (SGLang),
// "worker3.1623.pt.trace.json", "report_rank_3.sqlite"; or from a folder: "rank3/run.sqlite". None
// if the path does not say.
std::optional<uint32_t> rank_of_path(const std::filesystem::path& path);

}  // namespace llmprof::readers
