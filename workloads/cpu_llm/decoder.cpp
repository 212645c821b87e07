#include "cpu_llm/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "cpu_llm/embedding.h"
#include "cpu_llm/feed_forward.h"
#include "cpu_llm/operator_names.h"
#include "cpu_llm/rms_norm.h"
#include "cpu_llm/sampling.h"

namespace cpu_llm {
namespace {

// The name that all ranks use for the group of all.
RankGroup tensor_parallel_group(size_t ranks) {
  RankGroup group = {"tp", "0", static_cast<uint32_t>(ranks)};
  for (size_t rank = 1; rank < ranks; ++rank) group.members += fmt::format(",{}", rank);
  return group;
}

}  // namespace

Decoder::Decoder(const Weights& weights, size_t sequences, size_t positions, Workers& workers,
                 const RankRole& role)
    : weights_(weights),
      workers_(workers),
      ranks_(weights.shape.parts > 1 ? role.ranks : nullptr),
      group_(tensor_parallel_group(weights.shape.parts)),
      sequences_(sequences),
      log_(role.slow_by),
      rope_(weights.shape, positions),
      cache_(weights.shape, sequences, positions),
      attention_(weights.shape, positions, workers.count()),
      last_residual_(sequences * weights.shape.hidden),
      last_added_(sequences * weights.shape.hidden),
      last_normed_(sequences * weights.shape.hidden),
      own_logits_(ranks_ == nullptr ? 0 : sequences * weights.shape.own_vocabulary()),
      logits_(sequences * weights.shape.vocabulary) {
  for (size_t layer = 0; layer < weights.shape.layers; ++layer) {
    layer_names_.push_back(fmt::format("layer_{:02}", layer));
  }
}

void Decoder::make_room(size_t rows) {
  if (rows <= activations_.rows) return;
  const ModelShape& shape = weights_.shape;
  activations_ = {rows,
                  FloatBuffer(rows * shape.hidden),
                  FloatBuffer(rows * shape.hidden),
                  FloatBuffer(rows * shape.qkv_width()),
                  FloatBuffer(rows * shape.query_width()),
                  FloatBuffer(rows * 2 * shape.own_intermediate()),
                  FloatBuffer(rows * shape.own_intermediate()),
                  FloatBuffer(rows * shape.hidden)};
}

std::span<const float> Decoder::add(std::span<const Token> tokens) {
  const size_t added = tokens.size() / sequences_;
  const auto logits = run(Pass(sequences_, added, cached_), tokens);
  cached_ += added;
  return logits;
}

std::span<const float> Decoder::run(const Pass& pass, std::span<const Token> tokens) {
  make_room(pass.rows());
  log_.run(names::kEmbedding, embedding_cost(pass.rows(), weights_.shape.hidden),
           [&] { embed(tokens, weights_.embedding, activations_.residual.data(), workers_); });
  for (size_t layer = 0; layer < weights_.layers.size(); ++layer) run_layer(layer, pass);
  const size_t with_logits = pass.rows_with_logits().size();
  if (with_logits > 0) run_head(pass);
  return {logits_.data(), with_logits * weights_.shape.vocabulary};
}

void Decoder::run_layer(size_t index, const Pass& pass) {
  const AnnotatedRange range(layer_names_[index].c_str());
  const bool slowed = slow_layer_ && slow_layer_->layer == index;
  if (slowed) log_.slow_down(slow_layer_->by);
  run_attention(index, pass);
  run_feed_forward(weights_.layers[index], pass.rows());
  if (slowed) log_.slow_down(1);
}

void Decoder::run_attention(size_t index, const Pass& pass) {
  const ModelShape& shape = weights_.shape;
  const LayerWeights& layer = weights_.layers[index];
  Activations& now = activations_;
  const size_t rows = pass.rows();
  const ResidualRows residual = {now.residual.data(), rows};
  if (index == 0) {
    log_.run(names::kRmsNorm, rms_norm_cost(rows, shape.hidden),
             [&] { rms_norm(residual, layer.attention_norm, now.normed.data(), workers_); });
  } else {
    log_.run(names::kAddRmsNorm, add_rms_norm_cost(rows, shape.hidden), [&] {
      add_rms_norm(residual, now.added.data(), layer.attention_norm, now.normed.data(), workers_);
    });
  }
  run_product(names::kQkv, now.normed.data(), rows, layer.qkv, now.qkv.data(), log_, workers_);
  log_.run(names::kRope, rope_cost(pass, shape),
           [&] { rope_.rotate(now.qkv.data(), pass, workers_); });
  log_.run(names::kKvAppend, kv_append_cost(pass, shape),
           [&] { cache_.append(index, now.qkv.data(), pass, workers_); });
  log_.run(pass.only_decodes() ? names::kAttentionDecode : names::kAttentionPrefill,
           attention_cost(pass, shape), [&] {
             attention_.attend(index, now.qkv.data(), pass, cache_, now.attended.data(), workers_);
           });
  run_product(names::kOProj, now.attended.data(), rows, layer.o, now.added.data(), log_, workers_);
  sum_over_ranks(rows);
}

void Decoder::run_feed_forward(const LayerWeights& layer, size_t rows) {
  const ModelShape& shape = weights_.shape;
  Activations& now = activations_;
  const ResidualRows residual = {now.residual.data(), rows};
  log_.run(names::kAddRmsNorm, add_rms_norm_cost(rows, shape.hidden), [&] {
    add_rms_norm(residual, now.added.data(), layer.feed_forward_norm, now.normed.data(), workers_);
  });
  run_product(names::kGateUp, now.normed.data(), rows, layer.gate_up, now.gate_up.data(), log_,
              workers_);
  log_.run(names::kSiluMul, silu_mul_cost(rows, shape.own_intermediate()), [&] {
    silu_mul(now.gate_up.data(), rows, shape.own_intermediate(), now.activated.data(), workers_);
  });
  run_product(names::kDownProj, now.activated.data(), rows, layer.down, now.added.data(), log_,
              workers_);
  sum_over_ranks(rows);
}

void Decoder::sum_over_ranks(size_t rows) {
  if (ranks_ == nullptr) return;
  const size_t count = rows * weights_.shape.hidden;
  log_.communicate(LLMPROF_ALL_REDUCE, names::kAllReduce, group_, count * sizeof(float),
                   [&] { ranks_->sum(activations_.added.data(), count); });
}

// Only the last token of a chunk may need logits.
void Decoder::run_head(const Pass& pass) {
  const size_t hidden = weights_.shape.hidden;
  const size_t rows = pass.rows_with_logits().size();
  log_.run(names::kFinalNorm, add_rms_norm_cost(rows, hidden), [&] {
    for (size_t i = 0; i < rows; ++i) {
      const size_t from = pass.rows_with_logits()[i] * hidden;
      std::copy_n(activations_.residual.data() + from, hidden, last_residual_.data() + i * hidden);
      std::copy_n(activations_.added.data() + from, hidden, last_added_.data() + i * hidden);
    }
    add_rms_norm({last_residual_.data(), rows}, last_added_.data(), weights_.final_norm,
                 last_normed_.data(), workers_);
  });
  float* own = ranks_ == nullptr ? logits_.data() : own_logits_.data();
  run_product(names::kLmHead, last_normed_.data(), rows, weights_.lm_head, own, log_, workers_);
  if (ranks_ == nullptr) return;
  log_.communicate(LLMPROF_ALL_GATHER, names::kAllGather, group_,
                   rows * weights_.shape.own_vocabulary() * sizeof(float), [&] {
                     ranks_->gather(own, rows, weights_.shape.own_vocabulary(), logits_.data());
                   });
}

std::vector<Token> Decoder::sample(std::span<const float> logits) {
  std::vector<Token> tokens;
  log_.run(names::kArgmax,
           argmax_cost(logits.size() / weights_.shape.vocabulary, weights_.shape.vocabulary),
           [&] { tokens = most_likely(logits, weights_.shape.vocabulary); });
  return tokens;
}

}  // namespace cpu_llm
