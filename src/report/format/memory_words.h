#pragma once

#include <string>
#include <string_view>

#include "profile/memory.h"
#include "profile/memory_ledger.h"
#include "report/format/words.h"

// Words and colors for GPU memory.
namespace llmprof::report {

// How a part of the memory ledger is shown. Its color means that part wherever memory is drawn.
struct LedgerPartLook {
  std::string_view shown;  // "KV cache"
  std::string why;         // a sentence
  Color color;
};
LedgerPartLook look_of(profile::LedgerPart part);

// "recorded, with the size that the model's configuration gives"
std::string_view basis_words(profile::LedgerBasis basis);

// "peak of prefill", "steady decode"
std::string moment_words(const profile::LedgerMoment& moment);

// "too little memory is free, wherever it is"
std::string_view cause_words(profile::OutOfMemoryCause cause);

}  // namespace llmprof::report
