#include "nest/cluster/drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::cluster {
namespace {

using testing::HasSubstr;

TEST(Drawing, EveryLevelIsLabelledWithItsFigures) {
  const std::string svg = cluster_svg(catalog_cluster("h100-spine-leaf"));
  EXPECT_THAT(svg, HasSubstr("h100-spine-leaf: 1,024 × h100-sxm"));
  EXPECT_THAT(svg, HasSubstr("spine – switch of 32 × rack"));
  EXPECT_THAT(svg, HasSubstr("50 GB/s a device, 10 us, 4:1 oversubscribed"));
  EXPECT_THAT(svg, HasSubstr("node – switch of 8 × device"));
  EXPECT_THAT(svg, HasSubstr("bisection 6.4 TB/s"));
}

TEST(Drawing, TheLargestStaysSmall) {
  const std::string svg = cluster_svg(catalog_cluster("mega-131072"));
  EXPECT_LT(svg.size(), 20'000U);
  EXPECT_THAT(svg, HasSubstr("campus – switch of 16 × hall"));
}

TEST(Drawing, ToriShowTheirGridAndWhatWraps) {
  const std::string svg = cluster_svg(catalog_cluster("tpu-v5p-256"));
  EXPECT_THAT(svg, HasSubstr("slice – torus 4 × 4 × 8 = 128 × device"));
  EXPECT_THAT(svg, HasSubstr("every side wraps"));
  EXPECT_THAT(svg, HasSubstr("× 8 layers"));
  EXPECT_THAT(cluster_svg(catalog_cluster("tpu-v5e-128")), HasSubstr("wraps on the side of 16"));
}

TEST(Drawing, UnevenLevelsGiveTheRange) {
  EXPECT_THAT(cluster_svg(catalog_cluster("dgx-h100-superpod-127")),
              HasSubstr("scalable-unit – switch of 31 to 32 × node"));
}

TEST(Drawing, EveryCataloguedClusterCanBeDrawn) {
  for (const std::string& name : cluster_names()) {
    EXPECT_THAT(cluster_svg(catalog_cluster(name)), testing::StartsWith("<svg ")) << name;
  }
}

}  // namespace
}  // namespace nest::cluster
