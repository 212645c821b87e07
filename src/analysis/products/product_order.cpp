#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/products/product_roles.h"

namespace llmprof::analysis {
namespace {

constexpr uint64_t kMostExperts = 1024;

using EventKind = ProductEvent::Kind;

// The events between two attentions, and the roles of their products.
class RolesByOrder {
 public:
  explicit RolesByOrder(std::span<const ProductEvent> events)
      : events_(events), roles_(events.size(), ProductRole::unknown) {}

  std::vector<ProductRole> run() {
    find_attention_by_products();
    cut_at_attentions();
    for (size_t i = 0; i + 1 < segments_.size(); ++i) find_output(i);
    for (Segment& segment : segments_) {
      if (segment.output) find_feed_forward(segment, sizes(*segment.output));
    }
    for (size_t i = 0; i + 1 < segments_.size(); ++i) find_inputs(i);
    for (Segment& segment : segments_) set_inputs(segment);
    find_head();
    return std::move(roles_);
  }

 private:
  // Products behind an attention, up to the next one.
  struct Segment {
    std::vector<size_t> products;  // events: products that are not batched
    std::vector<size_t> unknown;   // events: products of unknown sizes
    std::optional<size_t> output;  // event: the attention's output
    size_t layer_end = 0;          // the event behind the layer's last product
    bool has_feed_forward = false;
    std::vector<size_t> inputs;  // events that take the hidden size before the next attention
  };

  [[nodiscard]] const ProductSizes& sizes(size_t event) const { return events_[event].sizes; }
  [[nodiscard]] bool is_unknown(size_t event) const {
    return roles_[event] == ProductRole::unknown;
  }

  // Without a kernel for attention: queries times keys, softmax, times values.
  void find_attention_by_products() {
    const size_t none = events_.size();
    size_t previous = none;  // product
    bool softmax = false;
    for (size_t i = 0; i < events_.size(); ++i) {
      switch (events_[i].kind) {
        case EventKind::softmax:
          softmax = true;
          break;
        case EventKind::attention:
          previous = none;
          break;
        default:
          if (previous != none && softmax && are_attention(previous, i)) {
            roles_[previous] = ProductRole::attention_scores;
            roles_[i] = ProductRole::attention_values;
          }
          previous = i;
          softmax = false;
      }
    }
  }
  [[nodiscard]] bool are_attention(size_t first, size_t second) const {
    if (events_[first].kind != EventKind::product || events_[second].kind != EventKind::product)
      return false;
    const ProductSizes& scores = sizes(first);
    const ProductSizes& values = sizes(second);
    return scores.batch > 1 && values.batch == scores.batch && values.m == scores.m &&
           values.k == scores.n;
  }

  void cut_at_attentions() {
    segments_.emplace_back();
    bool in_attention = false;
    for (size_t i = 0; i < events_.size(); ++i) {
      const bool scores = roles_[i] == ProductRole::attention_scores;
      const bool values = roles_[i] == ProductRole::attention_values;
      if (events_[i].kind == EventKind::attention || scores || values) {
        // One attention may take several kernels.
        if (!in_attention) segments_.emplace_back();
        in_attention = true;
      } else if (events_[i].kind == EventKind::product && sizes(i).batch == 1) {
        segments_.back().products.push_back(i);
        in_attention = false;
      } else if (events_[i].kind == EventKind::unknown_product) {
        segments_.back().unknown.push_back(i);
        in_attention = false;
      }
    }
  }

  // The first product behind an attention gives the size that the products before it took, for the
  // same tokens.
  void find_output(size_t before) {
    Segment& behind = segments_[before + 1];
    if (behind.products.empty()) return;
    const size_t first = behind.products.front();
    if (!behind.unknown.empty() && behind.unknown.front() < first) return;
    const auto takes_what_it_gives = [&](size_t input) {
      return sizes(input).k == sizes(first).n && sizes(input).m == sizes(first).m;
    };
    if (!std::ranges::any_of(segments_[before].products, takes_what_it_gives)) return;
    behind.output = first;
    behind.layer_end = first + 1;
    roles_[first] = ProductRole::o;
  }

  // Gate and up give what down takes, together or each; down gives the hidden size again.
  void find_feed_forward(Segment& segment, const ProductSizes& output) {
    std::vector<size_t> open;  // products of the hidden size, behind the last down
    for (const size_t event : segment.products) {
      if (event == segment.output) continue;
      const ProductSizes& own = sizes(event);
      if (own.k == output.n) {
        open.push_back(event);
        continue;
      }
      const auto feeds = [&](size_t from) { return may_feed(from, event); };
      const auto first = std::ranges::find_if(open, feeds);
      if (own.n != output.n || first == open.end()) continue;
      roles_[event] = ProductRole::down;
      for (auto from = open.begin(); from != open.end(); ++from) {
        if (feeds(*from)) roles_[*from] = ProductRole::gate_up;
        if (from < first) set_router(*from, output);
      }
      open.clear();
      segment.layer_end = event + 1;
      segment.has_feed_forward = true;
    }
    if (!segment.has_feed_forward && segment.output) find_experts(segment, output, open);
  }
  [[nodiscard]] bool may_feed(size_t from, size_t down) const {
    const uint64_t given = sizes(from).n;
    const uint64_t taken = sizes(down).k;
    return sizes(from).m == sizes(down).m && (given == taken || given == 2 * taken);
  }

  void set_router(size_t event, const ProductSizes& output) {
    const bool narrow = sizes(event).n <= kMostExperts && sizes(event).n * 4 <= output.n;
    if (narrow && sizes(event).m == output.m) roles_[event] = ProductRole::router;
  }

  // Experts of unknown sizes follow their router.
  void find_experts(Segment& segment, const ProductSizes& output, const std::vector<size_t>& open) {
    if (open.empty() || segment.unknown.empty()) return;
    const size_t first = segment.unknown.front();
    const bool before_experts = open.front() < first && (open.size() == 1 || first < open[1]);
    if (!before_experts) return;
    set_router(open.front(), output);
    segment.layer_end = segment.unknown.back() + 1;
    segment.has_feed_forward = roles_[open.front()] == ProductRole::router;
  }

  // Queries, keys and values take the hidden size, for the tokens whose output follows.
  void find_inputs(size_t before) {
    Segment& segment = segments_[before];
    const Segment& behind = segments_[before + 1];
    if (!behind.output || (before > 0 && !segment.has_feed_forward)) return;
    const ProductSizes& output = sizes(*behind.output);
    if (before == 0) find_feed_forward(segment, output);
    for (const size_t event : segment.products) {
      const ProductSizes& own = sizes(event);
      if (event < segment.layer_end || own.k != output.n || own.m != output.m) continue;
      if (!feeds_behind_attention(event, behind)) segment.inputs.push_back(event);
    }
    ++layers_;
    std::set<uint64_t> widths;
    for (const size_t event : segment.inputs) widths.insert(sizes(event).n);
    for (const uint64_t width : widths) ++layers_of_width_[width];
  }
  // Some models compute the feed-forward part beside the attention.
  [[nodiscard]] bool feeds_behind_attention(size_t event, const Segment& behind) const {
    return std::ranges::any_of(behind.products, [&](size_t down) {
      return down != behind.output && is_unknown(down) && may_feed(event, down) &&
             sizes(down).n == sizes(*behind.output).n && sizes(down).k != sizes(event).k;
    });
  }

  // If steps are not known, a step's head is followed by the next one's first layer: its width is
  // rare.
  void set_inputs(Segment& segment) {
    for (const size_t event : segment.inputs) {
      constexpr uint64_t kRare = 4;
      const bool rare = layers_of_width_.at(sizes(event).n) * kRare <= layers_;
      if (!rare) {
        roles_[event] = ProductRole::qkv;
      } else if (event == segment.inputs.front() && event != segment.inputs.back() &&
                 sizes(event).n > sizes(event).k) {
        roles_[event] = ProductRole::lm_head;
      }
    }
  }

  // The last product behind the last layer takes the hidden size, and no layer has one like it.
  void find_head() {
    const Segment& last = segments_.back();
    if (!last.output || !last.has_feed_forward) return;
    const size_t head = last.products.back();
    const ProductSizes& own = sizes(head);
    if (head < last.layer_end || own.k != sizes(*last.output).n || own.n <= own.k) return;
    const auto is_like_it = [&](size_t event) {
      return event != head && sizes(event).n == own.n && sizes(event).k == own.k &&
             roles_[event] != ProductRole::lm_head;
    };
    const bool in_layers = std::ranges::any_of(segments_, [&](const Segment& segment) {
      return std::ranges::any_of(segment.products, is_like_it);
    });
    if (!in_layers) roles_[head] = ProductRole::lm_head;
  }

  std::span<const ProductEvent> events_;
  std::vector<ProductRole> roles_;
  std::vector<Segment> segments_;
  uint64_t layers_ = 0;                           // with inputs
  std::map<uint64_t, uint64_t> layers_of_width_;  // by n of the inputs
};

}  // namespace

std::vector<ProductRole> roles_by_order(std::span<const ProductEvent> events) {
  return RolesByOrder(events).run();
}

}  // namespace llmprof::analysis
