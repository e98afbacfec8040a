#include "nest/frameworks/chakra/chakra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "nest/frameworks/chakra/chakra_network.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/price.hpp"

namespace nest::frameworks {
namespace {

// Groups number their messages from a million times their own number on, in 32 bits.
constexpr std::size_t kMostGroups = 2147;
constexpr std::size_t kMostDimensions = 4;
constexpr std::int64_t kMuch = 4'000'000'000;  // bytes of all traces that deserve a warning

constexpr std::string_view kBinary = "AstraSim_Analytical_Congestion_Unaware";

std::string command() {
  return fmt::format(
      "{} --workload-configuration=trace --system-configuration=system.json "
      "--network-configuration=network.yml --remote-memory-configuration=remote_memory.json "
      "--comm-group-configuration=comm_groups.json",
      kBinary);
}

// Where an NPU stands in the plan.
struct Place {
  std::size_t stage = 0;
  std::size_t copy = 0;
  std::size_t id = 0;  // within the cell
};

// As libraries do; ideal networks only where they are asked to.
bool levels_at_once(const Recipe& recipe) {
  return !recipe.ideal_network || recipe.levels_at_once;
}

// What a trace leaves out of the plan, whatever the network.
std::vector<std::string> losses(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs) {
  std::vector<std::string> lost;
  const Recipe& recipe = inputs.recipe;
  lost.emplace_back(
      "collectives run rings in device order at every level, whatever algorithm the plan is priced with; "
      "their "
      "launch takes no time");
  if (levels_at_once(recipe)) {
    lost.emplace_back(
        "a collective over several levels is written as that of its slowest level, because a library has all "
        "of them work at once and the simulator does not");
  }
  if (plan.stages.size() > 1) {
    lost.emplace_back(
        "a message is sent as soon as its sender is done and holds up no compute; the plan is priced with "
        "receives that hold up the receiver where the recipe overlaps none");
  }
  if (plan.parallelism.interleave > 1) {
    lost.emplace_back(
        "messages of interleaved schedules need the simulator's default protocol: with rendezvous it may "
        "lock");
  }
  if (recipe.overlap.slow_down > 0)
    lost.emplace_back("kernels beside communication are as fast as without it");
  if (recipe.zero_time != 1 && plan.parallelism.zero.reduces_every_micro_batch()) {
    lost.push_back(fmt::format("ZeRO's traffic of every micro-batch takes its own time, not {} times as long",
                               recipe.zero_time));
  }
  const bool broadcasts = std::any_of(priced.stages.begin(), priced.stages.end(), [](const StageCost& s) {
    return std::any_of(s.gathers.begin(), s.gathers.end(),
                       [](const StepCollective& c) { return c.kind == CollectiveKind::broadcast; });
  });
  if (broadcasts) lost.emplace_back("parameters are gathered at once, not by a broadcast from each rank");
  const bool mixed = std::any_of(plan.stages.begin(), plan.stages.end(),
                                 [&](const Stage& s) { return !(s.strategy == plan.stages[0].strategy); });
  if (mixed) {
    lost.emplace_back(
        "between stages of different strategies each rank sends to the one with its own id; nothing is "
        "gathered or split on the way");
  }
  if (plan.parallelism.strategy.ring_ranks() > 1)
    lost.emplace_back("keys and values go round the context ranks as all-gathers");
  if (inputs.profile() != nullptr)
    lost.emplace_back(
        "a layer profile knows no operations: num_ops and tensor_size are its times at the peaks");
  return lost;
}

class Writer {
 public:
  Writer(const ExportQuestion& question, const ExportSink& sink, const ChakraOptions& options)
      : inputs_(question.inputs), sink_(sink), options_(options), pricer_(question.inputs) {
    plan_ = pricer_.place(question.plan);
    priced_ = pricer_.price(plan_);
  }

  ExportResult write() {
    result_.releases = {&find_releases("chakra")->usual()};
    if (priced_.status == PriceStatus::invalid) return refused("a plan that can be priced", priced_.reason);
    if (plan_.training.states.offload.activations)
      return refused("activations on the device", "a trace has no copies to host memory and back");
    if (schedule_of(plan_.parallelism.schedule).pairs_passes) {
      return refused("one pass at a time",
                     fmt::format("a trace runs the passes of a stage one after the other, and {} "
                                 "runs some beside each other",
                                 name_of(plan_.parallelism.schedule)));
    }
    if (plan_.parallelism.zero.resharding().kind == Resharding::Kind::first) {
      return refused("layers that are gathered alike",
                     fmt::format("a trace gathers all layers of a chunk alike, and the plan has reshard {}",
                                 spell(plan_.parallelism.zero.resharding())));
    }
    if (highest_tag(plan_) >= kTagLimit) {
      return refused("message tags below 500,000,000",
                     fmt::format("the plan's messages need {}: {} micro-batches, {} stages of {} chunks",
                                 highest_tag(plan_) + 1, plan_.training.micro_batches,
                                 plan_.parallelism.pipeline, plan_.parallelism.interleave));
    }
    network_ = chakra_network(inputs_.cluster, fabric_constants(inputs_.cluster, inputs_.recipe));
    write_traces();
    result_.lost = losses(plan_, priced_, inputs_);
    result_.lost.insert(result_.lost.end(), network_.lost.begin(), network_.lost.end());
    warn();
    write_files();
    return std::move(result_);
  }

 private:
  ExportResult refused(std::string rule, std::string sentence) {
    result_.rule = std::move(rule);
    result_.sentence = std::move(sentence);
    return std::move(result_);
  }

  void write_traces() {
    const std::vector<ChakraStage> stages = chakra_stages(plan_, priced_, inputs_);
    std::vector<std::size_t> tied;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].tied_bytes > 0) tied.push_back(i);
    }
    std::vector<std::int32_t> sizes;
    sizes.reserve(network_.levels.size());
    for (const ChakraLevel& level : network_.levels) sizes.push_back(level.npus);
    // Collectives of all NPUs without a group take part in four dimensions at most.
    groups_.emplace(plan_, network_.npu_of, network_.dimensions.size() > kMostDimensions ? 0 : network_.npus,
                    tied, std::move(sizes));
    ProgramQuestion question{plan_, priced_, stages, *groups_, options_, {}};
    question.options.least_tensor_bytes = least_tensor_bytes(inputs_.cluster);
    question.chain = {network_.levels, levels_at_once(inputs_.recipe), false};
    group_all_to_all_ = one_all_to_all_each(stages, *groups_, question.chain);
    question.chain.ring_all_to_all = !group_all_to_all_;
    std::vector<std::vector<Shared>> programs;
    programs.reserve(stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) programs.push_back(shared(stage_program(question, i), i));
    std::vector<std::optional<Place>> places(static_cast<std::size_t>(network_.npus));
    for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
      const std::vector<Cell>& cells = plan_.stages[i].devices;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        for (std::size_t j = 0; j < cells[c].size(); ++j)
          places[static_cast<std::size_t>(npu(cells[c][j]))] = Place{i, c, j};
      }
    }
    ExportFile file;
    for (std::size_t n = 0; n < places.size(); ++n) {
      file.name = fmt::format("trace.{}.et", n);
      file.bytes = chakra_header();
      if (places[n]) {
        append_rank(programs[places[n]->stage], *places[n], file.bytes);
      } else {
        ++idle_;  // the feeder stops at a trace without nodes
        append_node(
            file.bytes,
            {.id = 1, .name = "idle", .operations = 1, .tensor_bytes = question.options.least_tensor_bytes});
      }
      bytes_ += static_cast<std::int64_t>(file.bytes.size());
      sink_(file);
    }
  }

  [[nodiscard]] std::int32_t npu(DeviceId device) const { return network_.npu_of[device.index()]; }

  // What all ranks of a stage have in common, made once.
  struct Shared {
    std::string fields;
    ChakraType type = ChakraType::compute;
    const std::vector<std::int64_t>* groups = nullptr;  // of a collective, by rank
    std::size_t peer = 0;                               // of a message: the stage at its other end
  };

  [[nodiscard]] std::vector<Shared> shared(const std::vector<ProgramNode>& program, std::size_t stage) {
    std::vector<Shared> out;
    out.reserve(program.size());
    for (const ProgramNode& p : program) {
      out.push_back({shared_fields(p.node), p.node.type, nullptr, p.peer});
      if (p.node.type == ChakraType::collective) out.back().groups = &groups_->of(stage, p.role);
    }
    return out;
  }

  void append_rank(const std::vector<Shared>& program, const Place& place, std::string& trace) const {
    const std::size_t position = place.copy * plan_.stages[place.stage].devices[place.copy].size() + place.id;
    const std::int32_t own = npu(plan_.stages[place.stage].devices[place.copy][place.id]);
    for (const Shared& node : program) {
      const std::int32_t peer = npu(plan_.stages[node.peer].devices[place.copy][place.id]);
      const bool sends = node.type == ChakraType::send;
      append_node(trace, node.fields,
                  OwnFields{.type = node.type,
                            .group = node.groups == nullptr ? 0 : (*node.groups)[position],
                            .from = sends ? own : peer,
                            .to = sends ? peer : own});
    }
  }

  void warn() {
    if (groups_->size() > kMostGroups) {
      result_.lost.push_back(fmt::format(
          "the simulator numbers messages of a group from a million times the group's number in 32 bits: {} "
          "groups are more than {}, and numbers wrap around",
          groups_->size(), kMostGroups));
    }
    if (bytes_ > kMuch) {
      result_.lost.push_back(fmt::format(
          "the traces take {}: the simulator will need hours, and as much memory", format(Bytes{bytes_})));
    }
  }

  void write_files() {
    sink_({"comm_groups.json", groups_->text()});
    ChakraSystem system{network_.dimensions.size(), network_.levels.size() == 1, group_all_to_all_, false};
    sink_({"system.json", system_text(inputs_.cluster, plan_.training.precision, system)});
    system.roofline = true;
    sink_({"system_roofline.json", system_text(inputs_.cluster, plan_.training.precision, system)});
    system = {2, true, group_all_to_all_, false};
    sink_({"system_flat.json", system_text(inputs_.cluster, plan_.training.precision, system)});
    sink_({"network.yml", network_text(network_.dimensions)});
    sink_({"network_flat.yml", network_text(flat_network(network_))});
    sink_({"remote_memory.json", "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n"});
    sink_({"README.md", readme()});
    result_.next.push_back(command());
  }

  [[nodiscard]] std::string readme() const {
    const std::string tuned = spell_tuning(plan_.training.tuning);
    std::string text = fmt::format(
        "# One training step for ASTRA-sim\n\n"
        "{} on {}: {} NPUs{}, {} communicator groups, {} of traces. The plan is priced at {} a step, {} of "
        "it "
        "in the pipeline{}.\n\n"
        "```\n{}\n```\n\n"
        "The longest `finished, N cycles` of its log (a cycle is a nanosecond) compares with the price. With "
        "`system_flat.json` and `network_flat.yml` all NPUs hang on one switch as slow as the slowest level: "
        "rings within a node look slower than they are, and messages between nodes do not look too fast. "
        "With `system_roofline.json` durations follow from operations and bytes in place of the planner's "
        "times; reductions are slower there, because they then wait for local memory.\n\n"
        "NPU i stands where device i of the cluster does{}. The trace is of one step: parameters that the "
        "step before has updated are gathered at its start.\n\n"
        "Not expressed:\n\n",
        inputs_.model_name(), inputs_.cluster.name(), network_.npus,
        idle_ > 0 ? fmt::format(" ({} idle)", idle_) : "", groups_->size(), format(Bytes{bytes_}),
        format(priced_.predicted.step), format(priced_.pipeline), tuned.empty() ? "" : "; " + tuned,
        command(),
        network_.npus > inputs_.cluster.devices() ? ", counted as if all domains were as large as the largest"
                                                  : "");
    for (const std::string& sentence : result_.lost) text += "- " + sentence + "\n";
    return text;
  }

  const PlanInputs& inputs_;
  const ExportSink& sink_;
  ChakraOptions options_;
  Pricer pricer_;
  Plan plan_;
  PricedPlan priced_;
  ChakraNetwork network_;
  std::optional<ChakraGroups> groups_;
  ExportResult result_;
  bool group_all_to_all_ = false;
  std::int64_t bytes_ = 0;
  std::int64_t idle_ = 0;
};

}  // namespace

ExportResult write_chakra(const ExportQuestion& question, const ExportSink& sink,
                          const ChakraOptions& options) {
  return Writer(question, sink, options).write();
}

ExportResult write_chakra(const ExportQuestion& question, const ExportSink& sink) {
  return write_chakra(question, sink, {});
}

}  // namespace nest::frameworks
