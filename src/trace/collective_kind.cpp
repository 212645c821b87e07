#include "trace/collective_kind.h"

#include <array>
#include <string>

#include "base/text.h"

namespace llmprof::trace {
namespace {

using enum CollectiveKind;

struct KindWord {
  std::string_view word;  // lower case, letters and digits only
  CollectiveKind kind;
};

// The first word found decides: "reduce" is part of "allreduce".
constexpr std::array<KindWord, 25> kKindWords = {{
    {"allreduce", all_reduce},
    {"crossdevicereduce", all_reduce},  // vLLM's and SGLang's own
    {"quickreduce", all_reduce},
    {"ggmlcudaar", all_reduce},
    {"reducescatter", reduce_scatter},
    {"allgather", all_gather},
    {"alltoall", all_to_all},
    {"all2all", all_to_all},
    {"a2a", all_to_all},
    {"deepep", all_to_all},  // sends tokens to experts and back
    {"dpskep", all_to_all},
    {"nixlep", all_to_all},
    {"pplx", all_to_all},
    {"sendrecv", other},
    {"broadcast", broadcast},
    {"bcast", broadcast},
    {"barrier", barrier},
    {"gather", gather},
    {"scatter", scatter},
    {"reduce", reduce},
    {"send", send},
    {"recv", receive},
    {"receive", receive},
    {"coalesced", other},
    {"nccl", other},
}};

constexpr std::array<std::string_view, 12> kNames = {
    "other",  "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast",
    "reduce", "gather",     "scatter",        "send",       "receive",    "barrier"};
static_assert(kNames.size() == static_cast<size_t>(barrier) + 1);

}  // namespace

std::optional<CollectiveKind> collective_kind(std::string_view name) {
  // Template arguments say nothing about the kind.
  name = name.substr(0, name.find('<'));
  std::string plain;
  for (const char c : name) {
    if (is_identifier(c) && c != '_') plain += to_lower(c);
  }
  for (const KindWord& each : kKindWords) {
    if (plain.find(each.word) != std::string::npos) return each.kind;
  }
  if (plain == "wait") return std::nullopt;
  return other;
}

std::string_view to_string(CollectiveKind kind) { return kNames[static_cast<size_t>(kind)]; }

}  // namespace llmprof::trace
