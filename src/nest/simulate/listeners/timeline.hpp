// A listener that keeps what each worker did when, on its compute and its communication stream, in order of
// their ends. Drawings and traces are made from it.
//
//   worker 1, compute:        receive 0.000-0.501 of F0, forward 0.501-1.501 of F0, ...
//   worker 1, communication:  reduce 38.505-78.515
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/simulate/engine/listener.hpp"

namespace nest::simulate {

// The last three are those of what is offloaded: both ways of the link to host memory, and the host's processors.
enum class Stream : std::uint8_t { compute, communication, to_host, host, from_host };
inline constexpr std::size_t kStreams = 5;
enum class SegmentKind : std::uint8_t {
  forward,
  backward,
  weight,
  receive,
  reduce,
  gather,
  norm,
  optimizer,
  to_host,
  host_update,
  from_host,
};
inline constexpr std::size_t kSegmentKinds = 11;
[[nodiscard]] std::string_view name_of(SegmentKind kind);

// What runs at the same time on the compute stream.
enum class Beside : std::uint8_t { nothing, forward, backward };

struct Segment {
  Seconds from;
  Seconds to;
  std::int32_t worker = 0;
  Stream stream = Stream::compute;
  SegmentKind kind = SegmentKind::forward;
  Task task;                           // of passes and receives
  std::optional<std::int32_t> sender;  // of passes that received something, and of receives
  Beside beside = Beside::nothing;     // of passes
};

class Timeline final : public Listener {
 public:
  void begin(const Scenario& scenario) override;
  void on(const Event& event) override;
  void end(Seconds step, Seconds pipeline) override;

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const std::vector<Worker>& workers() const { return workers_; }
  [[nodiscard]] std::size_t stages() const { return stages_; }
  [[nodiscard]] std::int64_t micro_batches() const { return micro_batches_; }
  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  [[nodiscard]] Schedule schedule() const { return schedule_; }
  // Whether anything ran on the streams of the host.
  [[nodiscard]] bool offloads() const { return offloads_; }
  [[nodiscard]] Seconds step() const { return step_; }
  [[nodiscard]] Seconds pipeline() const { return pipeline_; }
  // Of a backward pass: computing again what was not kept, which comes first, and its share of a pass that leaves
  // weight gradients for later where the schedule has such.
  [[nodiscard]] Seconds recomputed(std::size_t stage, std::int32_t chunk) const {
    return recomputed_[at(stage, chunk)];
  }
  [[nodiscard]] double recomputed_share(std::size_t stage, std::int32_t chunk) const {
    return recomputed_share_[at(stage, chunk)];
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t stage, std::int32_t chunk) const {
    return stage * static_cast<std::size_t>(chunks_) + static_cast<std::size_t>(chunk);
  }
  void add_copy(const Event& event, SegmentKind pass);
  void add(const Event& event, SegmentKind kind, Stream stream, Seconds from, Seconds to);

  std::vector<Segment> segments_;
  std::vector<Worker> workers_;
  std::vector<Seconds> recomputed_;
  std::vector<double> recomputed_share_;
  std::vector<Seconds> copied_;  // activations to host memory, or back: beside the pass of such a chunk
  std::size_t stages_ = 1;
  std::int64_t micro_batches_ = 1;
  std::int64_t chunks_ = 1;
  Schedule schedule_ = Schedule::one_f_one_b;
  bool offloads_ = false;
  Seconds step_;
  Seconds pipeline_;
};

}  // namespace nest::simulate
