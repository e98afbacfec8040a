#include "nest/simulate/traffic/prune.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace nest::simulate {
namespace {

double rate_of(const JobPhase& phase, const LinkUse& use) {
  return phase.transfer_s > 0 ? use.bytes / phase.transfer_s : 0;
}

// The most that streams could ask of each link at once.
std::vector<double> most_demand(std::size_t links, std::span<const Exclusive> streams) {
  std::vector<double> demand(links);
  std::vector<double> of_stream(links);
  std::vector<std::size_t> touched;
  for (const Exclusive& stream : streams) {
    touched.clear();
    for (const Job* job : stream.jobs) {
      for (const JobPhase& phase : job->phases) {
        for (const LinkUse& use : phase.uses) {
          double& most = of_stream[use.link.index()];
          if (most == 0) touched.push_back(use.link.index());
          most = std::max(most, rate_of(phase, use));
        }
      }
    }
    for (const std::size_t link : touched) {
      demand[link] += stream.at_once * of_stream[link];
      of_stream[link] = 0;
    }
  }
  return demand;
}

// What a link sees: its capacity and who loads it how much.
using View = std::vector<std::uint64_t>;
struct ViewHash {
  std::size_t operator()(const View& view) const {
    std::uint64_t hash = 1469598103934665603ULL;
    for (const std::uint64_t word : view) hash = (hash ^ word) * 1099511628211ULL;
    return static_cast<std::size_t>(hash ^ (hash >> 29));
  }
};

std::uint64_t bits(double value) {
  std::uint64_t out = 0;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

}  // namespace

std::size_t prune_links(const LinkTable& links, std::span<const Exclusive> streams) {
  const std::vector<double> demand = most_demand(links.size(), streams);
  std::vector<View> views(links.size());
  std::vector<bool> narrow(links.size());
  for (std::size_t l = 0; l < links.size(); ++l) {
    const double capacity = links.capacity(LinkId{static_cast<std::int32_t>(l)}).value;
    narrow[l] = demand[l] > capacity * (1 + 1e-9);
    if (narrow[l]) views[l].push_back(bits(capacity));
  }
  std::uint64_t phase_id = 0;
  for (const Exclusive& stream : streams) {
    for (const Job* job : stream.jobs) {
      for (const JobPhase& phase : job->phases) {
        ++phase_id;
        for (const LinkUse& use : phase.uses) {
          View& view = views[use.link.index()];
          if (!narrow[use.link.index()]) continue;
          view.push_back(phase_id);
          view.push_back(bits(rate_of(phase, use)));
        }
      }
    }
  }
  std::unordered_map<View, std::size_t, ViewHash> first;
  std::size_t kept = 0;
  for (std::size_t l = 0; l < views.size(); ++l) {
    if (!narrow[l]) continue;
    narrow[l] = first.emplace(std::move(views[l]), l).second;
    if (narrow[l]) ++kept;
  }
  for (const Exclusive& stream : streams) {
    for (Job* job : stream.jobs) {
      for (JobPhase& phase : job->phases) {
        phase.loads.clear();
        for (const LinkUse& use : phase.uses) {
          const double rate = rate_of(phase, use);
          if (narrow[use.link.index()] && rate > 0) phase.loads.push_back({use.link, rate});
        }
      }
    }
  }
  return kept;
}

}  // namespace nest::simulate
