#include "session/run/zero_kernels.h"

#include <fmt/format.h>

namespace llmprof::session {

Error zero_kernels(const capture::NsysOptions& options) {
  std::string message =
      "the timeline holds no GPU kernels, although the workload uses CUDA "
      "(workload.uses_cuda=true). Likely causes:";
  if (options.gating_nvtx || options.capture_range != "none") {
    message += fmt::format(
        "\n  - nothing ran on the GPU while the capture was open ({}): capture all with "
        "nsys.gating_nvtx=false nsys.capture_range=none",
        options.gating_nvtx ? options.nvtx_capture : options.capture_range);
  }
  message +=
      "\n  - the program computed on the CPU: see nsys/profile.log, check device=cuda:0 and "
      "`nvidia-smi`; a CPU program needs workload.uses_cuda=false"
      "\n  - the kernels ran in a worker process that was forked after CUDA was in use: let "
      "workers "
      "be spawned";
  message += options.trace_fork_before_exec ? "" : ", or set nsys.trace_fork_before_exec=true";
  message +=
      "\n  - another user of CUPTI (a second nsys, torch.profiler, a monitor) held the GPU: "
      "switch it off while profiling";
  return {ErrorKind::tool, message};
}

}  // namespace llmprof::session
