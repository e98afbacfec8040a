#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "nest/base/document/document.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/reduce/reduce.hpp"
#include "nest/cluster/reduce/test_networks.hpp"

namespace nest::cluster {
namespace {

using testing_networks::grid;

TEST(ReductionValue, TheReportNamesTheWorstPairAndTheAttempts) {
  const Reduction r = reduce_graph(grid({8, 8}, true, 50e9, 1e-6));
  const std::string json = to_json(reduction_value(r));
  EXPECT_THAT(json, testing::HasSubstr("\"method\": \"dimensions\""));
  EXPECT_THAT(json, testing::HasSubstr("\"worst_pair\": ["));
  EXPECT_THAT(json, testing::HasSubstr("\"exact_grid_dims\": [8, 8]"));
  const std::string csv = pair_errors_csv(r);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 64 * 63 / 2);
  // The cluster inside reads back as a cluster file.
  const Value value = reduction_value(r);
  const Cluster back = read_cluster(parse_document("x.json", to_json(*value.find("cluster"))));
  EXPECT_EQ(back.levels(), r.cluster.levels());
}

}  // namespace
}  // namespace nest::cluster
