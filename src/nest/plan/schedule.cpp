#include "nest/plan/schedule.hpp"

#include <algorithm>
#include <cassert>

namespace nest::plan {
namespace {

// Forward passes before the first backward pass, counted in chunks.
std::int64_t warm_up(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t after = shape.stages - stage - 1;
  const std::int64_t all = shape.micro_batches * shape.chunks;
  switch (schedule) {
    case Schedule::gpipe:
      return all;
    case Schedule::interleaved:
      return shape.chunks == 1 ? std::min(all, after)
                               : std::min(all, 2 * after + (shape.chunks - 1) * shape.stages);
    case Schedule::one_f_one_b:
    case Schedule::zb_h1:
      break;
  }
  return std::min(all, after);
}

// Groups of `stages` micro-batches pass through one chunk after the other (Megatron-LM's
// get_model_chunk_id and get_microbatch_id_in_model_chunk); backward passes take the chunks in reverse.
struct Place {
  std::int64_t chunk;
  std::int64_t micro_batch;
};
Place place_of(const ScheduleShape& shape, std::int64_t k) {
  if (shape.chunks == 1) return {0, k};
  const std::int64_t round = shape.stages * shape.chunks;
  const std::int64_t in_round = k % round;
  return {in_round / shape.stages, (k / round) * shape.stages + in_round % shape.stages};
}
std::int64_t backward_chunk(const ScheduleShape& shape, std::int64_t k) {
  return shape.chunks - 1 - place_of(shape, k).chunk;
}

void check(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  assert(stage >= 0 && stage < shape.stages && shape.micro_batches >= 1 && shape.chunks >= 1);
  assert(schedule == Schedule::interleaved || shape.chunks == 1);
  assert(shape.chunks == 1 || shape.micro_batches % shape.stages == 0);
  static_cast<void>(schedule);
  static_cast<void>(shape);
  static_cast<void>(stage);
}

}  // namespace

std::vector<Task> task_order(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  check(schedule, shape, stage);
  const std::int64_t all = shape.micro_batches * shape.chunks;
  const std::int64_t warm = warm_up(schedule, shape, stage);
  const bool split = schedule == Schedule::zb_h1;
  std::vector<Task> order;
  order.reserve(static_cast<std::size_t>((split ? 3 : 2) * all));
  const auto forward = [&](std::int64_t k) {
    const Place at = place_of(shape, k);
    order.push_back(
        {TaskKind::forward, static_cast<std::int32_t>(at.chunk), static_cast<std::int32_t>(at.micro_batch)});
  };
  // Weight gradients wait `stage` micro-batches: then every stage has as many stashes as the first one, and
  // those left over fill the time in which the last gradients travel back to the first stage.
  std::int64_t weights = 0;
  const auto backward = [&](std::int64_t k) {
    order.push_back({TaskKind::backward, static_cast<std::int32_t>(backward_chunk(shape, k)),
                     static_cast<std::int32_t>(place_of(shape, k).micro_batch)});
    if (split && k >= stage) {
      order.push_back({TaskKind::backward_weight, 0, static_cast<std::int32_t>(weights++)});
    }
  };
  for (std::int64_t k = 0; k < warm; ++k) forward(k);
  for (std::int64_t k = warm; k < all; ++k) {
    forward(k);
    backward(k - warm);
  }
  for (std::int64_t k = all - warm; k < all; ++k) backward(k);
  while (split && weights < all) {
    order.push_back({TaskKind::backward_weight, 0, static_cast<std::int32_t>(weights++)});
  }
  return order;
}

std::int64_t in_flight(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  check(schedule, shape, stage);
  const std::int64_t all = shape.micro_batches * shape.chunks;
  // The stash serves the weight gradients too: it goes when they are done, and that waits.
  if (schedule == Schedule::zb_h1) return std::min(all, shape.stages);
  return std::min(all, warm_up(schedule, shape, stage) + 1);
}

Bytes peak_stash(Schedule schedule, const ScheduleShape& shape, std::int64_t stage,
                 std::span<const Bytes> stashes) {
  assert(static_cast<std::int64_t>(stashes.size()) == shape.chunks);
  if (shape.chunks == 1) return stashes.front() * in_flight(schedule, shape, stage);
  const std::int64_t all = shape.micro_batches * shape.chunks;
  const std::int64_t warm = warm_up(schedule, shape, stage);
  const auto stash = [&](std::int64_t chunk) { return stashes[static_cast<std::size_t>(chunk)]; };
  Bytes held;
  for (std::int64_t k = 0; k < warm; ++k) held += stash(place_of(shape, k).chunk);
  Bytes most = held;
  // One round of forward and backward passes leaves as much as there was before it, so one is enough.
  const std::int64_t steps = std::min(all - warm, shape.stages * shape.chunks);
  for (std::int64_t k = 0; k < steps; ++k) {
    held += stash(place_of(shape, warm + k).chunk);
    most = std::max(most, held);
    held -= stash(backward_chunk(shape, k));
  }
  return most;
}

}  // namespace nest::plan
