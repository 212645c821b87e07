#include "collector/rank_variables.h"

#include <cstdlib>

namespace llmprof::collector {
namespace {

// Global ranks first, in order of preference.
constexpr const char* kGlobalRanks[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
constexpr const char* kOthers[] = {
    "LOCAL_RANK",    "WORLD_SIZE",           "LOCAL_WORLD_SIZE",
    "GROUP_RANK",    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMI_SIZE",      "MPI_LOCALRANKID",      "SLURM_NTASKS",
    "SLURM_LOCALID", "SLURM_NODEID"};

bool is_number(const char* text) {
  constexpr size_t kLongest = 9;
  size_t length = 0;
  for (; text[length] != '\0'; ++length) {
    if (text[length] < '0' || text[length] > '9' || length == kLongest) return false;
  }
  return length > 0;
}

bool read_variable(const char* name, RankVariable& variable) {
  const char* value = secure_getenv(name);
  if (value == nullptr || !is_number(value)) return false;
  variable = {name, value};
  return true;
}

}  // namespace

size_t read_rank_variables(RankVariable* variables, size_t room) {
  size_t count = 0;
  for (const char* name : kGlobalRanks) {
    if (count < room && read_variable(name, variables[count])) ++count;
  }
  for (const char* name : kOthers) {
    if (count < room && read_variable(name, variables[count])) ++count;
  }
  return count;
}

const RankVariable* global_rank() {
  static constinit RankVariable rank = {};
  for (const char* name : kGlobalRanks) {
    if (read_variable(name, rank)) return &rank;
  }
  return nullptr;
}

}  // namespace llmprof::collector
