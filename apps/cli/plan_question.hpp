// The question that a command line asks: its options are rows of the table asked_fields(), and make_question
// puts it together.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "nest/question/question.hpp"

namespace nest::cli {

// One row of the table as an option.
[[nodiscard]] Option asked_option(std::string_view name);
// All rows of these groups but those that are left out by name, in the table's order.
[[nodiscard]] std::vector<Option> asked_options(std::initializer_list<AskedSection> groups,
                                                std::span<const std::string_view> left_out = {});
// Options that only `nest plan` has: other commands have an aim of their own.
inline constexpr std::array<std::string_view, 4> kOfPlanOnly{"objective", "target-tokens-per-s", "without",
                                                             "strict"};

// Of nodes that come back: commands that look at one cluster as it is have no use for it.
inline constexpr std::array<std::string_view, 1> kOfSizeOnly{"repair"};

// What the options say. A text that is no value is a UsageError, or an InputError where it is understood.
[[nodiscard]] Asked read_asked(const Arguments& arguments);
// One field alone, of commands whose other options mean something else.
[[nodiscard]] Asked read_asked(const Arguments& arguments, std::string_view name);
// Runs something that may refuse a field, and names the option where it does.
void naming_options(const std::function<void()>& doing);

// Inputs and options of the command line as a question. Warnings on the inputs are told at once, and left for an
// answer's JSON.
[[nodiscard]] PlanQuestion read_question(const Arguments& arguments, const Asked& asked, Terminal& terminal,
                                         Warnings& on_inputs);
[[nodiscard]] PlanQuestion read_question(const Arguments& arguments, Terminal& terminal);

// Whether what --why-not says is a plan file, and no choice.
[[nodiscard]] bool names_plan(const std::string& why_not);
// The plan of such a file, for the training of the question: what the file leaves out of it is the question's, and
// anything else is an InputError.
[[nodiscard]] Plan read_rival(const std::string& file, const PlanQuestion& question, Terminal& terminal);

// The exit code of an answer that has no plan.
[[nodiscard]] int code_without_plan(PlanStatus status);

}  // namespace nest::cli
