#include "nest/solve/baselines/alpa/alpa_sharding.hpp"

#include <algorithm>
#include <map>

namespace nest::solve::alpa {
namespace {

Seconds edge_time(const ShardProblem& problem, const Flow& made, const Flow& used, double bytes) {
  return problem.forward_passes * reshard(problem.axis, made.forward, used.forward, bytes) +
         reshard(problem.axis, used.gradient, made.gradient, bytes);
}

// One operator's way in one state, and the state that it was chosen in.
struct Step {
  std::uint32_t before = 0;  // into the states before it
  std::uint32_t way = 0;
};

// The ways of all operators that are open, in their order, and the least time that leads there.
struct State {
  std::vector<std::uint16_t> open;
  Seconds time;
};

}  // namespace

std::string_view name_of(Spec spec) {
  switch (spec) {
    case Spec::replicated:
      return "replicated";
    case Spec::row:
      return "row";
    case Spec::column:
      return "column";
    case Spec::contract:
      return "contract";
    case Spec::feature:
      return "feature";
  }
  return "replicated";
}

Seconds reshard(const MeshAxis& axis, Layout from, Layout to, double bytes) {
  if (from == to || from == Layout::whole) return Seconds{0};  // a part of the whole is at hand
  if (from == Layout::partial)
    return to == Layout::whole ? axis.all_reduce(bytes) : axis.reduce_scatter(bytes);
  if (to == Layout::whole) return axis.all_gather(bytes);
  return axis.all_to_all(bytes / static_cast<double>(axis.members));
}

Seconds time_of(const ShardProblem& problem, const std::vector<std::size_t>& ways) {
  Seconds sum;
  for (std::size_t i = 0; i < problem.operators.size(); ++i) {
    const ShardOperator& op = problem.operators[i];
    const Way& way = op.ways[ways[i]];
    sum += way.time;
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const Use& use = op.inputs[k];
      const Way& maker = problem.operators[use.from].ways[ways[use.from]];
      sum += edge_time(problem, maker.output, way.inputs[k], use.bytes);
    }
  }
  return sum;
}

ShardChoice solve_sharding(const ShardProblem& problem) {
  const std::size_t n = problem.operators.size();
  std::vector<std::size_t> last_use(n);
  for (std::size_t i = 0; i < n; ++i) {
    last_use[i] = i;
    for (const Use& use : problem.operators[i].inputs) last_use[use.from] = i;
  }
  ShardChoice choice;
  std::vector<std::size_t> open;  // operators, in the order of State::open
  std::vector<State> states{{{}, Seconds{0}}};
  std::vector<std::vector<Step>> steps(n);  // of each state after each operator
  for (std::size_t i = 0; i < n; ++i) {
    const ShardOperator& op = problem.operators[i];
    std::vector<std::size_t> place;  // of each input, among the open ones
    for (const Use& use : op.inputs) {
      const auto at = std::find(open.begin(), open.end(), use.from);
      place.push_back(static_cast<std::size_t>(at - open.begin()));
    }
    std::vector<std::size_t> still;
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (last_use[open[k]] > i) still.push_back(k);
    }
    const bool opens = last_use[i] > i;
    std::map<std::vector<std::uint16_t>, std::size_t> known;
    std::vector<State> next;
    for (std::size_t s = 0; s < states.size(); ++s) {
      for (std::size_t w = 0; w < op.ways.size(); ++w) {
        ++choice.transitions;
        Seconds time = states[s].time + op.ways[w].time;
        for (std::size_t k = 0; k < op.inputs.size(); ++k) {
          const Use& use = op.inputs[k];
          const Way& maker = problem.operators[use.from].ways[states[s].open[place[k]]];
          time += edge_time(problem, maker.output, op.ways[w].inputs[k], use.bytes);
        }
        State state{{}, time};
        for (const std::size_t k : still) state.open.push_back(states[s].open[k]);
        if (opens) state.open.push_back(static_cast<std::uint16_t>(w));
        const Step step{static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(w)};
        const auto [at, made] = known.try_emplace(state.open, next.size());
        if (made) {
          next.push_back(std::move(state));
          steps[i].push_back(step);
        } else if (time < next[at->second].time) {
          next[at->second].time = time;
          steps[i][at->second] = step;
        }
      }
    }
    states = std::move(next);
    std::vector<std::size_t> left;
    left.reserve(still.size() + 1);
    for (const std::size_t k : still) left.push_back(open[k]);
    if (opens) left.push_back(i);
    open = std::move(left);
  }
  // Nothing is open after the last operator: there is one state.
  choice.time = states.front().time;
  choice.ways.resize(n);
  std::size_t s = 0;
  for (std::size_t i = n; i-- > 0;) {
    choice.ways[i] = steps[i][s].way;
    s = steps[i][s].before;
  }
  return choice;
}

}  // namespace nest::solve::alpa
