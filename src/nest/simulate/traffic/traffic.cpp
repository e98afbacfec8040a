#include "nest/simulate/traffic/traffic.hpp"

#include <algorithm>
#include <utility>

namespace nest::simulate {
namespace {

void add_bytes(std::vector<LevelBytes>& list, LevelId level, double bytes) {
  for (LevelBytes& l : list) {
    if (l.level != level) continue;
    l.bytes += bytes;
    return;
  }
  list.push_back({level, bytes});
}

// Children with members of a group, and their domains, at one level.
struct Touched {
  std::int32_t child = 0;
  std::int32_t domain = 0;
};

std::vector<std::vector<Touched>> touched_by_level(const DeviceTree& tree, std::vector<DeviceId> group) {
  std::sort(group.begin(), group.end());
  std::vector<Touched> here;
  here.reserve(group.size());
  for (const DeviceId d : group) here.push_back({d.value, 0});
  std::vector<std::vector<Touched>> out;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    std::vector<Touched> outer;
    for (Touched& t : here) {
      t.domain = tree.parent_of(LevelId{l}, t.child);
      if (outer.empty() || outer.back().child != t.domain) outer.push_back({t.domain, 0});
    }
    out.push_back(std::move(here));
    here = std::move(outer);
  }
  return out;
}

// What passes through each child of a level: the phase's time, undone by what price makes of it. Children
// whose members are few are as loaded as full ones, since all hold the same part of the data.
double child_bytes(const CollectivePhase& phase, const GroupLevel& at, const LevelTerms& terms,
                   const CollectiveCost& cost, CollectiveKind kind) {
  if (cost.composition == Composition::flat) {
    return phase.transfer.value * at.link / (at.lone * terms.seconds_per_byte[0]);
  }
  const auto protocol = static_cast<std::size_t>(cost.protocol);
  const double over_links = (phase.transfer - phase.own).value;
  if (cost.composition == Composition::direct) {
    const auto& paces =
        kind == CollectiveKind::all_to_all ? terms.exchange_seconds_per_byte : terms.seconds_per_byte;
    return over_links / paces[protocol] * at.inside;
  }
  const bool reduces = phase.algorithm == Algorithm::in_network;
  const double pace = reduces ? terms.reduction_pace(at) : terms.seconds_per_byte[protocol];
  return over_links * at.fraction / (at.load * pace);
}

}  // namespace

void merge_uses(std::vector<LinkUse>& uses) {
  std::sort(uses.begin(), uses.end(), [](const LinkUse& a, const LinkUse& b) { return a.link < b.link; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (kept > 0 && uses[kept - 1].link == uses[i].link) {
      uses[kept - 1].bytes += uses[i].bytes;
    } else {
      uses[kept++] = uses[i];
    }
  }
  uses.resize(kept);
}

double Job::alone_s() const {
  double sum = 0;
  for (const JobPhase& phase : phases) sum += phase.latency_s + phase.transfer_s;
  return sum;
}

bool Job::shares() const {
  return std::any_of(phases.begin(), phases.end(), [](const JobPhase& p) { return !p.loads.empty(); });
}

Traffic::Traffic(const Cluster& cluster, const FabricConstants& constants)
    : cluster_(&cluster), model_(cluster, constants), links_(cluster, constants) {}

Routes Traffic::routes(const Cell& from, const Cell& to) {
  Routes out;
  for (std::size_t j = 0; j < to.size(); ++j) {
    const DeviceId a = from[j * from.size() / to.size()];
    const DeviceId b = to[j];
    if (a == b) continue;
    const std::vector<DeviceId> pair{a, b};
    const GroupShape shape = group_shape(*cluster_, pair);
    if (std::find(out.shapes.begin(), out.shapes.end(), shape) == out.shapes.end()) {
      out.shapes.push_back(shape);
    }
    for (const LinkUse& use : links_.path(a, b)) out.uses.push_back(use);
    add_bytes(out.by_level, shape.outermost().level, 1);
  }
  merge_uses(out.uses);
  return out;
}

Job Traffic::send(Bytes bytes, const Routes& routes) const {
  Job job;
  double longest = -1;
  for (const GroupShape& shape : routes.shapes) {
    const CollectiveCost cost = collective_cost(CollectiveKind::send, bytes, shape, model_);
    if (cost.total.value <= longest) continue;
    longest = cost.total.value;
    job.phases = {{.latency_s = (cost.launch + cost.latency).value, .transfer_s = cost.transfer.value}};
  }
  if (longest <= 0) return {};
  const auto size = static_cast<double>(bytes.value);
  for (const LinkUse& use : routes.uses) job.phases.front().uses.push_back({use.link, use.bytes * size});
  for (const LevelBytes& level : routes.by_level) job.by_level.push_back({level.level, level.bytes * size});
  return job;
}

Job Traffic::one_collective(CollectiveKind kind, Bytes bytes, const std::vector<DeviceId>& group,
                            double& total) {
  const GroupShape shape = group_shape(*cluster_, group);
  const CollectiveCost cost = collective_cost(kind, bytes, shape, model_);
  total = cost.total.value;
  Job job;
  if (total <= 0) return job;
  const auto touched = touched_by_level(cluster_->tree(), group);
  const bool in_turn = cost.composition == Composition::hierarchical;
  if (!in_turn) {
    job.phases = {{.latency_s = (cost.launch + cost.latency).value, .transfer_s = cost.transfer.value}};
  }
  for (const GroupLevel& at : shape.levels()) {
    // A flat ring has one phase in its price, whatever the levels that it runs over.
    const auto phase = cost.composition == Composition::flat
                           ? cost.phases.begin()
                           : std::find_if(cost.phases.begin(), cost.phases.end(),
                                          [&](const CollectivePhase& p) { return p.level == at.level; });
    if (phase == cost.phases.end()) continue;
    if (in_turn)
      job.phases.push_back({.latency_s = phase->latency.value, .transfer_s = phase->transfer.value});
    JobPhase& own = job.phases.back();
    const double through = child_bytes(*phase, at, model_.level(at.level), cost, kind);
    const std::vector<Touched>& children = touched[at.level.index()];
    const bool exchange = cost.composition == Composition::direct && kind == CollectiveKind::all_to_all;
    const auto pattern = exchange ? LinkTable::Pattern::exchange : LinkTable::Pattern::rings;
    std::vector<std::int32_t> members;
    for (std::size_t first = 0; first < children.size(); first += members.size()) {
      members.clear();
      for (std::size_t i = first; i < children.size() && children[i].domain == children[first].domain; ++i)
        members.push_back(children[i].child);
      if (members.size() < 2) continue;
      for (const LinkUse& use : links_.group_links(at.level, members, pattern)) {
        // Alone it is never slower than its price, whatever the price leaves out.
        const double most = links_.capacity(use.link).value * own.transfer_s;
        own.uses.push_back({use.link, std::min(use.bytes * through, most)});
      }
      add_bytes(job.by_level, at.level, through * static_cast<double>(members.size()));
    }
  }
  for (JobPhase& phase : job.phases) merge_uses(phase.uses);
  return job;
}

Job Traffic::collective(CollectiveKind kind, Bytes bytes, std::span<const std::vector<DeviceId>> groups) {
  Job slowest;
  double longest = 0;
  std::vector<Job> others;
  for (const std::vector<DeviceId>& group : groups) {
    double total = 0;
    Job job = one_collective(kind, bytes, group, total);
    if (total > longest) {
      longest = total;
      std::swap(job, slowest);
    }
    if (!job.phases.empty()) others.push_back(std::move(job));
  }
  for (const Job& other : others) {
    for (std::size_t i = 0; i < other.phases.size(); ++i) {
      // Phases of a group that is otherwise shaped go with the last ones.
      std::vector<LinkUse>& uses = slowest.phases[std::min(i, slowest.phases.size() - 1)].uses;
      uses.insert(uses.end(), other.phases[i].uses.begin(), other.phases[i].uses.end());
    }
    for (const LevelBytes& level : other.by_level) add_bytes(slowest.by_level, level.level, level.bytes);
  }
  for (JobPhase& phase : slowest.phases) merge_uses(phase.uses);
  return slowest;
}

}  // namespace nest::simulate
