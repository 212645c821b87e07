#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace llmprof::session {

// What a file can say of a job.
enum class JobContent : uint8_t {
  unknown,   // no capture
  facts,     // of kernels or of the workload, whichever rank they were measured on
  timeline,  // of one process or more, each of which may be a rank
};
JobContent job_content_of(const std::filesystem::path& path);

// The rank of a timeline, as its reader will say, from as little of the file as possible.
std::optional<uint32_t> rank_of_capture(const std::filesystem::path& path);

}  // namespace llmprof::session
