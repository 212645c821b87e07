#include "compare/kernels/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

namespace llmprof::compare {
namespace {

// Name and class of each kernel of one layer, in order.
using Names = std::initializer_list<std::pair<const char*, const char*>>;

std::vector<PlacedKernel> layer(Names names) {
  std::vector<PlacedKernel> rows;
  std::map<std::string, uint64_t> seen;
  for (const auto& [name, kernel_class] : names) {
    PlacedKernel& row = rows.emplace_back();
    row.block = profile::PassBlock::layer;
    row.key = name;
    row.short_name = name;
    row.kernel_class = *profile::find_word<profile::KernelClass>(kernel_class);
    row.occurrence = seen[name]++;
    row.mean_position = static_cast<double>(rows.size() - 1);
    row.grid = {4, 1, 1};
    row.calls = 8;
    row.total_ns = {1000};
  }
  return rows;
}

// "a+b>c" for each match of different kernels, sorted.
std::vector<std::string> changes(const std::vector<PlacedKernel>& base,
                                 const std::vector<PlacedKernel>& now, bool by_place = true) {
  std::vector<std::string> found;
  size_t base_rows = 0;
  size_t now_rows = 0;
  for (const Match& match : match_rows(base, now, by_place)) {
    base_rows += match.base.size();
    now_rows += match.now.size();
    const ChangeKind change = change_of(match, base, now);
    if (change == ChangeKind::matched) continue;
    std::string text(to_string(change));
    text += ' ';
    for (const size_t row : match.base) text += base[row].key + ' ';
    text += '>';
    for (const size_t row : match.now) text += ' ' + now[row].key;
    found.push_back(text);
  }
  EXPECT_EQ(base_rows, base.size());
  EXPECT_EQ(now_rows, now.size());
  std::sort(found.begin(), found.end());
  return found;
}

using Texts = std::vector<std::string>;

const Names kPlain = {{"norm", "norm"},
                      {"qkv", "gemm"},
                      {"attn", "attention"},
                      {"o", "gemm"},
                      {"add", "elementwise"}};

TEST(Match, TheSameKernelsAreMatched) { EXPECT_EQ(changes(layer(kPlain), layer(kPlain)), Texts()); }

TEST(Match, ARenamedProductIsReplaced) {
  const auto now = layer({{"norm", "norm"},
                          {"qkv2", "gemm"},
                          {"attn", "attention"},
                          {"o", "gemm"},
                          {"add", "elementwise"}});
  EXPECT_EQ(changes(layer(kPlain), now), Texts({"replaced qkv > qkv2"}));
}

TEST(Match, ANameThatStaysElsewhereIsReplacedAtItsPlace) {
  const auto base = layer({{"g", "gemm"}, {"attn", "attention"}, {"g", "gemm"}});
  const auto now = layer({{"h", "gemm"}, {"attn", "attention"}, {"g", "gemm"}});
  EXPECT_EQ(changes(base, now), Texts({"replaced g > h"}));
}

TEST(Match, KernelsThatBecameOneAreFused) {
  const auto base = layer({{"pow", "elementwise"},
                           {"mean", "reduction"},
                           {"mul", "elementwise"},
                           {"qkv", "gemm"},
                           {"attn", "attention"}});
  const auto now = layer({{"rms", "norm"}, {"qkv", "gemm"}, {"attn", "attention"}});
  EXPECT_EQ(changes(base, now), Texts({"fused pow mean mul > rms"}));
  EXPECT_EQ(changes(now, base), Texts({"split rms > pow mean mul"}));
}

TEST(Match, AnEpilogueIsFusedIntoItsProduct) {
  const auto base =
      layer({{"norm", "norm"}, {"up", "gemm"}, {"silu", "elementwise"}, {"down", "gemm"}});
  const auto now = layer({{"norm", "norm"}, {"up_silu", "gemm"}, {"down", "gemm"}});
  EXPECT_EQ(changes(base, now), Texts({"fused up silu > up_silu"}));
}

TEST(Match, AProductIsNotReplacedByElementwiseWork) {
  const auto base = layer({{"norm", "norm"}, {"lora", "gemm"}, {"attn", "attention"}});
  const auto now = layer({{"norm", "norm"}, {"scale", "elementwise"}, {"attn", "attention"}});
  EXPECT_EQ(changes(base, now), Texts({"added > scale", "removed lora >"}));
}

TEST(Match, WhatIsGoneWithNothingAtItsPlaceIsRemoved) {
  const auto now = layer({{"norm", "norm"}, {"qkv", "gemm"}, {"attn", "attention"}, {"o", "gemm"}});
  EXPECT_EQ(changes(layer(kPlain), now), Texts({"removed add >"}));
  EXPECT_EQ(changes(now, layer(kPlain)), Texts({"added > add"}));
}

TEST(Match, ALayerThatBeginsElsewhereIsTurned) {
  const auto now = layer({{"attn", "attention"},
                          {"o2", "gemm"},
                          {"add", "elementwise"},
                          {"norm", "norm"},
                          {"qkv", "gemm"}});
  EXPECT_EQ(changes(layer(kPlain), now), Texts({"replaced o > o2"}));
}

TEST(Match, WhatMovedOutOfTheLayersIsTheSameKernel) {
  auto base = layer({{"cos", "elementwise"}, {"qkv", "gemm"}, {"attn", "attention"}});
  auto now = base;
  now[0].block = profile::PassBlock::before_layers;
  EXPECT_EQ(changes(base, now), Texts());
}

TEST(Match, WithoutPlacesClassAndShapeThenTheLoneOneOfAClass) {
  auto base = layer({{"a", "gemm"}, {"b", "attention"}, {"c", "norm"}});
  auto now = layer({{"a2", "gemm"}, {"b2", "attention"}, {"c", "norm"}});
  base[0].grid = now[0].grid = {7, 7, 1};
  base[1].grid = {9, 1, 1};
  EXPECT_EQ(changes(base, now, false), Texts({"replaced a > a2", "replaced b > b2"}));
}

}  // namespace
}  // namespace llmprof::compare
