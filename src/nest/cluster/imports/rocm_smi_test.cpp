#include "nest/cluster/imports/rocm_smi.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

const std::string kTypes =
    "==== Link Type between two GPUs ====\n       GPU0   GPU1\nGPU0   0   XGMI\nGPU1   XGMI   0\n";

TEST(RocmSmi, TypesAndProduct) {
  const NodeFacts node = *read_rocm_topo({"t.txt", kTypes}, "").node;
  EXPECT_EQ(node.accelerator, "mi300x");
  EXPECT_EQ(node.levels.front().kind, LevelKind::fully_connected);
  EXPECT_DOUBLE_EQ(node.levels.front().bandwidth.value, 64e9);
  EXPECT_EQ(
      read_rocm_topo({"t.txt", "GPU[0] : Card Series: AMD Instinct MI325X\n" + kTypes}, "").node->accelerator,
      "mi325x");
}

TEST(RocmSmi, HopsMakeLinksSlower) {
  const std::string hops =
      "==== Hops between two GPUs ====\n       GPU0   GPU1\nGPU0   0   2\nGPU1   2   0\n";
  EXPECT_DOUBLE_EQ(read_rocm_topo({"t.txt", hops + kTypes}, "").node->levels.front().bandwidth.value, 32e9);
}

TEST(RocmSmi, Mistakes) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read_rocm_topo({"t.txt", text}, "")); });
  };
  EXPECT_EQ(refusal("==== Link Type between two GPUs ====\n"),
            "t.txt: no table of link types; rocm-smi --showtopo prints 'Link Type between two GPUs'");
  EXPECT_EQ(refusal("==== Link Type between two GPUs ====\nGPU0   0   XGMI\nGPU2   XGMI   XGMI\n"),
            "t.txt: no link type between GPU0 and GPU1");
  EXPECT_EQ(refusal("==== Link Type between two GPUs ====\nGPU99   0   XGMI\n"),
            "t.txt: line 2: more than 64 GPUs in one host");
}

}  // namespace
}  // namespace nest::cluster
