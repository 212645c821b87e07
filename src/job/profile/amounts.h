#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "profile/json/described.h"
#include "profile/kernels.h"
#include "profile/quantity.h"

namespace llmprof::job::result {

// Milliseconds in a profile are whole nanoseconds divided by a million: rounding restores them.
inline Nanoseconds exact(profile::Milliseconds time) { return profile::to_nanoseconds(time); }
inline Nanoseconds exact(const std::optional<profile::Milliseconds>& time) {
  return time ? exact(*time) : 0;
}

inline void add_amount(uint64_t& sum, uint64_t more) { sum += more; }
inline void add_amount(profile::WholeNanoseconds& sum, profile::WholeNanoseconds more) {
  sum.value += more.value;
}
inline void add_amount(profile::Milliseconds& sum, profile::Milliseconds more) {
  sum = profile::to_milliseconds(exact(sum) + exact(more));
}
inline void add_amount(std::optional<profile::Milliseconds>& sum,
                       const std::optional<profile::Milliseconds>& more) {
  if (more) sum = profile::to_milliseconds(exact(sum) + exact(more));
}
template <profile::Unit unit>
void add_amount(std::optional<profile::Quantity<unit>>& sum,
                const std::optional<profile::Quantity<unit>>& more) {
  if (sum && more) sum->value += more->value;
}

// Adds the counts, times and other additive fields of a described struct; texts stay. The caller
// updates derived fields.
template <class Struct>
void add_amounts(Struct& sum, const Struct& more) {
  profile::json::each_field<Struct>([&](auto /*name*/, auto member, auto /*meaning*/) {
    if constexpr (requires { add_amount(member(sum), member(more)); }) {
      add_amount(member(sum), member(more));
    }
  });
}

// "rank3/cuda:0"
inline std::string device_of_rank(uint64_t rank, const std::string& device) {
  return "rank" + std::to_string(rank) + "/" + device;
}

// Appends one rank's rows, with the rank in front of each device.
template <class Row>
void add_rows(uint64_t rank, const std::vector<Row>& from, std::vector<Row>& to) {
  for (Row row : from) {
    row.device = device_of_rank(rank, row.device);
    to.push_back(std::move(row));
  }
}

template <class Amounts>
void add_optional(const std::optional<Amounts>& from, std::optional<Amounts>& to) {
  if (from && to) {
    add_amounts(*to, *from);
  } else if (from) {
    to = from;
  }
}

// Adds a row to the one with the same key, or appends it if there is none.
template <class Row, class... Key>
void add_by_key(const Row& from, std::vector<Row>& rows, Key Row::*... key) {
  const auto known =
      std::ranges::find_if(rows, [&](const Row& row) { return ((row.*key == from.*key) && ...); });
  if (known != rows.end()) {
    add_amounts(*known, from);
  } else {
    rows.push_back(from);
  }
}

// Times by word, in the order in which words first occur.
template <class Word>
class NamedTimes {
 public:
  using Rows = profile::ByWord<Word, profile::WholeNanoseconds>;

  void add(Word name, Nanoseconds time) {
    auto known = std::ranges::find(rows_, name, &Rows::value_type::first);
    if (known == rows_.end()) known = rows_.insert(known, {name, {}});
    known->second.value += time;
  }
  void add(const Rows& times) {
    for (const auto& [name, time] : times) add(name, time.value);
  }

  [[nodiscard]] Nanoseconds total() const {
    Nanoseconds sum = 0;
    for (const auto& [name, time] : rows_) sum += time.value;
    return sum;
  }
  [[nodiscard]] Rows& rows() { return rows_; }

  // Each time divided by `ranks`, in whole nanoseconds that sum to the total divided by `ranks`,
  // rounded down; zeros are dropped.
  [[nodiscard]] Rows mean(size_t ranks) const {
    const auto count = static_cast<Nanoseconds>(ranks);
    Rows means;
    Nanoseconds sum = 0;
    for (const auto& [name, time] : rows_) {
      const Nanoseconds before = sum / count;
      sum += time.value;
      if (const Nanoseconds share = sum / count - before; share != 0) {
        means.emplace_back(name, profile::WholeNanoseconds{share});
      }
    }
    return means;
  }

 private:
  Rows rows_;
};

}  // namespace llmprof::job::result
