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

// "too little memory is free, wherever it is"
std::string_view cause_words(profile::OutOfMemoryCause cause);

}  // namespace llmprof::report
