#include "nest/cluster/slices.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::cluster {
namespace {

using Dims = std::vector<std::vector<std::int32_t>>;

Dims dims_of(const std::vector<Level>& levels) {
  Dims all;
  for (const Level& level : levels) all.push_back(level.dims);
  return all;
}

// Google Cloud's page on v5e lists 2x2, 2x4, 4x4, 4x8, 8x8, 8x16 and 16x16 (and 1x1).
TEST(Slices, OfAPodOfV5e) {
  const Cluster pod = catalog_cluster("tpu-v5e-256");
  const std::vector<Level> slices = slices_of(pod.levels()[0], pod.accelerator().scale_up.wraps_from);
  EXPECT_EQ(dims_of(slices), (Dims{{2, 2}, {2, 4}, {4, 4}, {4, 8}, {8, 8}, {8, 16}, {16, 16}}));
  // As the files of the catalogue say: only the side of 16 closes.
  EXPECT_EQ(slices[5].wrap, catalog_cluster("tpu-v5e-128").levels()[0].wrap);
  EXPECT_EQ(slices[4].wrap, catalog_cluster("tpu-v5e-64").levels()[0].wrap);
}

TEST(Slices, CubesOfV5pClose) {
  const Cluster pod = catalog_cluster("tpu-v5p-256");
  const std::vector<Level> slices = slices_of(pod.levels()[0], pod.accelerator().scale_up.wraps_from);
  EXPECT_EQ(dims_of(slices), (Dims{{1, 2, 2}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}, {4, 4, 4}, {4, 4, 8}}));
  EXPECT_EQ(slices[4].wrap, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(slices[3].wrap, (std::vector<bool>{false, true, true}));
}

TEST(Slices, WhatIsRented) {
  const Cluster pod = catalog_cluster("tpu-v5e-256");
  EXPECT_EQ(rented_of_domain(pod, 256, 0), 0);
  EXPECT_EQ(rented_of_domain(pod, 256, 1), 4);
  EXPECT_EQ(rented_of_domain(pod, 256, 64), 64);
  EXPECT_EQ(rented_of_domain(pod, 256, 65), 128);
  EXPECT_EQ(rented_of_domain(pod, 256, 129), 256);
  // A node is not sold in parts.
  EXPECT_EQ(rented_of_domain(catalog_cluster("h100-spine-leaf"), 8, 3), 8);
}

TEST(Slices, AsClusters) {
  const std::vector<Cluster> some = smaller_slices(catalog_cluster("tpu-v5e-256"), 40);
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].devices(), 64);
  EXPECT_EQ(some[1].devices(), 128);
  EXPECT_EQ(some[0].levels()[0], catalog_cluster("tpu-v5e-64").levels()[0]);
  const std::vector<Cluster> one = smaller_slices(catalog_cluster("tpu-v5e-multislice"), 128);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].levels().size(), 1U);
  EXPECT_TRUE(smaller_slices(catalog_cluster("h100-spine-leaf"), 1).empty());
}

}  // namespace
}  // namespace nest::cluster
