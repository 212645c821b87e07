#include "capture/launcher.h"

#include <gtest/gtest.h>

namespace llmprof::capture {
namespace {

using Argv = std::vector<std::string>;

std::optional<uint64_t> ranks_of(const Argv& argv) {
  const auto launcher = find_launcher(argv);
  return launcher ? launcher->ranks : std::nullopt;
}

TEST(FindLauncher, KnowsThoseOfMpiTorchAndSlurm) {
  EXPECT_EQ(find_launcher({"/usr/bin/mpirun", "-n", "2", "prog"})->kind, LauncherKind::mpi);
  EXPECT_EQ(find_launcher({"mpiexec.hydra", "-n", "2", "prog"})->kind, LauncherKind::mpi);
  EXPECT_EQ(find_launcher({"torchrun", "serve.py"})->kind, LauncherKind::torchrun);
  EXPECT_EQ(find_launcher({"srun", "prog"})->kind, LauncherKind::srun);
  EXPECT_EQ(find_launcher({"python3.12", "-u", "-m", "torch.distributed.run", "a.py"})->kind,
            LauncherKind::torchrun);
  EXPECT_EQ(find_launcher({"env", "-i", "A=1", "mpirun", "prog"})->name, "mpirun");
  EXPECT_FALSE(find_launcher({"python3", "mpirun.py"}));
  EXPECT_FALSE(find_launcher({"python3", "-m", "vllm", "serve"}));
  EXPECT_FALSE(find_launcher({"env"}));
  EXPECT_FALSE(find_launcher({}));
}

TEST(FindLauncher, CountsTheRanksOfMpi) {
  EXPECT_EQ(ranks_of({"mpirun", "-n", "4", "prog", "-n", "64"}), 4U);
  EXPECT_EQ(ranks_of({"mpirun", "--np=3", "prog"}), 3U);
  EXPECT_EQ(ranks_of({"mpirun", "--mca", "btl", "self", "-np", "2", "prog"}), 2U);
  EXPECT_EQ(ranks_of({"mpirun", "--some-option", "value", "-np", "2", "prog"}), 2U);
  EXPECT_EQ(ranks_of({"mpirun", "-n", "1", "/bin/a", ":", "-n", "3", "/bin/b"}), 4U);
}

TEST(FindLauncher, DoesNotTakeAProgramsOptionsForItsOwn) {
  EXPECT_EQ(ranks_of({"mpirun", "sh", "-n", "64"}), std::nullopt);
  EXPECT_EQ(ranks_of({"mpirun", "--some-option", "sh", "-n", "64"}), std::nullopt);
  EXPECT_EQ(ranks_of({"mpirun", "-n", "two", "prog"}), std::nullopt);
  EXPECT_EQ(ranks_of({"mpirun", "-n", "2", "prog", ":", "other"}), std::nullopt);
  EXPECT_EQ(ranks_of({"srun", "sh", "-n", "64"}), std::nullopt);
}

TEST(FindLauncher, CountsTheRanksOfTorchrun) {
  EXPECT_EQ(ranks_of({"torchrun", "--nproc-per-node", "8", "serve.py"}), 8U);
  EXPECT_EQ(ranks_of({"torchrun", "--standalone", "--nproc_per_node=2", "-m", "x"}), 2U);
  EXPECT_EQ(ranks_of({"torchrun", "serve.py", "--nproc-per-node", "8"}), 1U);
  EXPECT_EQ(ranks_of({"torchrun", "--nproc-per-node", "gpu", "serve.py"}), std::nullopt);
}

TEST(FindLauncher, KnowsALauncherPerMachine) {
  const auto launcher =
      find_launcher({"torchrun", "--nnodes=2", "--nproc-per-node=8", "--node-rank=1", "serve.py"});
  EXPECT_TRUE(launcher->one_of_several);
  EXPECT_EQ(launcher->ranks, std::nullopt) << "the others of the 16 are not missing";
  EXPECT_TRUE(starts_several_ranks(*launcher));
}

TEST(FindLauncher, CountsTheTasksOfSlurm) {
  EXPECT_EQ(ranks_of({"srun", "-N", "2", "-n", "16", "prog"}), 16U);
  EXPECT_EQ(ranks_of({"srun", "-n16", "prog"}), 16U);
  EXPECT_EQ(ranks_of({"srun", "--ntasks=4", "prog"}), 4U);
  EXPECT_EQ(ranks_of({"srun", "-N", "2", "prog"}), std::nullopt);
}

TEST(FindLauncher, OneRankIsNotSeveral) {
  EXPECT_FALSE(starts_several_ranks(*find_launcher({"mpirun", "-n", "1", "prog"})));
  EXPECT_TRUE(starts_several_ranks(*find_launcher({"srun", "-N", "2", "prog"})));
}

TEST(FindLauncher, SeesOtherMachines) {
  EXPECT_TRUE(find_launcher({"mpirun", "-H", "a:2,b:2", "prog"})->names_hosts);
  EXPECT_TRUE(find_launcher({"mpirun", "--hostfile=hosts", "prog"})->names_hosts);
  EXPECT_FALSE(find_launcher({"mpirun", "-n", "2", "prog", "-H"})->names_hosts);
}

}  // namespace
}  // namespace llmprof::capture
