#include "nest/frameworks/common/notes.hpp"

#include <fmt/format.h>

#include <variant>

#include "nest/model/blocks/build.hpp"
#include "nest/plan/text/spell_plan.hpp"

namespace nest::frameworks {
namespace {

std::string section(std::string_view title, const std::vector<std::string>& lines) {
  std::string out = fmt::format("\n## {}\n\n", title);
  for (const std::string& line : lines) out += fmt::format("- {}\n", line);
  return out;
}

}  // namespace

std::string export_notes(const ExportQuestion& question, const RankMap& map, std::string_view title,
                         const ExportResult& result, const std::vector<std::string>& remarks) {
  const Plan& plan = question.plan;
  const Training& t = plan.training;
  std::string out = fmt::format("# {}: {}\n\n", question.inputs.model_name(), title);
  if (!result.releases.empty())
    out += fmt::format("These files are for {}.\n", spell_releases(result.releases));
  out +=
      fmt::format("{} ranks on {} hosts of {}: {}, recomputation {}.\n", map.ranks.size(), map.hosts.size(),
                  question.inputs.cluster.name(), spell_degrees(plan), spell_recompute(plan.stages));
  out += fmt::format("Global batch {} of {} tokens, {} micro-batches of {}.\n", t.global_batch, t.sequence,
                     t.micro_batches, t.micro_batch);
  if (const std::string tuned = spell_tuning(t.tuning); !tuned.empty())
    out += fmt::format("Of the model is {}.\n", tuned);
  if (plan.predicted) {
    out += fmt::format("Predicted: step {}, {} tokens/s, MFU {:.1f} %.\n", format(plan.predicted->step),
                       format_count(plan.predicted->tokens_per_s), 100 * plan.predicted->mfu);
  }
  out += fmt::format(
      "\nRanks are numbered {} (the first varies fastest); the data rank is side + {} * copy. "
      "placement/rank_map.csv has the device of every rank.\n",
      name_of(map.order), plan.parallelism.strategy.side());
  if (!map.named) {
    out +=
        "\nHost names are made up. Slurm and Kubernetes give the hosts of the plan real ones; for other "
        "launchers "
        "export again with --hosts.\n";
  }
  if (!result.lost.empty()) out += section("Lost in translation", result.lost);
  std::vector<std::string> yours = remarks;
  if (t.contents.lengths)
    yours.push_back("the data: " + spell(*t.contents.lengths) +
                    ", packed into sequences, in which attention stays inside each document");
  if (Contents images{nullptr, t.contents.images, t.contents.image_tokens}; !images.usual())
    yours.push_back("the data: " + spell(images) + " in a sequence");
  if (const auto* spec = std::get_if<ModelSpec>(&question.inputs.source)) {
    if (const std::string beyond = beyond_positions(*spec, t.sequence); !beyond.empty())
      yours.push_back(
          fmt::format("the model's positions: {}, so that max_position_embeddings is {} wherever a file "
                      "of this export says it, and must be where you say it",
                      beyond, t.sequence));
  }
  if (!yours.empty()) out += section("Yours to say", yours);
  if (!result.next.empty()) out += section("Next", result.next);
  return out;
}

}  // namespace nest::frameworks
