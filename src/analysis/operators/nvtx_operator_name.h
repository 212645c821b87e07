#pragma once

#include <string_view>

namespace llmprof::analysis {

// The operator that an NVTX range of torch.autograd.profiler.emit_nvtx stands for; empty where the
// text is of another kind. emit_nvtx (and nsys's --pytorch=autograd-nvtx, which switches it on)
// writes the name, then what it knows of the call, in this order, over the versions:
//   aten::mm, seq = 12, op_id = 345, sizes = [[4, 4], [4, 4]], input_op_ids = [(344,0), ...]
// Without any of it (old versions, calls outside autograd) only the namespace tells.
std::string_view nvtx_operator_name(std::string_view range_text);

}  // namespace llmprof::analysis
