#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nest/cluster/imports/nvidia_smi.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

const std::string kHead = "      GPU0  GPU1  NIC0  NIC1  CPU Affinity  NUMA Affinity\n";

ImportFacts read(const std::string& text, const std::string& accelerator = "") {
  return read_nvidia_topo({"t.txt", text}, accelerator);
}

TEST(NvidiaTopo, NicsThatAreNearestToSomeGpu) {
  const ImportFacts shared =
      read(kHead + "GPU0  X  NV18  PIX  SYS  0-7  0\nGPU1  NV18  X  PIX  SYS  0-7  0\n");
  EXPECT_EQ(shared.node->nics, 1);
  const ImportFacts own = read(kHead + "GPU0  X  NV18  PIX  SYS  0-7  0\nGPU1  NV18  X  SYS  PXB  0-7  0\n");
  EXPECT_EQ(own.node->nics, 2);
  EXPECT_THAT(own.node->device_names, ElementsAre("gpu0", "gpu1"));
}

TEST(NvidiaTopo, TheListBeforeTheMatrixNamesTheGpu) {
  const ImportFacts facts =
      read("GPU 0: NVIDIA H200 (UUID: GPU-1)\n" + kHead + "GPU0 X NV18 PIX SYS\nGPU1 NV18 X PIX SYS\n");
  EXPECT_EQ(facts.node->accelerator, "h200");
  EXPECT_TRUE(facts.notes.assumed.empty());
  EXPECT_THAT(
      read(kHead + "GPU0 X NV12 PIX SYS\nGPU1 NV12 X PIX SYS\n").notes.assumed,
      ElementsAre(
          "a100-80 by its 12 NVLinks (the A100 with 40 GB has 12 as well); --accelerator says otherwise"));
}

TEST(NvidiaTopo, OldHeadsAndOneGpu) {
  const ImportFacts old = read(
      "        GPU0    GPU1    mlx5_0  CPU Affinity\nGPU0     X      NV6   PHB  0-1\nGPU1     NV6   X   SOC  "
      "0-1\n");
  EXPECT_EQ(old.node->accelerator, "v100");
  EXPECT_EQ(read("        GPU0    CPU Affinity    NUMA Affinity\nGPU0     X      0-15    0\n", "h100-sxm")
                .node->devices,
            1);
  EXPECT_FALSE(is_nvidia_topo("GPU0     X      NV6   PHB  0-1\n"));
}

TEST(NvidiaTopo, Mistakes) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read(text, "h100-sxm")); });
  };
  EXPECT_EQ(refusal(kHead + "GPU0 X NV18 PIX SYS\n"), "t.txt: the row of GPU1 is missing");
  EXPECT_EQ(
      refusal(kHead + "GPU0 X NVX PIX SYS\nGPU1 NVX X PIX SYS\n"),
      "t.txt: line 1: 'NVX' is no way between GPUs; nvidia-smi writes NV1.., PIX, PXB, PHB, NODE or SYS");
  EXPECT_EQ(refusal("GPU0 GPU0 CPU\nGPU0 X X\n"), "t.txt: line 1: two columns have one name");
  EXPECT_EQ(refusal("nothing\n"),
            "t.txt: no matrix of GPUs; nvidia-smi topo -m prints one, with the head GPU0 GPU1 ..");
}

}  // namespace
}  // namespace nest::cluster
