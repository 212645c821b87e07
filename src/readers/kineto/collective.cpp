#include "readers/kineto/collective.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/text.h"
#include "readers/kineto/token.h"
#include "readers/shared/element_type_words.h"
#include "trace/name_kinds.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kParameters = "record_param_comms";
constexpr std::string_view kAnnotation = "nccl:";
constexpr uint64_t kMostElements = uint64_t{1} << 48U;  // in one message, far beyond any memory
constexpr uint64_t kMostMembers = 1UL << 16U;

uint64_t bytes_of(uint64_t elements, std::string_view type) {
  return elements <= kMostElements ? elements * element_bytes(type) : 0;
}

// The rank's input; if it has none, its output.
uint64_t message_bytes(const CollectiveArguments& arguments) {
  uint64_t elements = token_unsigned(arguments.elements_in).value_or(0);
  if (elements == 0) elements = token_unsigned(arguments.elements_out).value_or(0);
  return bytes_of(elements, token_text(arguments.type));
}

// "[0, 1, 2, 3]" as "0,1,2,3". PyTorch shortens long lists to "[0, 1, ..., 7]", but also states
// evenly spaced ranks in another way.
std::string members_text(const CollectiveArguments& arguments) {
  std::string members;
  std::string_view list = token_text(arguments.ranks);
  if (list.size() >= 2 && list.front() == '[' && list.back() == ']') {
    list = list.substr(1, list.size() - 2);
    std::copy_if(list.begin(), list.end(), std::back_inserter(members),
                 [](char c) { return c != ' '; });
    if (members.find_first_not_of("0123456789,") == std::string::npos) return members;
    members.clear();
  }
  const auto first = token_unsigned(arguments.first_rank);
  const auto stride = token_unsigned(arguments.rank_stride);
  const auto size = token_unsigned(arguments.group_size);
  if (!first || !stride || !size || *stride == 0 || *size > kMostMembers ||
      *stride > kMostMembers || *first > UINT32_MAX) {
    return members;
  }
  for (uint64_t i = 0; i < *size; ++i) {
    if (i > 0) members += ',';
    members += std::to_string(*first + i * *stride);
  }
  return members;
}

trace::StringId interned(std::string_view text, LocalStrings& strings) {
  return text.empty() ? trace::StringId() : strings.intern(text);
}

std::string_view group_name(const CollectiveArguments& arguments) {
  if (is_string_token(arguments.group)) return token_text(arguments.group);
  return trim(token_text(arguments.group_number));
}

// An engine's own all-reduce: its message is its only large input.
KinetoCollective own_all_reduce(const CollectiveArguments& arguments) {
  KinetoCollective found;
  found.kind = CollectiveKind::all_reduce;
  const size_t inputs = std::min(arguments.input_elements.size(), arguments.input_types.size());
  for (size_t i = 0; i < inputs; ++i) {
    found.bytes =
        std::max(found.bytes, bytes_of(arguments.input_elements[i], arguments.input_types[i]));
  }
  return found;
}

std::optional<KinetoCollective> annotated(std::string_view name,
                                          const CollectiveArguments& arguments) {
  const auto kind = trace::collective_kind(name.substr(kAnnotation.size()));
  if (!kind) return std::nullopt;
  KinetoCollective found;
  found.kind = *kind;
  if (arguments.input_elements.size() != arguments.input_types.size()) return found;
  uint64_t sum = 0;
  for (size_t i = 0; i < arguments.input_elements.size(); ++i) {
    const uint64_t bytes = bytes_of(arguments.input_elements[i], arguments.input_types[i]);
    if (bytes == 0 && arguments.input_elements[i] != 0) return found;
    sum += bytes;
  }
  found.bytes = sum;
  return found;
}

}  // namespace

uint64_t element_bytes(std::string_view type) {
  return bits_per_element(named_element_type(type)) / 8;
}

bool describes_collective(std::string_view name) {
  if (is_tensor_operator(name)) return false;
  if (name == kParameters || name.starts_with(kAnnotation)) return true;
  const bool reduces = contains(name, "all_reduce") || contains(name, "allreduce");
  // record_param_comms inside them describes the calls of torch.distributed.
  return reduces && !name.starts_with("c10d::");
}

std::optional<KinetoCollective> kernel_collective(const CollectiveArguments& arguments,
                                                  LocalStrings& strings) {
  if (!is_string_token(arguments.name)) return std::nullopt;
  const auto kind = trace::collective_kind(token_text(arguments.name));
  if (!kind) return std::nullopt;
  KinetoCollective found;
  found.kind = *kind;
  found.bytes = message_bytes(arguments);
  found.group = interned(group_name(arguments), strings);
  found.members = interned(members_text(arguments), strings);
  found.group_size = token_uint32(arguments.group_size);
  found.sequence = token_unsigned(arguments.sequence).value_or(trace::kNoSequence);
  return found;
}

std::optional<KinetoCollective> host_collective(std::string_view name,
                                                const CollectiveArguments& arguments,
                                                LocalStrings& strings) {
  if (name == kParameters) return kernel_collective(arguments, strings);
  if (name.starts_with(kAnnotation)) return annotated(name, arguments);
  return own_all_reduce(arguments);
}

}  // namespace llmprof::readers
