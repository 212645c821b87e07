#include "analysis/memory_ledger/allocating_library.h"

#include <array>

namespace llmprof::analysis {
namespace {

using profile::LedgerPart;

struct Known {
  std::string_view begins;  // of the file's name
  LedgerPart part;
  std::string_view name;
};
constexpr std::array<Known, 15> kKnown = {{
    {"libcublas", LedgerPart::library_workspace, "cuBLAS"},
    {"libcudnn", LedgerPart::library_workspace, "cuDNN"},
    {"libnccl", LedgerPart::library_workspace, "NCCL"},
    {"libnvshmem", LedgerPart::library_workspace, "NVSHMEM"},
    {"libcusolver", LedgerPart::library_workspace, "cuSOLVER"},
    {"libcusparse", LedgerPart::library_workspace, "cuSPARSE"},
    {"libcufft", LedgerPart::library_workspace, "cuFFT"},
    {"libcurand", LedgerPart::library_workspace, "cuRAND"},
    {"libnvinfer", LedgerPart::library_workspace, "TensorRT"},
    {"libcupti", LedgerPart::profiler, "CUPTI"},
    {"libc10_cuda", LedgerPart::framework, "PyTorch"},
    {"libtorch", LedgerPart::framework, "PyTorch"},
    {"xla_cuda_plugin", LedgerPart::framework, "JAX"},
    {"libjax", LedgerPart::framework, "JAX"},
    {"libtensorflow", LedgerPart::framework, "TensorFlow"},
}};

}  // namespace

AllocatingLibrary allocating_library(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const Known& known : kKnown) {
    if (file.starts_with(known.begins)) return {known.part, std::string(known.name)};
  }
  return {LedgerPart::allocations, std::string(file)};
}

}  // namespace llmprof::analysis
