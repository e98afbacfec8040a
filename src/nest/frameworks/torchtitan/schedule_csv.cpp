#include "nest/frameworks/torchtitan/schedule_csv.hpp"

#include <fmt/format.h>

#include <vector>

#include "nest/plan/schedules/schedule.hpp"

namespace nest::frameworks {
namespace {

// Tasks that take one step each, as early as their inputs allow; the order on each rank is the schedule's.
class Steps {
 public:
  Steps(Schedule schedule, const ScheduleShape& shape)
      : shape_(shape),
        parts_(shape.stages * shape.chunks),
        schedule_(schedule),
        split_(schedule_of(schedule).splits_backward) {
    const auto count = static_cast<std::size_t>(parts_ * shape.micro_batches);
    forward_.assign(count, 0);
    backward_.assign(count, 0);
    for (std::int64_t s = 0; s < shape.stages; ++s) orders_.push_back(task_order(schedule, shape, s));
  }

  std::vector<std::string> lines() {
    const std::size_t ranks = orders_.size();
    std::vector<std::string> lines(ranks);
    std::vector<std::size_t> next(ranks, 0);
    bool left = true;
    for (std::int64_t step = 1; left; ++step) {
      left = false;
      std::vector<std::string> cells(ranks);
      std::vector<std::pair<std::int64_t*, std::int64_t>> done;
      for (std::size_t r = 0; r < ranks; ++r) {
        if (next[r] == orders_[r].size()) continue;
        left = true;
        const Task& task = orders_[r][next[r]];
        if (!ready(task, r)) continue;
        cells[r] = cell(task, r);
        if (task.kind != TaskKind::backward_weight) {
          std::int64_t& at =
              (task.kind == TaskKind::forward ? forward_ : backward_)[index(part(task, r), task)];
          done.emplace_back(&at, step);
        }
        ++next[r];
      }
      for (auto& [at, when] : done) *at = when;
      if (!left) break;
      for (std::size_t r = 0; r < ranks; ++r) lines[r] += (step == 1 ? "" : ",") + cells[r];
    }
    return lines;
  }

 private:
  [[nodiscard]] std::int64_t part(const Task& task, std::size_t rank) const {
    return part_of(schedule_of(schedule_).path, shape_.stages, static_cast<std::int64_t>(rank), task.chunk);
  }
  [[nodiscard]] std::size_t index(std::int64_t part, const Task& task) const {
    return static_cast<std::size_t>(part * shape_.micro_batches + task.micro_batch);
  }
  [[nodiscard]] bool ready(const Task& task, std::size_t rank) const {
    const std::int64_t at = part(task, rank);
    if (task.kind == TaskKind::backward_weight) return true;
    if (task.kind == TaskKind::forward) return at == 0 || forward_[index(at - 1, task)] > 0;
    return at + 1 == parts_ ? forward_[index(at, task)] > 0 : backward_[index(at + 1, task)] > 0;
  }
  [[nodiscard]] std::string cell(const Task& task, std::size_t rank) const {
    const char kind = task.kind == TaskKind::forward           ? 'F'
                      : task.kind == TaskKind::backward_weight ? 'W'
                      : split_ && !task.whole                  ? 'I'
                                                               : 'B';
    return fmt::format("{}{}{}", part(task, rank), kind, task.micro_batch);
  }

  ScheduleShape shape_;
  std::int64_t parts_;
  Schedule schedule_;
  bool split_;
  std::vector<std::vector<Task>> orders_;
  std::vector<std::int64_t> forward_;  // the step in which each was done, 0: not yet
  std::vector<std::int64_t> backward_;
};

}  // namespace

std::string schedule_csv(Schedule schedule, std::int64_t stages, std::int64_t chunks,
                         std::int64_t micro_batches) {
  std::string out;
  for (const std::string& line : Steps(schedule, {stages, micro_batches, chunks}).lines()) out += line + "\n";
  return out;
}

}  // namespace nest::frameworks
