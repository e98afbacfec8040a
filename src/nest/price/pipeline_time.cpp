#include "nest/price/pipeline_time.hpp"

#include <array>
#include <cassert>
#include <vector>

namespace nest::price {
namespace {

double one_f_one_b(std::span<const StagePass> stages, std::int64_t micro_batches) {
  PipelineTail tail;
  std::int64_t s = 0;
  for (std::size_t i = stages.size(); i-- > 0;) tail = with_stage(tail, stages[i], ++s, micro_batches);
  return tail.span;
}

// Forward passes are a flow shop of equal jobs, and so are backward passes; nothing runs beside both.
double gpipe(std::span<const StagePass> stages, std::int64_t micro_batches) {
  double sum = 0;
  double f = 0;
  double b = 0;
  for (const StagePass& p : stages) {
    sum += p.f + p.b;
    f = std::max(f, p.f);
    b = std::max(b, p.b);
  }
  return sum + static_cast<double>(micro_batches - 1) * (f + b);
}

// As 1F1B with input gradients for backward passes. Weight gradients wait stage + 1 micro-batches: those that
// come before the last input gradient lengthen `own`, the others follow it. With equal stages this is
// m U + (p-1) max(F + B_in - W, F, B_in).
double zb_h1(std::span<const StagePass> stages, std::int64_t micro_batches) {
  const auto m = static_cast<double>(micro_batches);
  double sum = 0;   // of f and input gradients of later stages
  double span = 0;  // from the first forward pass to the last input gradient
  double end = 0;   // to the last weight gradient of this and later stages
  for (std::size_t i = stages.size(); i-- > 0;) {
    const auto stage = static_cast<std::int64_t>(i);
    const std::int64_t s = static_cast<std::int64_t>(stages.size()) - stage;
    const double f = stages[i].f;
    const double w = stages[i].weight;
    const double b = stages[i].b - w;
    const auto last = static_cast<double>(std::min(stage + 1, micro_batches));
    const double before = (m - last) * w;
    double own = 0;
    if (micro_batches > s) {
      // Weight gradients between the last forward pass and the last input gradient.
      const std::int64_t between =
          std::max<std::int64_t>(0, micro_batches - 1 - std::max(micro_batches - s, stage));
      const auto later = static_cast<double>(s - 1);
      own = m * (f + b) + before + std::max(0.0, sum - later * f) +
            std::max(0.0, sum - later * b - static_cast<double>(between) * w);
    } else {
      own = std::max({m * (f + b) + before, sum + m * f + b, sum + f + m * b + before});
    }
    span = std::max(own, f + span + b);
    end = std::max(span + last * w, f + end);
    sum += f + b;
  }
  return end;
}

constexpr std::size_t kStagesOnStack = 512;

class Numbers {
 public:
  explicit Numbers(std::size_t size) : more_(size > kStagesOnStack ? size : 0) {
    if (more_.empty()) std::fill_n(few_.begin(), size, 0.0);
  }
  [[nodiscard]] double& operator[](std::size_t i) { return more_.empty() ? few_[i] : more_[i]; }

 private:
  std::array<double, kStagesOnStack> few_;
  std::vector<double> more_;
};

struct Warm {
  Numbers start;     // of a stage's first forward pass
  Numbers backward;  // from when its first backward pass could run
  explicit Warm(std::size_t stages) : start(stages), backward(stages) {}
};

// The first round of the schedule, chunk by chunk and stage by stage: exact for the first micro-batch until
// it comes back, since every stage begins with `stages` forward passes of each chunk.
template <class Forward, class Backward>
void warm_up(std::size_t stages, std::size_t chunks, const Forward& f, const Backward& b, Warm& out) {
  const auto group = static_cast<double>(stages);
  Numbers end(stages);  // of the stage's last forward pass so far
  double ready = 0;     // of the first micro-batch at the next chunk
  for (std::size_t c = 0; c < chunks; ++c) {
    double before = 0;
    for (std::size_t i = 0; i < stages; ++i) {
      const double start = std::max(ready, end[i]);
      if (c == 0) out.start[i] = start;
      end[i] = before = std::max(before, start + (group - 1) * f(i, c)) + f(i, c);
      ready = start + f(i, c);
    }
  }
  for (std::size_t i = stages; i-- > 0;) {
    out.backward[i] = ready;
    ready += b(i, chunks - 1);
  }
}

// For every stage: what lies before its first backward pass, its work, and, the schedule being its own mirror
// image in time with forward and backward exchanged, what lies after its last forward pass.
template <class Forward, class Backward>
double interleaved(std::size_t stages, std::size_t chunks, std::int64_t micro_batches, const Forward& f,
                   const Backward& b) {
  Warm early(stages);
  Warm late(stages);
  warm_up(stages, chunks, f, b, early);
  warm_up(stages, chunks, b, f, late);
  const auto m = static_cast<double>(micro_batches);
  const auto group = static_cast<double>(stages);
  double longest = 0;
  for (std::size_t i = 0; i < stages; ++i) {
    // Passes up to the first backward pass: whole chunks of the first round, the last of them begun, then
    // perhaps some of the next round's first chunk.
    const std::size_t extra = 2 * (stages - 1 - i) + 1;
    const std::size_t whole = (chunks - 1) * stages;
    double forward = 0;
    double backward = 0;
    double own_forward = 0;
    double own_backward = 0;
    for (std::size_t c = 0; c < chunks; ++c) {
      const double passes = c + 1 < chunks ? group : static_cast<double>(std::min(extra, stages));
      forward += f(i, c);
      backward += b(i, c);
      own_forward += passes * f(i, c);
      own_backward += passes * b(i, c);
    }
    if (extra > stages) {
      own_forward += static_cast<double>(extra - stages) * f(i, 0);
      own_backward += static_cast<double>(extra - stages) * b(i, 0);
    }
    const double work = m * (forward + backward);
    double own = 0;
    if (static_cast<std::size_t>(micro_batches) * chunks > whole + extra) {
      own = std::max(early.backward[i], early.start[i] + own_forward) + (work - own_forward - own_backward) +
            std::max(late.backward[i], late.start[i] + own_backward);
    } else {
      own = std::max({early.start[i] + work + late.start[i], early.backward[i] + m * backward + late.start[i],
                      early.start[i] + m * forward + late.backward[i]});
    }
    longest = std::max(longest, own);
  }
  return longest;
}

double sum_max(std::span<const StagePass> stages, std::int64_t micro_batches) {
  double sum = 0;
  double most = 0;
  for (const StagePass& p : stages) {
    sum += p.f + p.b;
    most = std::max(most, p.f + p.b);
  }
  return sum + static_cast<double>(micro_batches - 1) * most;
}

double paper(std::span<const StagePass> stages, std::int64_t micro_batches) {
  double most = 0;
  for (const StagePass& p : stages) most = std::max(most, p.f + p.b);
  return static_cast<double>(micro_batches + static_cast<std::int64_t>(stages.size()) - 1) * most;
}

}  // namespace

Seconds interleaved_time(std::span<const StagePass> chunks, std::int64_t stages, std::int64_t micro_batches) {
  const auto p = static_cast<std::size_t>(stages);
  const std::size_t v = chunks.size() / p;
  if (v == 1) return Seconds{one_f_one_b(chunks, micro_batches)};
  return Seconds{interleaved(
      p, v, micro_batches, [&](std::size_t i, std::size_t c) { return chunks[i * v + c].f; },
      [&](std::size_t i, std::size_t c) { return chunks[i * v + c].b; })};
}

Seconds pipeline_time(Schedule schedule, PipelineModel model, std::span<const StagePass> stages,
                      std::int64_t micro_batches, std::int64_t chunks) {
  assert(!stages.empty() && micro_batches >= 1 && chunks >= 1);
  if (model == PipelineModel::sum_max) return Seconds{sum_max(stages, micro_batches)};
  if (model == PipelineModel::paper) return Seconds{paper(stages, micro_batches)};
  switch (schedule) {
    case Schedule::gpipe:
      return Seconds{gpipe(stages, micro_batches)};
    case Schedule::zb_h1:
      return Seconds{zb_h1(stages, micro_batches)};
    case Schedule::interleaved: {
      if (chunks == 1) break;
      const double share = 1 / static_cast<double>(chunks);
      return Seconds{interleaved(
          stages.size(), static_cast<std::size_t>(chunks), micro_batches,
          [&](std::size_t i, std::size_t) { return stages[i].f * share; },
          [&](std::size_t i, std::size_t) { return stages[i].b * share; })};
    }
    case Schedule::one_f_one_b:
      break;
  }
  return Seconds{one_f_one_b(stages, micro_batches)};
}

}  // namespace nest::price
