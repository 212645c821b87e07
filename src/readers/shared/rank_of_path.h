#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace llmprof::readers {

// The rank of a distributed job that a capture is of, as tools and people name files:
// "rank-3.pt.trace.json.gz", "dp0_pp0_tp1_ep0_rank3.1764.pt.trace.json.gz" (vLLM),
// "1764-TP-3.trace.json.gz" (SGLang), "worker3.1623.pt.trace.json", "report_rank_3.sqlite"; or a
// folder: "rank3/run.sqlite". None where the path does not say.
std::optional<uint32_t> rank_of_path(const std::filesystem::path& path);

}  // namespace llmprof::readers
