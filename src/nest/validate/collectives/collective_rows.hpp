// A table of published collective measurements (one row each, with its source), and for each row the cluster
// that it was measured on, as far as the row says.
//
//   id,source,collective,hardware,num_gpus,num_nodes,gpus_per_node,intra_link,inter_link,algo,message_bytes,time_us,..
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/model/graph/operator.hpp"

namespace nest::validate {

// As the file has it; numbers are absent where the field is empty.
struct CollectiveRow {
  std::string id, source, collective, hardware, intra_link, inter_link, algorithm, notes;
  std::optional<double> devices, nodes, devices_per_node, message_bytes, time_us, algorithm_gb_per_s,
      bus_gb_per_s;
};

// Columns are found by their names. Throws an InputError where one is missing or a number is none.
[[nodiscard]] std::vector<CollectiveRow> read_collective_rows(const std::string& file, std::string_view text);

// "all_reduce_perf", "psum", "alltoall": what a benchmark calls a collective; none where it is none of ours.
[[nodiscard]] CollectiveKind collective_named(std::string_view text);
// A bus bandwidth over the rate at which a message of n members is done.
[[nodiscard]] double bus_factor(CollectiveKind kind, double members);

// A row as a question to the model.
struct CollectiveCase {
  CollectiveKind kind = CollectiveKind::none;
  Bytes message;
  std::int32_t devices = 0;
  Seconds measured;
  std::optional<Cluster> cluster;
  std::vector<std::string> fabrics;  // one for each level
  bool large = false;                // the size is not printed: "large", taken as kLargeMessage
};
inline constexpr Bytes kLargeMessage{std::int64_t{8} << 30};

struct CollectiveCaseOr {
  std::optional<CollectiveCase> found;
  std::string why_not;  // where there is none
};
[[nodiscard]] CollectiveCaseOr collective_case(const CollectiveRow& row);

}  // namespace nest::validate
