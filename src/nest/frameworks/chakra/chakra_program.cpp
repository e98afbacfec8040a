#include "nest/frameworks/chakra/chakra_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"

namespace nest::frameworks {
namespace {

using Ids = std::vector<std::uint64_t>;

constexpr std::int64_t kNormBytes = 8;
constexpr double kMostBytes = 2147483647;  // of one collective
constexpr double kLeastShare = 1e-6;       // less is what rounding has left of nothing

// Two messages a micro-batch over each boundary between parts, and two for the norm.
std::int32_t message_tag(const Plan& plan, std::size_t boundary, std::int64_t micro_batch, bool backward) {
  const std::int64_t at = static_cast<std::int64_t>(boundary) * plan.training.micro_batches + micro_batch;
  return static_cast<std::int32_t>(at * 2 + (backward ? 1 : 0));
}

char letter_of(TaskKind kind) {
  return kind == TaskKind::forward ? 'F' : kind == TaskKind::backward ? 'B' : 'W';
}

class Builder {
 public:
  Builder(const ProgramQuestion& question, std::size_t stage)
      : q_(question), p_(question.plan.parallelism), i_(stage), own_(question.stages[stage]) {}

  std::vector<ProgramNode> build() {
    const ScheduleShape shape{p_.pipeline, q_.plan.training.micro_batches, p_.interleave};
    const std::vector<Task> order = task_order(p_.schedule, shape, static_cast<std::int64_t>(i_));
    for (const ChakraSum& sum : own_.gathers) collect(sum, 1 - sum.hidden, "", done_);
    if (comm_ > 0) done_ = {comm_};
    // As price has it: what hides does so behind one pass, and a round of passes for each further chunk.
    const PipelineSchedule& schedule = schedule_of(p_.schedule);
    const auto rounds = static_cast<std::size_t>(1 + passes_between_chunks(p_.schedule, shape));
    const auto passes = static_cast<std::size_t>(shape.micro_batches * shape.chunks);
    const std::size_t beside = std::min(rounds, passes);
    std::size_t forwards = 0;
    std::size_t backwards = 0;
    for (const Task& task : order) {
      extras_.clear();
      if (task.kind == TaskKind::forward && forwards++ < beside) add_extras(own_.gathers, beside);
      if (schedule.makes_gradients(task) && backwards++ + beside >= passes) add_extras(own_.reduces, beside);
      run(task);
    }
    end();
    return std::move(out_);
  }

 private:
  std::uint64_t add(ProgramNode made, const Ids& deps, std::uint64_t also = 0) {
    Ids& ids = made.node.deps;
    for (const std::uint64_t id : deps) {
      if (id > 0 && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    if (also > 0 && std::find(ids.begin(), ids.end(), also) == ids.end()) ids.push_back(also);
    made.node.id = out_.size() + 1;
    out_.push_back(std::move(made));
    return out_.back().node.id;
  }

  // Whole microseconds, so that what is rounded off goes to the next node and the sum stays right.
  std::uint64_t compute(const std::string& name, const ChakraWork& work, double share, const Ids& deps) {
    ProgramNode made;
    made.node.name = name;
    made.node.type = ChakraType::compute;
    computed_ += work.time.value * share * 1e6;
    made.node.micros = std::llround(computed_) - micros_;
    micros_ += made.node.micros;
    made.node.operations = std::max<std::int64_t>(1, std::llround(work.operations * share));
    made.node.tensor_bytes =
        std::max<std::int64_t>(q_.options.least_tensor_bytes, std::llround(work.bytes * share));
    return add(std::move(made), deps);
  }

  // A share of a collective, in as many calls; nothing where nobody else takes part.
  void collect(const ChakraSum& sum, double share, const std::string& task, const Ids& deps) {
    if (share < kLeastShare) return;
    const std::vector<ChainLink> links = chain_of(sum, i_, q_.groups, q_.chain);
    double calls = std::max(1.0, std::round(sum.calls * share));
    for (const ChainLink& link : links) calls = std::max(calls, std::ceil(link.bytes * share / kMostBytes));
    for (double c = 0; c < calls; ++c) {
      for (const ChainLink& link : links) collect(link, share / calls, sum, task, deps);
    }
  }

  void collect(const ChainLink& link, double share, const ChakraSum& sum, const std::string& task,
               const Ids& deps) {
    ProgramNode made;
    made.node.name = task.empty() ? sum.name : task + " " + sum.name;
    made.node.type = ChakraType::collective;
    made.node.collective = link.kind;
    const auto members = static_cast<double>(link.members);
    const bool gathers = link.kind == ChakraCollective::all_gather;
    const double size = gathers ? link.bytes / members : link.bytes;
    made.node.bytes =
        std::max<std::int64_t>(gathers ? 1 : link.members, std::llround(std::ceil(size * share)));
    made.role = link.role;
    comm_ = add(std::move(made), deps, comm_);
  }

  void add_extras(const std::vector<ChakraSum>& sums, std::size_t passes) {
    for (const ChakraSum& sum : sums) extras_.emplace_back(&sum, sum.hidden / static_cast<double>(passes));
  }

  std::uint64_t message(ChakraType type, const std::string& name, std::size_t peer, Bytes bytes,
                        std::int32_t tag) {
    ProgramNode made;
    made.node.name = name;
    made.node.type = type;
    made.node.bytes = std::max<std::int64_t>(1, bytes.value);
    made.node.tag = tag;
    made.peer = peer;
    if (type == ChakraType::receive) return add(std::move(made), done_);
    return comm_ = add(std::move(made), done_, comm_);
  }

  void run(const Task& task) {
    const auto chunk = static_cast<std::size_t>(task.chunk);
    const ChakraChunk& cost = own_.chunks[chunk];
    const ChakraPass& pass = task.kind == TaskKind::forward    ? cost.forward
                             : task.kind == TaskKind::backward ? cost.backward
                                                               : cost.weight;
    const std::string name = p_.interleave > 1
                                 ? fmt::format("{}{}.{}", letter_of(task.kind), task.micro_batch, task.chunk)
                                 : fmt::format("{}{}", letter_of(task.kind), task.micro_batch);
    Ids start = done_;
    if (const std::uint64_t received = receive(task, name); received > 0) start.push_back(received);
    if (pass.nothing() && extras_.empty()) {  // a backward pass that nobody waits for
      done_ = std::move(start);
      return;
    }
    const std::int64_t slices = std::max<std::int64_t>(1, q_.options.slices);
    const double part = 1.0 / static_cast<double>(slices);
    for (std::int64_t s = 0; s < slices; ++s) {
      const std::uint64_t before = comm_;
      for (const ChakraSum& sum : pass.collectives) collect(sum, part * sum.hidden, name, start);
      std::uint64_t last = comm_ == before ? 0 : comm_;
      if (s == 0) {
        for (const auto& [sum, share] : extras_) collect(*sum, share, name, start);
      }
      const std::uint64_t computed = compute(name, pass.work, part, start);
      const std::uint64_t beside = comm_;
      for (const ChakraSum& sum : pass.collectives) collect(sum, part * (1 - sum.hidden), name, {computed});
      if (comm_ != beside) last = comm_;
      start = {computed};
      if (last > 0) start.push_back(last);
    }
    done_ = std::move(start);
    send(task, name);
  }

  [[nodiscard]] std::size_t parts() const { return static_cast<std::size_t>(p_.pipeline * p_.interleave); }
  [[nodiscard]] std::size_t stages() const { return q_.plan.stages.size(); }
  // The place of a chunk in the pipeline of all chunks, and what it receives.
  [[nodiscard]] std::size_t place(const Task& task) const {
    return part_of(p_.schedule, stages(), {i_, static_cast<std::size_t>(task.chunk)});
  }
  [[nodiscard]] std::size_t stage_at(std::size_t place) const {
    return place_of_part(p_.schedule, stages(), place).stage;
  }
  [[nodiscard]] const ChunkCost& chunk_at(std::size_t place) const {
    const ChunkPlace at = place_of_part(p_.schedule, stages(), place);
    return q_.priced.stages[at.stage].chunks[at.chunk];
  }

  std::uint64_t receive(const Task& task, const std::string& name) {
    if (task.kind == TaskKind::backward_weight || stages() == 1) return 0;
    const std::size_t at = place(task);
    const bool back = task.kind == TaskKind::backward;
    if (back ? at + 1 == parts() : at == 0) return 0;
    const std::size_t from = back ? at + 1 : at - 1;
    const ChunkCost& own = chunk_at(at);
    if (stage_at(from) == i_ || (back && own.backward_bytes.value == 0)) return 0;
    return message(ChakraType::receive, name + " receive", stage_at(from),
                   back ? own.backward_bytes : own.forward_bytes,
                   message_tag(q_.plan, std::max(at, from), task.micro_batch, back));
  }

  void send(const Task& task, const std::string& name) {
    if (task.kind == TaskKind::backward_weight || stages() == 1) return;
    const std::size_t at = place(task);
    const bool back = task.kind == TaskKind::backward;
    if (back ? at == 0 : at + 1 == parts()) return;
    const std::size_t to = back ? at - 1 : at + 1;
    const ChunkCost& other = chunk_at(to);
    if (stage_at(to) == i_ || (back && other.backward_bytes.value == 0)) return;
    message(ChakraType::send, name + " send", stage_at(to), back ? other.backward_bytes : other.forward_bytes,
            message_tag(q_.plan, std::max(at, to), task.micro_batch, back));
  }

  void end() {
    for (const ChakraSum& sum : own_.reduces) collect(sum, 1 - sum.hidden, "", done_);
    if (own_.tied_bytes > 0) {
      double most = 0;
      for (const ChakraStage& stage : q_.stages) most = std::max(most, stage.tied_bytes);
      collect({ChakraCollective::all_reduce, {.step = StepCollective::Group::tied}, "tied", most}, 1, "",
              done_);
    }
    if (comm_ > 0) done_.push_back(comm_);
    done_ = {compute("norm", own_.norm, 1, done_)};
    const auto tag = static_cast<std::int32_t>(highest_tag(q_.plan));
    const std::size_t last = stages() - 1;
    const auto pass = [&](ChakraType type, std::size_t peer, bool back) {
      done_ = {message(type, back ? "norm back" : "norm", peer, Bytes{kNormBytes}, tag - (back ? 0 : 1))};
    };
    if (i_ < last) pass(ChakraType::receive, i_ + 1, false);
    if (i_ > 0) {
      pass(ChakraType::send, i_ - 1, false);
      pass(ChakraType::receive, i_ - 1, true);
    }
    if (i_ < last) pass(ChakraType::send, i_ + 1, true);
    compute("optimizer", own_.optimizer, 1, done_);
  }

  const ProgramQuestion& q_;
  const Parallelism& p_;
  std::size_t i_;
  const ChakraStage& own_;
  std::vector<ProgramNode> out_;
  Ids done_;                 // what ends the latest task
  std::uint64_t comm_ = 0;   // the latest collective or send
  double computed_ = 0;      // microseconds so far
  std::int64_t micros_ = 0;  // the same as written
  std::vector<std::pair<const ChakraSum*, double>> extras_;
};

}  // namespace

std::int64_t highest_tag(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  return 2 * p.pipeline * p.interleave * plan.training.micro_batches + 1;
}

std::vector<ProgramNode> stage_program(const ProgramQuestion& question, std::size_t stage) {
  return Builder(question, stage).build();
}

}  // namespace nest::frameworks
