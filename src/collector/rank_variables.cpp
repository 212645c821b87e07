#include "collector/rank_variables.h"

#include <cstdlib>
#include <cstring>

namespace llmprof::collector {
namespace {

// Global ranks, in order of preference: a launcher inside another knows better.
constexpr const char* kGlobalRanks[] = {
    "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
constexpr const char* kNumbers[] = {"LOCAL_RANK",
                                    "WORLD_SIZE",
                                    "LOCAL_WORLD_SIZE",
                                    "GROUP_RANK",
                                    "OMPI_COMM_WORLD_SIZE",
                                    "OMPI_COMM_WORLD_LOCAL_RANK",
                                    "PMI_SIZE",
                                    "MPI_LOCALRANKID",
                                    "MV2_COMM_WORLD_SIZE",
                                    "MV2_COMM_WORLD_LOCAL_RANK",
                                    "SLURM_NTASKS",
                                    "SLURM_STEP_NUM_TASKS",
                                    "SLURM_LOCALID",
                                    "SLURM_NODEID",
                                    "SLURM_JOB_ID",
                                    "SLURM_STEP_ID",
                                    "VLLM_DP_RANK",
                                    "VLLM_DP_SIZE"};
constexpr const char* kJobs[] = {"TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE",
                                 "OMPI_MCA_ess_base_jobid"};
static_assert(sizeof kGlobalRanks + sizeof kNumbers + sizeof kJobs <=
              kMostRankVariables * sizeof(const char*));

bool is_number(const char* text) {
  constexpr size_t kLongest = 9;
  size_t length = 0;
  for (; text[length] != '\0'; ++length) {
    if (text[length] < '0' || text[length] > '9' || length == kLongest) return false;
  }
  return length > 0;
}

// A batch script, too, has the variables of a task, of a job that has yet to start its tasks. Only
// a step has a number; those of scripts and interactive shells have ten digits.
bool is_of_no_step(const char* name) {
  if (std::strncmp(name, "SLURM_", 6) != 0) return false;
  const char* step = secure_getenv("SLURM_STEP_ID");
  return step == nullptr || !is_number(step);
}

bool read_variable(const char* name, bool (*is_valid)(const char*), RankVariable& variable) {
  const char* value = secure_getenv(name);
  if (value == nullptr || !is_valid(value) || is_of_no_step(name)) return false;
  variable = {name, value};
  return true;
}

}  // namespace

bool is_rank_text(const char* text) {
  size_t length = 0;
  for (; text[length] != '\0'; ++length) {
    const char sign = text[length];
    const bool plain = (sign >= '0' && sign <= '9') || (sign >= 'a' && sign <= 'z') ||
                       (sign >= 'A' && sign <= 'Z') || std::strchr("-_.:@/", sign) != nullptr;
    if (!plain || length == kLongestRankValue) return false;
  }
  return length > 0;
}

size_t read_rank_variables(RankVariable (&variables)[kMostRankVariables]) {
  size_t count = 0;
  for (const char* name : kGlobalRanks) {
    if (read_variable(name, is_number, variables[count])) ++count;
  }
  for (const char* name : kNumbers) {
    if (read_variable(name, is_number, variables[count])) ++count;
  }
  for (const char* name : kJobs) {
    if (read_variable(name, is_rank_text, variables[count])) ++count;
  }
  return count;
}

const RankVariable* global_rank() {
  static constinit RankVariable rank = {};
  for (const char* name : kGlobalRanks) {
    if (read_variable(name, is_number, rank)) return &rank;
  }
  return nullptr;
}

}  // namespace llmprof::collector
