#include "fit/static_engine.h"

#include <algorithm>

#include "fit/caching_allocator.h"
#include "fit/forward_pass.h"

namespace llmprof::fit {
namespace {

using Place = CachingAllocator::Place;

// The largest of several moments counts.
class Moments {
 public:
  Moments(const CachingAllocator& allocator, const ForwardPass& pass)
      : allocator_(allocator), pass_(pass) {}

  void look() {
    if (allocator_.reserved() < largest_.reserved) return;
    largest_.reserved = allocator_.reserved();
    largest_.graphs =
        allocator_.reserved_in(Place::side_stream) + allocator_.reserved_in(Place::graph_pool);
  }

  // `weights`: bytes of the model's tensors.
  [[nodiscard]] StaticMemory result(uint64_t weights) const {
    StaticMemory memory = largest_;
    memory.weights = weights;
    memory.cache = pass_.cache_bytes();
    memory.workspaces = pass_.workspace_bytes();
    const uint64_t known = memory.weights + memory.cache + memory.workspaces + memory.graphs;
    const uint64_t rest = memory.reserved - std::min(known, memory.reserved);
    memory.activations = std::min(pass_.peak_bytes(), rest);
    memory.fits = !allocator_.ran_out();
    return memory;
  }

 private:
  const CachingAllocator& allocator_;
  const ForwardPass& pass_;
  StaticMemory largest_;
};

}  // namespace

StaticMemory simulate_static_engine(const Request& request, std::optional<uint64_t> limit) {
  CachingAllocator allocator(limit);
  ForwardPass pass(request, allocator);
  Moments moments(allocator, pass);
  pass.build();
  const uint64_t weights = allocator.allocated();
  pass.prepare();
  moments.look();
  pass.run(request.prompt_tokens);
  moments.look();
  if (request.graphs) {
    pass.enter(Place::side_stream);
    pass.run(1);
    moments.look();
    // torch.cuda.graph empties the allocator's cache before it captures.
    allocator.release_cached();
    pass.enter(Place::graph_pool);
  }
  pass.run(1);
  moments.look();
  return moments.result(weights);
}

}  // namespace llmprof::fit
