#include "nest/frameworks/megatron_core/core_export.hpp"

#include <fmt/format.h>

#include "nest/frameworks/common/export_rule.hpp"
#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/megatron/megatron.hpp"
#include "nest/frameworks/megatron/megatron_args.hpp"

namespace nest::frameworks {

CoreExport begin_core_export(const ExportQuestion& question, const CoreTarget& target) {
  CoreExport out;
  out.facts = export_facts(question, target.name);
  if (auto broken = first_broken(out.facts, target.name, megatron_rules())) {
    out.result.rule = broken->name;
    out.result.sentence = broken->sentence;
    return out;
  }
  out.result.releases = {out.facts.release};
  out.map =
      target.whole_copies ? megatron_ranks(question) : make_rank_map(question, RankOrder::data_before_stage);
  const bool model = target.describes_model != nullptr && target.describes_model(out.facts);
  const std::vector<Flag> flags = core_flags(out.facts, {target.core, out.map.order, model}, out.result.lost);
  Translation translation = translate(flags, target.dialect);
  for (std::string& sentence : unknown_losses(translation, target.noun))
    out.result.lost.push_back(std::move(sentence));
  out.settings = std::move(translation.settings);
  for (std::string& sentence : placement_losses(out.map)) out.result.lost.push_back(std::move(sentence));
  return out;
}

void end_core_export(const ExportQuestion& question, const CoreExport& out, std::string_view title,
                     const CoreScript& script, const std::vector<std::string>& remarks,
                     const ExportSink& sink) {
  sink({script.name, script.text, true});
  sink({"run_host.sh", host_script(out.map, script.name), true});
  sink({"run_slurm.sh", slurm_script(out.map, script.job, script.name), true});
  write_placement(out.map, "placement/", sink);
  sink({"NOTES.md", export_notes(question, out.map, title, out.result, remarks)});
}

std::string core_header(const CoreExport& out, std::string_view what) {
  return fmt::format("# {} of a plan by nest for {}; world size: {}\n\n", what,
                     spell_releases(out.result.releases), out.map.ranks.size());
}

}  // namespace nest::frameworks
