// DualPipeV (DeepSeek's DualPipe, arXiv 2412.19437, section 3.2.1, folded in the middle as in its released
// code): a stage holds two chunks as under ZB-V, so that a micro-batch runs down the stages and back up again. In
// the middle of the step the forward pass of one micro-batch runs beside the backward pass of another, in the
// stage's other chunk, so that the exchanges with experts of one hide behind the compute of the other; such a pair
// is one task, which begins when both inputs are there. Some weight gradients wait, as in other zero-bubble
// schedules. A stage holds 2 p stashes of a chunk and, in a pair, one more.
//
// The order is that of PyTorch's ScheduleDualPipeV. For stage r of p with m >= 2 p micro-batches, a and b being
// its chunks, I an input gradient, B one with its weight gradients, and [..] a pair:
//   1. 2 (p - r - 1) times Fa
//   2. r + 1 times Fa Fb
//   3. p - r - 1 times Ib Wb Fb
//   4. m - 2 p + r + 1 times [Fa Bb] [Fb Ba]; on the last stage, the first Fa and Bb run one after the other
//   5. p - r - 1 times Bb [Fb Ba]
//   6. r + 1 times Bb Ba, of which the second half are Ib and Ia
//   7. p - r - 1 times W Ia
//   8. r + 1 times W
// where W is the weight gradient that has waited longest.
#include <algorithm>

#include "nest/plan/schedules/order_time.hpp"

namespace nest::plan {
namespace {

constexpr std::int64_t kChunks = 2;
constexpr std::int64_t kLeastRounds = 2;

class Orderer {
 public:
  Orderer(const ScheduleShape& shape, std::int64_t stage) : shape_(shape), r_(stage) {
    order_.reserve(static_cast<std::size_t>(6 * shape.micro_batches));
  }

  std::vector<Task> order() {
    const std::int64_t after = shape_.stages - r_ - 1;
    const std::int64_t down = r_ + 1;
    repeat(2 * after, [&](std::int64_t) { forward(0); });
    repeat(down, [&](std::int64_t) {
      forward(0);
      forward(1);
    });
    repeat(after, [&](std::int64_t) {
      input(1);
      weight();
      forward(1);
    });
    repeat(shape_.micro_batches - 2 * shape_.stages + down, [&](std::int64_t k) {
      forward(0, k > 0 || after > 0);
      whole(1);
      forward(1, true);
      whole(0);
    });
    repeat(after, [&](std::int64_t) {
      whole(1);
      forward(1, true);
      whole(0);
    });
    repeat(2 * down, [&](std::int64_t k) {
      const std::size_t chunk = k % 2 == 0 ? 1 : 0;
      if (k < down) {
        whole(chunk);
      } else {
        input(chunk);
      }
    });
    repeat(after, [&](std::int64_t) {
      weight();
      input(0);
    });
    repeat(down, [&](std::int64_t) { weight(); });
    return std::move(order_);
  }

 private:
  template <class Step>
  static void repeat(std::int64_t times, const Step& step) {
    for (std::int64_t k = 0; k < times; ++k) step(k);
  }
  Task& add(TaskKind kind, std::size_t chunk, std::int64_t micro_batch) {
    return order_.emplace_back(task_of(kind, micro_batch, static_cast<std::int64_t>(chunk)));
  }
  void forward(std::size_t chunk, bool with_next = false) {
    add(TaskKind::forward, chunk, forwards_[chunk]++).with_next = with_next;
  }
  void whole(std::size_t chunk) { add(TaskKind::backward, chunk, backwards_[chunk]++).whole = true; }
  void input(std::size_t chunk) { waiting_.push_back(add(TaskKind::backward, chunk, backwards_[chunk]++)); }
  void weight() {
    const Task& of = waiting_[weights_++];
    add(TaskKind::backward_weight, static_cast<std::size_t>(of.chunk), of.micro_batch);
  }

  ScheduleShape shape_;
  std::int64_t r_;
  std::array<std::int64_t, kChunks> forwards_{};
  std::array<std::int64_t, kChunks> backwards_{};
  std::vector<Task> waiting_;  // input gradients whose weight gradients wait, and those before them
  std::size_t weights_ = 0;
  std::vector<Task> order_;
};

std::vector<Task> order(const ScheduleShape& shape, std::int64_t stage) {
  return Orderer(shape, stage).order();
}

// The rounds of step 4 leave as much as there was before them. With 2 p micro-batches each stage has one round in
// which both passes are pairs, except that the last stage's first round has one pair; it has p of them.
Bytes peak_stash(const ScheduleShape& shape, std::int64_t stage, std::span<const Bytes> stashes) {
  ScheduleShape few = shape;
  few.micro_batches = std::min(shape.micro_batches, kLeastRounds * shape.stages);
  return order_peak(kDualPipeV, few, stage, stashes);
}

std::int64_t in_flight(const ScheduleShape& shape, std::int64_t stage) {
  constexpr std::array<Bytes, kChunks> kOne{Bytes{1}, Bytes{1}};
  return peak_stash(shape, stage, kOne).value;
}

// Steps 4 and 5.
std::int64_t paired(const ScheduleShape& shape, std::int64_t stage, std::int64_t chunk) {
  const std::int64_t p = shape.stages;
  if (chunk == 1) return shape.micro_batches - p;
  return shape.micro_batches - 2 * p + stage + (stage + 1 < p ? 1 : 0);
}

double time(std::span<const StagePass> chunks, const ScheduleShape& shape) {
  return order_time(kDualPipeV, chunks, shape);
}

// Every stage does its own work; no pair takes less than its passes do where all hides that may.
double bound(const ScheduleShape& shape, double sum, double longest) {
  return static_cast<double>(shape.micro_batches) *
         std::max(longest, sum / static_cast<double>(shape.stages));
}

constexpr std::array<FrameworkWord, 1> kWords{{{"torchtitan", "DualPipeV"}}};

}  // namespace

constinit const PipelineSchedule kDualPipeV{.id = Schedule::dualpipe_v,
                                            .name = "dualpipe-v",
                                            .splits_backward = true,
                                            .pairs_passes = true,
                                            .least_chunks = kChunks,
                                            .most_chunks = kChunks,
                                            .least_rounds = kLeastRounds,
                                            .path = ChunkPath::turns,
                                            .frameworks = kWords,
                                            .order = order,
                                            .in_flight = in_flight,
                                            .peak_stash = peak_stash,
                                            .paired = paired,
                                            .time = time,
                                            .bound = bound};

}  // namespace nest::plan
