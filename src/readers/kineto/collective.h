#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "readers/kineto/rows.h"

namespace llmprof::readers {

// An event's arguments about communication between ranks; tokens point into the text.
struct CollectiveArguments {
  std::string_view name, elements_in, elements_out, type;
  std::string_view group, group_number, group_size, ranks, first_rank, rank_stride, sequence;
  std::vector<uint64_t> input_elements;       // of each input
  std::vector<std::string_view> input_types;  // of each input
};

// Whether an operator or annotation of this name describes communication in its arguments:
// record_param_comms, "nccl:all_reduce", vLLM's and SGLang's own all-reduces.
bool describes_collective(std::string_view name);

// Most operators have this prefix and communicate nothing. Compared as one constant: this runs per
// event.
inline bool is_tensor_operator(std::string_view name) {
  constexpr std::string_view kPrefix = "aten::";
  return name.size() >= kPrefix.size() &&
         std::memcmp(name.data(), kPrefix.data(), kPrefix.size()) == 0;
}

// The collective that a kernel, or an operator or annotation about one, describes, without its
// times. None if it describes none.
std::optional<KinetoCollective> kernel_collective(const CollectiveArguments& arguments,
                                                  LocalStrings& strings);
std::optional<KinetoCollective> host_collective(std::string_view name,
                                                const CollectiveArguments& arguments,
                                                LocalStrings& strings);

// Bytes of an element, for types spelled as in PyTorch or C++: "BFloat16", "c10::BFloat16", "long
// int"; 0 if the type is unknown.
uint64_t element_bytes(std::string_view type);

}  // namespace llmprof::readers
