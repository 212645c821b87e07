#include "capture/probes/doctor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;
using testing::TemporaryFolder;
using State = Probe::State;

// A machine made of files: /proc and the rest below its own root.
class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    options_.search = ToolSearch{};
    options_.search.root = folder_.path() / "root";
    options_.search.path_list = (folder_.path() / "bin").string();
    options_.search.machine = "x86_64";
    options_.cuda = {};
    options_.program_folder = folder_.path() / "llmprof" / "bin";
    options_.output_folder = folder_.path() / "not" / "yet" / "there";
    options_.timeout = std::chrono::seconds(10);
  }

  void file(const path& name, std::string_view content) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.write(name.string(), content);
  }
  void program(const path& name, std::string_view script) const {
    file(name, "#!/bin/sh\n" + std::string(script) + "\n");
    std::filesystem::permissions(folder_.path() / name, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] Probe probe(std::string_view name) const {
    const auto probes = probe_machine(options_);
    const auto found = std::find_if(probes.begin(), probes.end(),
                                    [&](const Probe& one) { return one.name == name; });
    EXPECT_NE(found, probes.end()) << name;
    return found == probes.end() ? Probe{} : *found;
  }
  void expect(std::string_view name, State state, std::string_view detail,
              std::string_view fix = {}) const {
    const Probe got = probe(name);
    EXPECT_EQ(got.state, state) << name << ": " << got.detail;
    EXPECT_TRUE(contains(got.detail, detail)) << name << ": " << got.detail;
    EXPECT_TRUE(contains(got.fix, fix)) << name << ": " << got.fix;
    EXPECT_EQ(got.fix.empty(), state == State::found) << name;
  }
  void with_driver() const {
    file("root/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"
         "GCC version:  gcc version 12.2.0\n");
  }

  TemporaryFolder folder_;
  DoctorOptions options_;
};

TEST_F(Doctor, AnswersEveryQuestionOnABareMachine) {
  const auto probes = probe_machine(options_);
  std::vector<std::string> names;
  for (const Probe& one : probes) {
    names.push_back(one.name);
    EXPECT_FALSE(one.detail.empty()) << one.name;
    EXPECT_EQ(one.fix.empty(), one.state == State::found) << one.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "nsys", "ncu", "QdstrmImporter", "CUPTI", "CUDA injection", "driver", "GPUs",
                       "MIG", "counter permission", "DCGM", "other CUPTI users", "CPU sampling",
                       "Python", "torch", "transformers", "collector", "collector for CUDA",
                       "CPU workload", "output folder"}));
  EXPECT_FALSE(can_run_on_cpu(probes));
  for (const char* name : {"nsys", "ncu", "driver", "CUPTI", "torch", "collector"}) {
    EXPECT_EQ(probe(name).state, State::missing) << name;
  }
}

TEST_F(Doctor, NeedsItsOwnFilesAndAnOutputFolderForTheCpu) {
  file("llmprof/lib/libllmprof_collector.so", "");
  file("llmprof/bin/cpu_llm", "");
  EXPECT_TRUE(can_run_on_cpu(probe_machine(options_)));
  expect("output folder", State::found, "GiB free");
  options_.output_folder = "/proc/self";
  expect("output folder", State::trouble, "cannot be written to", "--out");
  EXPECT_FALSE(can_run_on_cpu(probe_machine(options_)));
}

TEST_F(Doctor, NamesToolsWithPathAndVersion) {
  program("bin/nsys", "echo 'NVIDIA Nsight Systems version 2025.3.2.474-1'");
  program("bin/ncu", "echo broken; exit 127");
  program("root/opt/nvidia/nsight-systems/2025.3.2/host-linux-x64/QdstrmImporter", "");
  expect("nsys", State::found, (folder_.path() / "bin/nsys").string() + " (2025.3.2.474)");
  expect("ncu", State::trouble, "broken", "LLMPROF_NCU");
  expect("QdstrmImporter", State::found, "host-linux-x64/QdstrmImporter");
  options_.search.chosen[Tool::nsys] = "/nowhere/nsys";
  expect("nsys", State::trouble, "/nowhere/nsys", "LLMPROF_NSYS");
}

TEST_F(Doctor, KnowsDriverAndGpus) {
  with_driver();
  expect("driver", State::found, "580.159.04");
  expect("GPUs", State::missing, "nvidia-smi is not on PATH", "utility");
  program("bin/nvidia-smi",
          "[ \"$1 $2\" = '--query-gpu=index,name,memory.total,mig.mode.current "
          "--format=csv,noheader,nounits' ] && echo '0, NVIDIA H200, 143771, Disabled'");
  expect("GPUs", State::found, "0: NVIDIA H200, 143771 MiB");
  expect("MIG", State::found, "off");
  program("bin/nvidia-smi",
          "echo '0, NVIDIA H200, 143771, Disabled'; echo '1, NVIDIA H200, 143771, Enabled'");
  expect("MIG", State::trouble, "on for GPU 1", "nvidia-smi -i 1 -mig 0");
  program("bin/nvidia-smi", "echo 'Failed to initialize NVML: Driver/library version mismatch'");
  expect("GPUs", State::trouble, "lists none", "reboot");
}

TEST_F(Doctor, DoesNotWaitForAProgramThatHangs) {
  with_driver();
  options_.timeout = std::chrono::milliseconds(200);
  program("bin/nvidia-smi", "sleep 60");
  program("bin/python3", "sleep 60");
  expect("GPUs", State::trouble, "lists none", "nvidia-smi");
  expect("torch", State::trouble, "in time", "pip install torch");
}

TEST_F(Doctor, KnowsWhoMayReadCounters) {
  expect("counter permission", State::missing, "no NVIDIA driver");
  file("root/proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
  file("root/proc/self/status", "Name:\tdoctor\nCapEff:\t00000000a80425fb\n");
  expect("counter permission", State::trouble, "ERR_NVGPUCTRPERM",
         "options nvidia NVreg_RestrictProfilingToAdminUsers=0");
  file("root/proc/self/status", "Name:\tdoctor\nCapEff:\t000001ffffffffff\n");
  expect("counter permission", State::found, "CAP_SYS_ADMIN");
  file("root/proc/self/status", "Name:\tdoctor\nCapEff:\t0000000000000000\n");
  file("root/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  expect("counter permission", State::found, "available to all users");
}

TEST_F(Doctor, SeesOtherToolsAndKeepsTheirEnvironmentsToItself) {
  expect("DCGM", State::found, "not running");
  expect("other CUPTI users", State::found, "none");
  file("root/proc/900001/comm", "nv-hostengine\n");
  file("root/proc/900002/comm", "nsys-launcher\n");
  file("root/proc/900003/comm", "python3\n");
  file("root/proc/900003/environ",
       std::string("SECRET=hush\0CUDA_INJECTION64_PATH=/a/private/lib.so\0", 52));
  file("root/proc/900004/comm", "python3\n");
  file("root/proc/900004/environ", std::string("NOT_CUDA_INJECTION64_PATH=1\0", 28));
  expect("DCGM", State::trouble, "nv-hostengine (process 900001)", "dcgmi profile --pause");
  expect("other CUPTI users", State::trouble, "nsys-launcher (process 900002)", "end them");
  const Probe users = probe("other CUPTI users");
  EXPECT_TRUE(contains(users.detail, "python3 (process 900003)"));
  EXPECT_FALSE(contains(users.detail, "900004"));
  EXPECT_FALSE(contains(users.detail, "hush") || contains(users.detail, "private"));
}

TEST_F(Doctor, FindsCupti) {
  const std::string library = "libcupti.so.2025.3.1";
  program("bin/python3", "echo /site/nvidia/cu13/lib/libcupti.so.13");
  expect("CUPTI", State::found, "/site/nvidia/cu13/lib/libcupti.so.13 (version 13)");
  program("toolkit/bin/nvcc", "");
  file("toolkit/extras/CUPTI/lib64/" + library, "");
  file("toolkit/extras/CUPTI/lib64/libcupti.so", "");
  std::filesystem::create_symlink(folder_.path() / "toolkit/bin/nvcc", folder_.path() / "bin/nvcc");
  expect("CUPTI", State::found, "toolkit/extras/CUPTI/lib64/" + library + " (version 2025.3.1)");
  file("root/usr/lib/x86_64-linux-gnu/libcupti.so.11.8", "");
  expect("CUPTI", State::found, "x86_64-linux-gnu/libcupti.so.11.8");
  file("by_loader/libcupti.so.12", "");
  options_.cuda.library_path = "::" + (folder_.path() / "by_loader").string();
  expect("CUPTI", State::found, "by_loader/libcupti.so.12 (version 12)");
  file("home/lib64/libcupti.so.13", "");
  options_.cuda.home = folder_.path() / "home";
  expect("CUPTI", State::found, "home/lib64/libcupti.so.13");
  options_.cuda.cupti = folder_.path() / "my_own.so";
  expect("CUPTI", State::trouble, "LLMPROF_CUPTI names a file that does not exist", "unset");
  file("my_own.so", "");
  expect("CUPTI", State::found, "my_own.so");
}

TEST_F(Doctor, SaysWhetherTheCollectorHasItsCudaHalf) {
  expect("collector for CUDA", State::missing, "no collector", "see collector");
  // The entry point for NVTX alone is not CUDA tracing, although its name starts the same.
  file("llmprof/lib/libllmprof_collector.so", std::string("\x7f"
                                                          "ELF\0InitializeInjectionNvtx2\0",
                                                          30));
  expect("collector for CUDA", State::missing, "not built in", "LLMPROF_CUPTI_INCLUDE");
  file("llmprof/lib/libllmprof_collector.so", std::string("\x7f"
                                                          "ELF\0InitializeInjection\0rest",
                                                          29));
  expect("collector for CUDA", State::found, "built in");
}

TEST_F(Doctor, SaysThatAnotherLibraryIsInCudasWayAndNotWhich) {
  expect("CUDA injection", State::found, "not set");
  options_.cuda.injection = "/a/private/lib.so";
  expect("CUDA injection", State::trouble, "CUDA_INJECTION64_PATH is set", "unset");
  EXPECT_FALSE(contains(probe("CUDA injection").detail, "private"));
  options_.cuda.injection = "/opt/llmprof/lib/libllmprof_collector.so";
  expect("CUDA injection", State::found, "the collector itself");
}

TEST(CudaHere, AnyTraceOfADriverWillDo) {
  const TemporaryFolder folder;
  ToolSearch search;
  search.root = folder.path();
  EXPECT_FALSE(has_nvidia_driver(search));
  std::filesystem::create_directories(folder.path() / "dev");
  folder.write("dev/nvidiactl", "");
  EXPECT_TRUE(has_nvidia_driver(search));
}

// As nvidia-modprobe leaves it on a machine without a driver: opening it fails with ENXIO.
TEST(CudaHere, ANodeWithoutADriverIsNone) {
  const TemporaryFolder folder;
  ToolSearch search;
  search.root = folder.path();
  std::filesystem::create_directories(folder.path() / "dev");
  const std::string node = (folder.path() / "dev/nvidiactl").string();
  ASSERT_EQ(mknod(node.c_str(), S_IFSOCK | S_IRUSR, 0), 0);
  EXPECT_FALSE(has_nvidia_driver(search));
}

TEST_F(Doctor, AsksPythonForTorch) {
  const auto python = [&](std::string_view torch, std::string_view transformers) {
    program("bin/python3", "case \"$*\" in --version) echo Python 3.12.3 ;; *torch*) echo '" +
                               std::string(torch) + "' ;; *transformers*) echo '" +
                               std::string(transformers) + "' ;; esac");
  };
  python("torch 2.11.0 cuda 13.0", "5.17.0");
  expect("Python", State::found, "bin/python3 (Python 3.12.3)");
  expect("torch", State::found, "2.11.0, sees a GPU through CUDA 13.0");
  expect("transformers", State::found, "5.17.0");
  python("torch 2.11.0+cpu cpu None", "none");
  expect("torch", State::found, "2.11.0+cpu, sees no GPU");
  expect("transformers", State::missing, "not installed", "pip install transformers");
  python("broken ImportError libcudart.so.13: cannot open shared object file", "none");
  expect("torch", State::trouble, "libcudart.so.13", "pip install torch");
  python("none", "none");
  expect("torch", State::missing, "not installed", "python3 -m pip install torch");
}

TEST_F(Doctor, KnowsWhetherNsysMaySample) {
  file("root/proc/sys/kernel/perf_event_paranoid", "2\n");
  expect("CPU sampling", State::found, "perf_event_paranoid 2");
  file("root/proc/sys/kernel/perf_event_paranoid", "4\n");
  expect("CPU sampling", State::trouble, "perf_event_paranoid 4",
         "sysctl kernel.perf_event_paranoid=2");
}

}  // namespace
}  // namespace llmprof::capture
