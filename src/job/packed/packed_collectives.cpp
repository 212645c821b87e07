#include "job/packed/packed_collectives.h"

#include <utility>

namespace llmprof::job {
namespace {

Nanoseconds difference(Nanoseconds to, Nanoseconds from) {
  return static_cast<Nanoseconds>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

// Frees each column once it is packed.
template <class From, class To>
void pack(std::vector<From>&& from, To& to) {
  for (const From number : from) to.push_back(number);
  to.shrink();
  std::vector<From>().swap(from);
}

}  // namespace

PackedCollectives::PackedCollectives(analysis::Collectives&& from) : keys(std::move(from.keys)) {
  for (size_t row = 0; row < from.size(); ++row) {
    const Nanoseconds duration = difference(from.end[row], from.start[row]);
    duration_.push_back(duration);
    shown_.push_back(difference(from.exposed[row], duration));
  }
  duration_.shrink();
  shown_.shrink();
  pack(std::move(from.start), start_);
  pack(std::move(from.launched), launched_);
  pack(std::move(from.busy_before), busy_before_);
  pack(std::move(from.key), key_);
  pack(std::move(from.step), step_);
  pack(std::move(from.sequence), sequence_);
  pack(std::move(from.in_graph), in_graph_);
}

analysis::Collectives PackedCollectives::unpacked() const {
  analysis::Collectives to;
  to.keys = keys;
  to.start = start_.unpacked();
  to.launched = launched_.unpacked();
  to.busy_before = busy_before_.unpacked();
  to.key = key_.unpacked();
  to.step = step_.unpacked();
  to.sequence = sequence_.unpacked();
  for (size_t row = 0; row < size(); ++row) {
    to.end.push_back(end(row));
    to.exposed.push_back(exposed(row));
    to.in_graph.push_back(in_graph(row) ? 1 : 0);
  }
  return to;
}

}  // namespace llmprof::job
