#pragma once

namespace llmprof::collector {

// Whether this process is a launcher of distributed programs (torchrun, mpirun, srun), not a rank:
// it may ask CUDA for devices, but runs nothing on them.
[[nodiscard]] bool is_launcher();

}  // namespace llmprof::collector
