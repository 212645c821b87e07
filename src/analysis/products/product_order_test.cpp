#include <gtest/gtest.h>

#include <vector>

#include "analysis/products/product_roles.h"

namespace llmprof::analysis {
namespace {

class ProductOrder : public ::testing::Test {
 protected:
  using enum ProductRole;
  using Kind = ProductEvent::Kind;
};

ProductEvent product(uint64_t m, uint64_t n, uint64_t k, uint64_t batch = 1) {
  return {ProductEvent::Kind::product, {m, n, k, batch}};
}
ProductEvent of(ProductEvent::Kind kind) { return {kind, {}}; }

// The roles of the products alone.
std::vector<ProductRole> roles(const std::vector<ProductEvent>& events) {
  const std::vector<ProductRole> all = roles_by_order(events);
  std::vector<ProductRole> found;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == ProductEvent::Kind::product) found.push_back(all[i]);
  }
  return found;
}

using PassEvents = std::vector<ProductEvent>;
using OrderRoles = std::vector<ProductRole>;

void append(PassEvents& to, const PassEvents& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Hidden 4096, intermediate 11008, 32 and 8 heads of 128: projections are fused.
PassEvents fused_pass(uint64_t tokens, int layers, uint64_t head_tokens) {
  PassEvents events;
  for (int layer = 0; layer < layers; ++layer) {
    append(events, {product(tokens, 6144, 4096), of(ProductEvent::Kind::attention),
                    product(tokens, 4096, 4096), product(tokens, 22016, 4096),
                    product(tokens, 4096, 11008)});
  }
  events.push_back(product(head_tokens, 32000, 4096));
  return events;
}

TEST_F(ProductOrder, OfFusedProjections) {
  EXPECT_EQ(roles(fused_pass(777, 2, 1)),
            (OrderRoles{qkv, o, gate_up, down, qkv, o, gate_up, down, lm_head}));
}

TEST_F(ProductOrder, OfOneProductForEachWeight) {
  PassEvents events;
  for (int layer = 0; layer < 2; ++layer) {
    append(events, {product(1, 2048, 2048), product(1, 512, 2048), product(1, 512, 2048),
                    of(Kind::attention), of(Kind::attention), product(1, 2048, 2048),
                    product(1, 8192, 2048), product(1, 8192, 2048), product(1, 2048, 8192)});
  }
  events.push_back(product(1, 128256, 2048));
  const OrderRoles layer = {qkv, qkv, qkv, o, gate_up, gate_up, down};
  OrderRoles expected = layer;
  expected.insert(expected.end(), layer.begin(), layer.end());
  expected.push_back(lm_head);
  EXPECT_EQ(roles(events), expected);
}

TEST_F(ProductOrder, OfAsManyHeadsOfKeysAsOfQueries) {
  PassEvents events;
  for (int layer = 0; layer < 2; ++layer) {
    append(events, {product(8944, 1024, 1024), product(8944, 1024, 1024), product(8944, 1024, 1024),
                    of(Kind::attention), product(8944, 1024, 1024), product(8944, 2816, 1024),
                    product(8944, 2816, 1024), product(8944, 1024, 2816)});
  }
  EXPECT_EQ(roles(events), (OrderRoles{qkv, qkv, qkv, o, gate_up, gate_up, down,  //
                                       qkv, qkv, qkv, o, gate_up, gate_up, down}));
}

TEST_F(ProductOrder, OfStepsThatAreNotKnown) {
  PassEvents events;
  for (int step = 0; step < 3; ++step) append(events, fused_pass(1, 4, 1));
  const OrderRoles found = roles(events);
  for (size_t i = 0; i < found.size(); ++i) {
    const size_t in_step = i % 17;
    const OrderRoles layer = {qkv, o, gate_up, down};
    EXPECT_EQ(found[i], in_step == 16 ? lm_head : layer[in_step % 4]) << i;
  }
}

TEST_F(ProductOrder, OfARouterWhoseExpertsAreUnknown) {
  PassEvents events;
  for (int layer = 0; layer < 2; ++layer) {
    append(events, {product(888, 640, 2880), of(Kind::attention), product(888, 2880, 512),
                    product(888, 128, 2880), of(Kind::unknown_product), of(Kind::unknown_product)});
  }
  events.push_back(product(1, 25136, 2880));
  EXPECT_EQ(roles(events), (OrderRoles{qkv, o, router, qkv, o, router, lm_head}));
}

TEST_F(ProductOrder, OfARouterBeforeSharedExperts) {
  PassEvents events;
  for (int layer = 0; layer < 2; ++layer) {
    append(events, {product(5, 3840, 1280), of(Kind::attention), product(5, 1280, 1280),
                    product(5, 64, 1280), product(5, 3584, 1280), product(5, 1280, 1792)});
  }
  EXPECT_EQ(roles(events),
            (OrderRoles{qkv, o, router, gate_up, down, qkv, o, router, gate_up, down}));
}

TEST_F(ProductOrder, OfAttentionWithoutAKernel) {
  PassEvents events;
  for (int layer = 0; layer < 2; ++layer) {
    append(events, {product(300, 1536, 1024), product(300, 1024, 1024), product(300, 300, 64, 16),
                    of(Kind::softmax), product(300, 64, 300, 16), product(300, 1024, 1024),
                    product(300, 4096, 1024), product(300, 1024, 4096)});
  }
  const OrderRoles layer = {qkv, qkv, attention_scores, attention_values, o, gate_up, down};
  OrderRoles expected = layer;
  expected.insert(expected.end(), layer.begin(), layer.end());
  EXPECT_EQ(roles(events), expected);
}

// Keys are expanded by head, values likewise: batched products around an attention kernel.
TEST_F(ProductOrder, BatchedProductsAroundAnAttentionAreNoAttention) {
  const PassEvents events = {product(4, 512, 128, 16), of(Kind::attention),
                             product(4, 128, 512, 16)};
  EXPECT_EQ(roles(events), (OrderRoles{unknown, unknown}));
}

TEST_F(ProductOrder, ProductsForOtherTokensStayUnknown) {
  // A modulation by time (2 rows) before each attention of an image model.
  PassEvents events;
  for (int layer = 0; layer < 2; ++layer) {
    append(events,
           {product(2, 6912, 1152), product(8192, 3456, 1152), of(Kind::attention),
            product(8192, 1152, 1152), product(8192, 4608, 1152), product(8192, 1152, 4608)});
  }
  EXPECT_EQ(roles(events),
            (OrderRoles{unknown, qkv, o, gate_up, down, unknown, qkv, o, gate_up, down}));
}

TEST_F(ProductOrder, AFeedForwardBesideTheAttentionIsNoInput) {
  PassEvents events;
  for (int layer = 0; layer < 2; ++layer) {
    append(events, {product(64, 4608, 4096), product(64, 16384, 4096), of(Kind::attention),
                    product(64, 4096, 4096), product(64, 4096, 16384)});
  }
  const OrderRoles found = roles(events);
  EXPECT_EQ(found[0], qkv);
  EXPECT_EQ(found[1], unknown);
  EXPECT_EQ(found[2], o);
}

TEST_F(ProductOrder, WithoutAttentionNothingIsKnown) {
  EXPECT_EQ(roles({product(8, 64, 32), product(8, 32, 64), product(8, 1000, 32)}),
            (OrderRoles{unknown, unknown, unknown}));
}

TEST_F(ProductOrder, ARecordingMayBeginAndEndAnywhere) {
  const PassEvents whole = fused_pass(1, 3, 1);
  const OrderRoles all = roles(whole);
  std::vector<size_t> products;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].kind == Kind::product) products.push_back(i);
  }
  for (size_t first = 0; first <= whole.size(); ++first) {
    for (size_t last = first; last <= whole.size(); ++last) {
      const std::vector<ProductRole> found =
          roles_by_order(PassEvents(whole.begin() + static_cast<std::ptrdiff_t>(first),
                                    whole.begin() + static_cast<std::ptrdiff_t>(last)));
      for (size_t i = 0; i < products.size(); ++i) {
        if (products[i] < first || products[i] >= last) continue;
        const ProductRole role = found[products[i] - first];
        EXPECT_TRUE(role == unknown || role == all[i]) << first << " to " << last << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis
