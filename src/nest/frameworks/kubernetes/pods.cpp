#include "nest/frameworks/kubernetes/pods.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "nest/frameworks/common/allocation.hpp"

namespace nest::frameworks {
namespace {

// A ConfigMap holds 1 MiB, its launcher included.
constexpr std::size_t kMostBytes = 900'000;

}  // namespace

std::vector<PodJob> pod_jobs(const RankMap& map) {
  std::map<std::int64_t, std::vector<std::size_t>, std::greater<>> by_devices;
  for (const std::size_t host : hosts_by_domain(map)) by_devices[map.hosts[host].devices].push_back(host);
  std::vector<PodJob> jobs;
  for (auto& [devices, hosts] : by_devices) {
    const std::string name = by_devices.size() == 1 ? "hosts" : fmt::format("hosts-{}", devices);
    jobs.push_back({name, devices, std::move(hosts)});
  }
  return jobs;
}

std::string spell_ranges(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    out += fmt::format("{}{}", out.empty() ? "" : ",", numbers[i]);
    if (end - i > 1) out += fmt::format("-{}", numbers[end - 1]);
    i = end;
  }
  return out;
}

std::vector<std::string> pod_tables(const RankMap& map, const std::vector<PodJob>& jobs) {
  const std::string head = "# job index node_rank ranks devices\n";
  std::vector<std::string> tables{head};
  for (const PodJob& job : jobs) {
    for (std::size_t index = 0; index < job.hosts.size(); ++index) {
      const HostRow& host = map.hosts[job.hosts[index]];
      if (tables.back().size() > kMostBytes) tables.push_back(head);
      tables.back() += fmt::format("{} {} {} {} {}\n", job.name, index, job.hosts[index],
                                   spell_ranges(host.ranks), fmt::join(host.local_devices, ","));
    }
  }
  return tables;
}

std::string master_pod(const std::string& job_set, const RankMap& map, const std::vector<PodJob>& jobs) {
  std::string out;
  for (const PodJob& job : jobs) {
    const auto at = std::find(job.hosts.begin(), job.hosts.end(), map.ranks.front().host);
    if (at != job.hosts.end()) out = fmt::format("{}-{}-0-{}", job_set, job.name, at - job.hosts.begin());
  }
  return out;
}

}  // namespace nest::frameworks
