#include "plan_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/question/make_question.hpp"
#include "nest/solve/ask/why_not.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

Option option_of(const AskedField& field) {
  return {"--" + field.name, field.argument, field.text};
}

[[noreturn]] void refuse(const std::string& option, const SpaceProblem& problem,
                         const std::string& hint = {}) {
  if (problem.impossible) throw InputError("", option, problem.what, hint);
  throw UsageError(option + ": " + problem.what + (hint.empty() ? "" : "; " + hint));
}

void read_field(const Arguments& arguments, const AskedField& field, Asked& asked) {
  const std::string option = "--" + field.name;
  if (!field.option || !arguments.has(option)) return;
  const std::string text = field.argument.empty() ? "on" : *arguments.text(option);
  if (const auto problem = field.read(text, asked)) refuse(option, *problem);
}

}  // namespace

Option asked_option(std::string_view name) {
  return option_of(*find_asked_field(name));
}

std::vector<Option> asked_options(std::initializer_list<AskedSection> groups,
                                  std::span<const std::string_view> left_out) {
  std::vector<Option> options;
  for (const AskedSection group : groups) {
    for (const AskedField& field : asked_fields()) {
      const bool wanted = field.group == group && field.option &&
                          std::find(left_out.begin(), left_out.end(), field.name) == left_out.end();
      if (wanted) options.push_back(option_of(field));
    }
  }
  return options;
}

Asked read_asked(const Arguments& arguments) {
  Asked asked;
  for (const AskedField& field : asked_fields()) read_field(arguments, field, asked);
  return asked;
}

Asked read_asked(const Arguments& arguments, std::string_view name) {
  Asked asked;
  read_field(arguments, *find_asked_field(name), asked);
  return asked;
}

void naming_options(const std::function<void()>& doing) {
  try {
    doing();
  } catch (const AskedError& error) {
    refuse("--" + error.field(), {error.problem(), error.impossible()}, error.hint());
  }
}

PlanQuestion read_question(const Arguments& arguments, const Asked& asked, Terminal& terminal,
                           Warnings& on_inputs) {
  if (const auto choice = arguments.text("--why-not"); choice && !names_plan(*choice)) {
    SearchSpace pinned = asked.choices;
    if (const auto problem = pin_choices(*choice, pinned)) refuse("--why-not", *problem);
  }
  check_output(arguments, "-o");
  PlanInputs inputs = read_plan_inputs(arguments, on_inputs);
  terminal.warn(on_inputs);
  std::optional<PlanQuestion> question;
  naming_options([&] { question = make_question(std::move(inputs), asked); });
  return std::move(*question);
}

bool names_plan(const std::string& why_not) {
  return why_not.find('=') == std::string::npos && looks_like_file(why_not);
}

Plan read_rival(const std::string& file, const PlanQuestion& question, Terminal& terminal) {
  const Document document = read_document(file);
  Reader reader(document);
  Warnings warnings;
  const Value* said = document.root.find("training");
  Plan plan = read_plan(reader, question.inputs.recipe, warnings);
  const Training& wanted = question.training;
  Training& own = plan.training;
  const auto left_out = [&](const char* key) { return said == nullptr || said->find(key) == nullptr; };
  if (left_out("global_batch")) own.global_batch = wanted.global_batch;
  if (own.sequence == 0) own.sequence = wanted.sequence;
  if (own.contents.usual()) own.contents = wanted.contents;
  if (left_out("mtp")) own.mtp = wanted.mtp;
  if (left_out("precision")) own.precision = wanted.precision;
  if (left_out("optimizer")) own.optimizer = wanted.optimizer;
  const auto same = [&](const char* key, const std::string& option, const std::string& plan_has,
                        const std::string& asked) {
    if (plan_has == asked) return;
    throw InputError(file, std::string("training.") + key,
                     fmt::format("the plan has {}, the question {}", plan_has, asked),
                     fmt::format("give --{} {}", option, plan_has));
  };
  same("global_batch", "global-batch", std::to_string(own.global_batch), std::to_string(wanted.global_batch));
  same("sequence", "sequence", std::to_string(own.sequence), std::to_string(wanted.sequence));
  if (!(own.contents == wanted.contents))
    throw InputError(file, "training",
                     "the plan's sequences are made of other documents or images than the question's",
                     "give --lengths, --images and --image-tokens as the plan has them");
  if (own.mtp != wanted.mtp)
    throw InputError(file, "training.mtp",
                     own.mtp ? "the plan has modules for multi-token prediction, the question has none"
                             : "the question has modules for multi-token prediction, the plan has none",
                     own.mtp ? "give --mtp" : "leave --mtp out");
  same("precision", "precision", std::string(name_of(own.precision)), std::string(name_of(wanted.precision)));
  same("optimizer", "optimizer", std::string(name_of(own.optimizer)), std::string(name_of(wanted.optimizer)));
  if (document.root.find("inputs") != nullptr) {
    Reader carried = reader.object("inputs");
    const PlanInputs others = read_inputs(carried, warnings);
    for (const ChoiceDifference& d : diff_inputs(question.inputs, others))
      warnings.push_back(
          fmt::format("{} was made for another {} ({}); it is priced with that of the question ({})", file,
                      d.what, d.second, d.first));
  }
  terminal.warn(warnings);
  return plan;
}

int code_without_plan(PlanStatus status) {
  if (status == PlanStatus::disagreement) return kBug;
  return status == PlanStatus::limit ? kLimit : kInfeasible;
}

PlanQuestion read_question(const Arguments& arguments, Terminal& terminal) {
  Warnings told;
  PlanQuestion question = read_question(arguments, read_asked(arguments), terminal, told);
  terminal.warn(question.notes);
  return question;
}

}  // namespace nest::cli
