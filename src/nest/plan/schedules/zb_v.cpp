// ZB-V (Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 6 and figure 8): a stage holds two
// chunks, the i-th from the front and the i-th from the back of the model, so that a micro-batch runs down
// the stages and back up again; weight gradients are tasks of their own. No stage holds more than 2 p stashes
// of half a stage, which is what the first stage of 1F1B holds.
//
// The order is that of PyTorch's ScheduleZBVZeroBubble. For stage r of p it is made for n = max(m, 2 p - 1)
// micro-batches, and those that there are not are left out; a and b are the two chunks, B an input gradient:
//   1. 2 (p - r) - 1 times Fa
//   2. r times Fb Fa
//   3. p - r times Fb Bb Wb
//   4. n - p times (Fa where one is left) Ba Wa Fb Bb Wb
//   5. r times Ba Bb
//   6. p - r times Ba Wa
//   7. the weight gradients that are left, those of b first
#include <algorithm>

#include "nest/plan/schedules/order_time.hpp"

namespace nest::plan {
namespace {

constexpr std::int64_t kChunks = 2;

class Orderer {
 public:
  Orderer(const ScheduleShape& shape, std::int64_t stage) : shape_(shape), r_(stage) {
    order_.reserve(static_cast<std::size_t>(6 * shape.micro_batches));
  }

  std::vector<Task> order() {
    const std::int64_t p = shape_.stages;
    const std::int64_t n = std::max(shape_.micro_batches, 2 * p - 1);
    for (std::int64_t k = 0; k < 2 * (p - r_) - 1; ++k) forward(0);
    for (std::int64_t k = 0; k < r_; ++k) {
      forward(1);
      forward(0);
    }
    for (std::int64_t k = 0; k < p - r_; ++k) {
      forward(1);
      whole_backward(1);
    }
    for (std::int64_t k = 0; k < n - p; ++k) {
      if (forwards_[0] < n) forward(0);
      whole_backward(0);
      forward(1);
      whole_backward(1);
    }
    for (std::int64_t k = 0; k < r_; ++k) {
      backward(0);
      backward(1);
    }
    for (std::int64_t k = 0; k < p - r_; ++k) {
      backward(0);
      weight(0);
    }
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{0}}) {
      while (weights_[chunk] < n) weight(chunk);
    }
    return std::move(order_);
  }

 private:
  void add(TaskKind kind, std::size_t chunk, std::int64_t micro_batch) {
    if (micro_batch < shape_.micro_batches)
      order_.push_back(task_of(kind, micro_batch, static_cast<std::int64_t>(chunk)));
  }
  void forward(std::size_t chunk) { add(TaskKind::forward, chunk, forwards_[chunk]++); }
  void backward(std::size_t chunk) { add(TaskKind::backward, chunk, backwards_[chunk]++); }
  void weight(std::size_t chunk) { add(TaskKind::backward_weight, chunk, weights_[chunk]++); }
  void whole_backward(std::size_t chunk) {
    backward(chunk);
    weight(chunk);
  }

  ScheduleShape shape_;
  std::int64_t r_;
  std::array<std::int64_t, kChunks> forwards_{};
  std::array<std::int64_t, kChunks> backwards_{};
  std::array<std::int64_t, kChunks> weights_{};
  std::vector<Task> order_;
};

std::vector<Task> order(const ScheduleShape& shape, std::int64_t stage) {
  return Orderer(shape, stage).order();
}

// The rounds of step 4 leave as much as there was before them, so that one with a forward pass is enough: all
// stages have one at 2 p micro-batches.
Bytes peak_stash(const ScheduleShape& shape, std::int64_t stage, std::span<const Bytes> stashes) {
  ScheduleShape few = shape;
  few.micro_batches = std::min(shape.micro_batches, 2 * shape.stages);
  return order_peak(kZbV, few, stage, stashes);
}

std::int64_t in_flight(const ScheduleShape& shape, std::int64_t stage) {
  constexpr std::array<Bytes, kChunks> kOne{Bytes{1}, Bytes{1}};
  return peak_stash(shape, stage, kOne).value;
}

double time(std::span<const StagePass> chunks, const ScheduleShape& shape) {
  return order_time(kZbV, chunks, shape);
}

// Every stage does its own work. The first micro-batch need not wait for weight gradients.
double bound(const ScheduleShape& shape, double sum, double longest) {
  return static_cast<double>(shape.micro_batches) *
         std::max(longest, sum / static_cast<double>(shape.stages));
}

constexpr std::array<FrameworkWord, 1> kWords{{{"torchtitan", "ZBVZeroBubble"}}};

}  // namespace

constinit const PipelineSchedule kZbV{.id = Schedule::zb_v,
                                      .name = "zb-v",
                                      .splits_backward = true,
                                      .least_chunks = kChunks,
                                      .most_chunks = kChunks,
                                      .path = ChunkPath::turns,
                                      .frameworks = kWords,
                                      .order = order,
                                      .in_flight = in_flight,
                                      .peak_stash = peak_stash,
                                      .time = time,
                                      .bound = bound};

}  // namespace nest::plan
