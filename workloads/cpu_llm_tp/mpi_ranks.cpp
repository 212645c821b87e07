#include "cpu_llm_tp/mpi_ranks.h"

#include <mpi.h>

#include <cstdlib>

#include "cpu_llm/cpu_device.h"

namespace cpu_llm {
namespace {

// From mpirun's variables; 0: unknown.
size_t ranks_on_this_machine() {
  const char* ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return ranks == nullptr ? 0 : std::strtoul(ranks, nullptr, 10);
}

// Unless the user has set them.
void set_defaults_of_open_mpi() {
  constexpr int kKeep = 0;
  // A rank that waits gives way where ranks need each other's core, and only there: whoever gives
  // way comes back milliseconds late if anything else runs.
  if (ranks_on_this_machine() > machine_cpus()) {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", kKeep);
  }
  // Containers mostly forbid reading another process's memory; Open MPI then fails or complains.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", kKeep);
}

}  // namespace

// An error of MPI ends all ranks with its own message, so results are not looked at.
MpiRanks::MpiRanks(int* count, char*** values) {
  set_defaults_of_open_mpi();
  int provided = 0;
  MPI_Init_thread(count, values, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank_ = static_cast<size_t>(rank);
  size_ = static_cast<size_t>(size);
}

MpiRanks::~MpiRanks() { MPI_Finalize(); }

void MpiRanks::sum(float* values, size_t count) {
  MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void MpiRanks::gather(const float* own, size_t rows, size_t width, float* all) {
  const auto row = static_cast<int>(width);
  // A rank's rows in the result: its columns of each row, the next rank's right beside them.
  MPI_Datatype columns{};
  MPI_Datatype placed{};
  MPI_Type_vector(static_cast<int>(rows), row, static_cast<int>(width * size_), MPI_FLOAT,
                  &columns);
  MPI_Type_create_resized(columns, 0, static_cast<MPI_Aint>(width * sizeof(float)), &placed);
  MPI_Type_commit(&placed);
  MPI_Allgather(own, static_cast<int>(rows * width), MPI_FLOAT, all, 1, placed, MPI_COMM_WORLD);
  MPI_Type_free(&placed);
  MPI_Type_free(&columns);
}

void MpiRanks::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

}  // namespace cpu_llm
