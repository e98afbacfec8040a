#include "nest/cluster/reduce/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "nest/base/plain_text.hpp"
#include "nest/cluster/reduce/candidates.hpp"
#include "nest/cluster/reduce/fit.hpp"
#include "nest/cluster/reduce/flow.hpp"
#include "nest/cluster/reduce/grid_shape.hpp"
#include "nest/cluster/reduce/paths.hpp"

namespace nest::cluster {
namespace {

// Classes of figures are split where neighbours are further apart than this: above the spread of a few per
// cent that measurements have, below the steps between the tiers of real networks.
constexpr double kNoiseGap = 1.15;
constexpr double kExactGap = 1 + 1e-6;
constexpr double kSame = 1e-9;

struct Best {
  Candidate candidate;
  Fitted fitted;
};

class Reducer {
 public:
  Reducer(const PairTable& table, const std::vector<std::string>& names, std::string name,
          const Accelerator& accelerator)
      : table_(table), names_(names), name_(std::move(name)), accelerator_(accelerator) {}

  [[nodiscard]] bool exact() const { return best_ && best_->fitted.worst_error == 0; }

  void attempt(std::optional<Candidate> candidate) {
    if (!candidate) return;
    // Different ways often find the same levels; once is enough.
    for (const Candidate& before : tried_) {
      if (before.levels == candidate->levels && before.order == candidate->order) return;
    }
    tried_.push_back(*candidate);
    Fitted fitted = fit_levels(*candidate, table_, names_, name_, accelerator_);
    attempts_.push_back({candidate->method, static_cast<std::int32_t>(candidate->levels.size()),
                         fitted.worst_error, fitted.mean_error});
    if (!best_ || better(fitted, best_->fitted)) best_ = Best{std::move(*candidate), std::move(fitted)};
  }

  Reduction result(PairTable truth) && {
    Best& best = *best_;
    Reduction out{std::move(best.fitted.cluster),
                  best.candidate.method,
                  best.candidate.order,
                  {},
                  false,
                  std::move(best.fitted.levels),
                  best.fitted.worst_error,
                  best.fitted.mean_error,
                  std::move(attempts_),
                  {},
                  {},
                  std::move(truth)};
    for (const std::int32_t device : out.order)
      out.device_names.push_back(names_[static_cast<std::size_t>(device)]);
    out.reordered = !std::is_sorted(out.order.begin(), out.order.end());
    if (out.reordered) {  // a file of the levels alone would not say which device is which
      ClusterParts named = out.cluster.parts();
      named.device_names = out.device_names;
      out.cluster = Cluster(std::move(named));
    }
    return out;
  }

 private:
  // Least worst error, then least mean error, then fewest levels; then the one that was tried first.
  static bool better(const Fitted& a, const Fitted& b) {
    if (std::abs(a.worst_error - b.worst_error) > kSame) return a.worst_error < b.worst_error;
    if (std::abs(a.mean_error - b.mean_error) > kSame) return a.mean_error < b.mean_error;
    return a.cluster.levels().size() < b.cluster.levels().size();
  }

  const PairTable& table_;
  const std::vector<std::string>& names_;
  std::string name_;
  const Accelerator& accelerator_;
  std::optional<Best> best_;
  std::vector<Attempt> attempts_;
  std::vector<Candidate> tried_;
};

// What the links out of a child carry, against what its devices can send: for one child of each size at each
// level.
void find_oversubscription(const NetworkGraph& graph, Reduction& r) {
  const DeviceTree& tree = r.cluster.tree();
  ClusterParts parts = r.cluster.parts();
  for (std::int32_t l = 1; l < tree.levels(); ++l) {
    Level& level = parts.levels[static_cast<std::size_t>(l)];
    if (level.hops_through_children()) continue;
    std::map<std::int32_t, std::int32_t> child_of_size;
    for (std::int32_t c = tree.domains(LevelId{l - 1}); c-- > 0;)
      child_of_size[tree.devices_in(LevelId{l - 1}, c)] = c;
    double worst = 1;
    for (const auto& [size, child] : child_of_size) {
      const std::int32_t domain = tree.parent_of(LevelId{l}, child);
      const std::int32_t begin = tree.first_device(LevelId{l}, domain).value;
      const std::int32_t end = begin + tree.devices_in(LevelId{l}, domain);
      const std::int32_t inside = tree.first_device(LevelId{l - 1}, child).value;
      std::vector<std::int32_t> from;
      std::vector<std::int32_t> to;
      for (std::int32_t leaf = begin; leaf < end; ++leaf) {
        (leaf >= inside && leaf < inside + size ? from : to)
            .push_back(r.order[static_cast<std::size_t>(leaf)]);
      }
      if (to.empty()) continue;
      const auto senders = static_cast<double>(std::min(from.size(), to.size()));
      worst = std::max(worst, senders * level.bandwidth.value / max_flow(graph, from, to).value);
    }
    constexpr double kDigits = 1e9;
    level.oversubscription = std::round(worst * kDigits) / kDigits;
  }
  r.cluster = Cluster(std::move(parts));
}

void check_name(const std::string& name) {
  if (name.empty()) throw InputError("", "", "the cluster's name is empty");
  if (has_control(name)) throw InputError("", "", "the cluster's name has control characters");
}

}  // namespace

Reduction reduce_graph(const NetworkGraph& graph, ReduceOptions options) {
  check_name(graph.name);
  PairTable truth = pair_figures(graph);
  Reducer reducer(truth, graph.names, graph.name, graph.accelerator);
  const std::optional<GridShape> shape = grid_shape(graph);
  const auto connected = [&](std::optional<Candidate> candidate) {
    if (candidate) recognise_full_connection(graph, truth, *candidate);
    return candidate;
  };
  if (options.keep_torus && shape && shape->same_links) reducer.attempt(as_torus(*shape, graph.devices));
  if (!reducer.exact()) reducer.attempt(connected(by_bottleneck(truth, kExactGap)));
  if (!reducer.exact()) reducer.attempt(connected(by_bottleneck(truth, kNoiseGap)));
  if (!reducer.exact() && shape) reducer.attempt(by_dimension(*shape, graph.devices));
  if (!reducer.exact()) reducer.attempt(by_blocks(truth));
  if (!reducer.exact()) reducer.attempt(flat(graph.devices));
  // The table moves into the result; nothing of the reducer looks at it after that.
  Reduction out = std::move(reducer).result(std::move(truth));
  if (shape) out.grid_dims = shape->dims;
  find_oversubscription(graph, out);
  return out;
}

Reduction reduce_pairs(MeasuredPairs measured, std::string name, const Accelerator& accelerator) {
  check_name(name);
  Reducer reducer(measured.table, measured.names, std::move(name), accelerator);
  reducer.attempt(by_bottleneck(measured.table, kExactGap));
  if (!reducer.exact()) reducer.attempt(by_bottleneck(measured.table, kNoiseGap));
  if (!reducer.exact()) reducer.attempt(by_blocks(measured.table));
  if (!reducer.exact()) reducer.attempt(flat(measured.table.devices()));
  Reduction out = std::move(reducer).result(std::move(measured.table));
  out.warnings = std::move(measured.warnings);
  return out;
}

}  // namespace nest::cluster
