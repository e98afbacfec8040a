#include "nest/solve/tree/ties.hpp"

#include <algorithm>

#include "nest/plan/schedules/schedule.hpp"

namespace nest::solve {

std::vector<TieQuestion> tie_questions(const LayerGraph& graph, std::int64_t stages, Schedule schedule) {
  // A weight that nobody trains is copied, and that is all.
  std::vector<TiedTensor> tied = graph.tied();
  std::erase_if(tied, [](const TiedTensor& t) { return t.frozen; });
  if (tied.empty() || stages == 1) return {{}};
  const auto last = static_cast<std::size_t>(stages) - 1;
  // The only layer without makers is in the first stage of every plan, the only one without users in the
  // last, or in the first too where chunks go there and back.
  const auto all_stages = static_cast<std::size_t>(stages);
  const bool back =
      schedule_of(schedule).chunked() && place_of_part(schedule, all_stages, 2 * all_stages - 1).stage == 0;
  std::vector<bool> made(graph.layers(), false);
  std::vector<bool> used(graph.layers(), false);
  for (const Edge& edge : graph.edges()) {
    made[edge.to.index()] = true;
    used[edge.from.index()] = true;
  }
  const bool one_first = std::count(made.begin(), made.end(), false) == 1;
  const bool one_last = std::count(used.begin(), used.end(), false) == 1;
  bool all_at_ends = one_first && one_last;
  for (const TiedTensor& t : tied) {
    all_at_ends = all_at_ends && std::all_of(t.layers.begin(), t.layers.end(), [&](LayerId id) {
                    return !made[id.index()] || !used[id.index()];
                  });
    if (back) continue;
    const bool first = one_first && std::any_of(t.layers.begin(), t.layers.end(),
                                                [&](LayerId id) { return !made[id.index()]; });
    const bool end = one_last && std::any_of(t.layers.begin(), t.layers.end(),
                                             [&](LayerId id) { return !used[id.index()]; });
    if (first && end) return {{FillQuestion::Ties::any, 0, last}};
  }
  if (back && all_at_ends) return {{FillQuestion::Ties::any, 0, last}};  // all in the first stage
  std::vector<TieQuestion> all{{FillQuestion::Ties::none, 0, 0}};
  for (std::size_t a = 0; a < last; ++a) {
    for (std::size_t b = a + 1; b <= last; ++b) all.push_back({FillQuestion::Ties::between, a, b});
  }
  return all;
}

}  // namespace nest::solve
