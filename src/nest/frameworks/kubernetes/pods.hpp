// Which pod runs which ranks. A pod takes a whole host; hosts with the same number of devices are the pods of
// one Indexed Job, whose completion index counts them domain by domain: Kueue gives pods their places in that
// order, so that pods of one domain of the plan get one domain of the cluster.
//
//   # job index node_rank ranks devices
//   hosts 0 0 0-3,16-19 4,5,6,7,0,1,2,3
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

struct PodJob {
  std::string name;                // "hosts", or "hosts-8" where there are several
  std::int64_t devices = 0;        // of each pod
  std::vector<std::size_t> hosts;  // into RankMap::hosts, by completion index
};
// The largest hosts first.
[[nodiscard]] std::vector<PodJob> pod_jobs(const RankMap& map);

// The rows above in parts, each of which a ConfigMap has room for.
[[nodiscard]] std::vector<std::string> pod_tables(const RankMap& map, const std::vector<PodJob>& jobs);

// "nest-llama3-1-8b-hosts-0-3": the name of the pod of rank 0, by which a headless service finds it.
[[nodiscard]] std::string master_pod(const std::string& job_set, const RankMap& map,
                                     const std::vector<PodJob>& jobs);

// Ascending numbers as ranges: "0-3,16-19,32".
[[nodiscard]] std::string spell_ranges(const std::vector<std::int64_t>& numbers);

}  // namespace nest::frameworks
