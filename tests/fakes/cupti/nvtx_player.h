#pragma once

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tape.h"

// Makes a tape's NVTX calls through NVTX's own headers, as a program does.
namespace llmprof {

// Call before several threads use NVTX.
void initialize_nvtx();

class NvtxPlayer {
 public:
  explicit NvtxPlayer(const tape::Tape& tape) : tape_(tape), serial_(++players_) {}

  void play(const tape::Nvtx& call);

 private:
  using Numbers = std::unordered_map<uint32_t, uint64_t>;

  void start(const tape::Nvtx& call);
  void push(const tape::Nvtx& call, const std::string& text);
  void mark(const tape::Nvtx& call, const std::string& text);
  nvtxEventAttributes_t attributes(const tape::Nvtx& call, const std::string& text,
                                   const std::wstring& wide);
  nvtxDomainHandle_t domain(const tape::Nvtx& call);
  void keep(uint32_t number, uint64_t handle);
  uint64_t kept(uint32_t number);

  static inline std::atomic<unsigned> players_{0};

  const tape::Tape& tape_;
  unsigned serial_;  // an address may be reused
  std::mutex mutex_;
  Numbers handles_;  // domains, registered strings and started ranges, by number
};

}  // namespace llmprof
