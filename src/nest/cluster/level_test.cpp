#include "nest/cluster/level.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"

namespace nest::cluster {
namespace {

Level read(const std::string& yaml) {
  const Document document = parse_document("x.yaml", yaml);
  Reader r(document);
  return read_level(r);
}

std::string error_of(const std::string& yaml) {
  try {
    (void)read(yaml);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Level, ASwitchIsTheDefaultKind) {
  const Level level = read("{name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}");
  EXPECT_EQ(level.kind, LevelKind::switched);
  EXPECT_EQ(level.fan_out.size, 8);
  EXPECT_EQ(level.bandwidth.value, 450e9);
  EXPECT_EQ(level.oversubscription, 1);
  EXPECT_EQ(level.hops(0, 7, 8), 1);
  EXPECT_EQ(level.links(8), 1);
}

TEST(Level, ATorusCountsHopsTheShorterWayRound) {
  const Level torus = read("{name: slice, kind: torus, dims: [4, 4, 8], bandwidth: 600 GB/s, latency: 1 us}");
  EXPECT_EQ(torus.fan_out.size, 128);
  EXPECT_EQ(torus.links(128), 6);
  EXPECT_EQ(torus.hops(0, 3, 128), 1);  // x: 0 to 3 is one step round
  EXPECT_EQ(torus.hops(0, 2 + 4 * 2 + 16 * 4, 128), 2 + 2 + 4);
  EXPECT_EQ(torus.hops(1, 1, 128), 0);
}

TEST(Level, WrapIsPerDimensionAndAMeshHasNone) {
  const Level part =
      read("{name: s, kind: torus, dims: [8, 16], wrap: [false, true], bandwidth: 1 GB/s, latency: 1 us}");
  EXPECT_EQ(part.hops(0, 7, 128), 7);
  EXPECT_EQ(part.hops(0, 8 * 15, 128), 1);
  const Level mesh = read("{name: s, kind: mesh, dims: [8, 16], bandwidth: 1 GB/s, latency: 1 us}");
  EXPECT_EQ(mesh.hops(0, 127, 128), 7 + 15);
}

TEST(Level, RingAndFullyConnected) {
  const Level ring = read("{name: r, kind: ring, size: 6, bandwidth: 1 GB/s, latency: 1 us}");
  EXPECT_EQ(ring.hops(0, 5, 6), 1);
  EXPECT_EQ(ring.hops(0, 3, 6), 3);
  EXPECT_EQ(ring.links(6), 2);
  const Level full = read("{name: f, kind: fully_connected, size: 8, bandwidth: 448 GB/s, latency: 1 us}");
  EXPECT_EQ(full.links(8), 7);
  EXPECT_EQ(full.hops(0, 5, 8), 1);
}

TEST(Level, DimensionsOfOneHaveNoLinks) {
  const Level flat = read("{name: s, kind: torus, dims: [2, 2, 1], bandwidth: 180 GB/s, latency: 1 us}");
  EXPECT_EQ(flat.links(4), 4);
}

TEST(Level, OversubscriptionMayBeARatio) {
  const auto level = [](const std::string& ratio) {
    return "{name: a, size: 8, bandwidth: 1 GB/s, latency: 1 us, oversubscription: " + ratio + "}";
  };
  EXPECT_EQ(read(level("4:1")).oversubscription, 4);
  EXPECT_EQ(read(level("'3:2'")).oversubscription, 1.5);
  EXPECT_EQ(error_of(level("4:0")),
            "x.yaml: line 1, oversubscription: '4:0' is not a ratio; write it like '4:1' or 4");
  EXPECT_EQ(error_of(level("four:1")),
            "x.yaml: line 1, oversubscription: 'four:1' is not a ratio; write it like '4:1' or 4");
  EXPECT_EQ(error_of(level("'4'")),
            "x.yaml: line 1, oversubscription: a number is expected, not the text '4'; remove the quotes");
}

TEST(Level, OtherJobsLeaveTheRest) {
  const auto level = [](const std::string& share) {
    return "{name: a, size: 8, bandwidth: 50 GB/s, latency: 1 us, background: " + share + "}";
  };
  EXPECT_DOUBLE_EQ(read(level("20 %")).rate().value, 40e9);
  EXPECT_DOUBLE_EQ(read(level("0.5")).rate().value, 25e9);
  EXPECT_EQ(read(level("0")), read("{name: a, size: 8, bandwidth: 50 GB/s, latency: 1 us}"));
  for (const char* share : {"1", "-0.1", "100 %"}) {
    EXPECT_EQ(error_of(level(share)),
              "x.yaml: line 1, background: other jobs take a share from 0 to below 1; 0.2 means that a fifth "
              "of the "
              "bandwidth is theirs");
  }
  EXPECT_EQ(error_of(level("half")),
            "x.yaml: line 1, background: 'half' is not a share; write it like '20 %' or 0.2");
}

TEST(Level, LinksThatLeadNowhere) {
  const std::string rest = ", links: 7, bandwidth: 448 GB/s, latency: 1 us}";
  EXPECT_EQ(read("{name: a, kind: fully_connected, size: 6" + rest).links(6), 7);
  EXPECT_EQ(error_of("{name: a, kind: fully_connected, size: 9" + rest),
            "x.yaml: line 1, links: a device has a link to each of 8 others; 'links' is at least 8");
  EXPECT_EQ(error_of("{name: a, size: 6" + rest),
            "x.yaml: line 1, links: 'links' is for fully_connected levels");
}

TEST(Level, WrittenFormReadsBackTheSame) {
  for (const char* yaml :
       {"{name: a, size: 8, bandwidth: 450 GB/s, latency: 1 us, oversubscription: 2.5}",
        "{name: a, size: 8, bandwidth: 450 GB/s, latency: 1 us, in_network_reduction: true}",
        "{name: a, size: 8, bandwidth: 450 GB/s, latency: 30 ms, background: 12.5 %}",
        "{name: a, kind: fully_connected, sizes: [8, 7], links: 7, bandwidth: 448 GB/s, latency: 1 us}",
        "{name: a, sizes: [3, 4, 4], bandwidth: 450 GB/s, latency: 1 us}",
        "{name: a, kind: torus, dims: [8, 16], wrap: [false, true], bandwidth: 1 GB/s, latency: 0}",
        "{name: a, kind: mesh, dims: [8, 16], size: 128, bandwidth: 1 GB/s, latency: 3 ns}",
        "{name: a, kind: ring, size: 5, bandwidth: 1 GB/s, latency: 3 ns}"}) {
    const Level level = read(yaml);
    EXPECT_EQ(read(to_json(level_file_value(level))), level) << yaml;
  }
}

TEST(Level, MistakesAreNamed) {
  const std::string rest = ", bandwidth: 1 GB/s, latency: 1 us}";
  EXPECT_EQ(error_of("{name: a, size: 8, bandwith: 1 GB/s, latency: 1 us}"),
            "x.yaml: line 1: unknown key 'bandwith'; did you mean 'bandwidth'?");
  EXPECT_EQ(error_of("{name: a, kind: swich, size: 8" + rest),
            "x.yaml: line 1, kind: 'swich' is none of switch, ring, mesh, torus, fully_connected; did you "
            "mean 'switch'?");
  EXPECT_EQ(error_of("{name: a, size: 8, sizes: [8]" + rest),
            "x.yaml: line 1, sizes: either 'size' or 'sizes' is expected, not both");
  EXPECT_EQ(error_of("{name: a, size: 0" + rest), "x.yaml: line 1, size: 0 is outside 1 to 16,777,216");
  EXPECT_EQ(error_of("{name: a" + rest),
            "x.yaml: line 1: the key 'size' is missing; it holds a whole number");
  EXPECT_EQ(error_of("{name: a, kind: torus, size: 8" + rest),
            "x.yaml: line 1: the key 'dims' is missing; it holds a list of whole numbers");
  EXPECT_EQ(error_of("{name: a, kind: torus, dims: [4, 4], size: 8" + rest),
            "x.yaml: line 1, size: the size is 8, but 'dims' make 16");
  EXPECT_EQ(error_of("{name: a, kind: torus, dims: [4, 4], wrap: [true]" + rest),
            "x.yaml: line 1, wrap: 'wrap' has 1 entry, 'dims' 2");
  EXPECT_EQ(error_of("{name: a, kind: mesh, dims: [4, 4], wrap: [true, true]" + rest),
            "x.yaml: line 1, wrap: a mesh has no wrap-around links; use kind: torus");
  EXPECT_EQ(error_of("{name: a, size: 8, dims: [4, 2]" + rest),
            "x.yaml: line 1, dims: 'dims' is for meshes and tori; this level is a switch");
  EXPECT_EQ(error_of("{name: a, size: 8, oversubscription: 0.5" + rest),
            "x.yaml: line 1, oversubscription: oversubscription is at least 1; 4 means that a child's uplink "
            "carries a "
            "quarter of what its devices can send");
  EXPECT_EQ(error_of("{name: a, kind: ring, size: 8, oversubscription: 2" + rest),
            "x.yaml: line 1, oversubscription: oversubscription is for switch and fully_connected levels; "
            "the links of "
            "a ring already say what it carries");
  EXPECT_EQ(error_of("{name: a, size: 8, bandwidth: 0, latency: 1 us}"),
            "x.yaml: line 1, bandwidth: the bandwidth must be above 0");
  EXPECT_EQ(error_of("{name: a, size: 8, bandwidth: 50 GBs, latency: 1 us}"),
            "x.yaml: line 1, bandwidth: '50 GBs' is not a bandwidth; did you mean 'GB/s'?");
  EXPECT_EQ(error_of("{name: a, size: 8, bandwidth: 50 GB/s, latency: -1 us}"),
            "x.yaml: line 1, latency: '-1 us' is negative");
}

}  // namespace
}  // namespace nest::cluster
