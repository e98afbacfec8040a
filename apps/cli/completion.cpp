// A bash script that completes nest's commands, options and names, made from the command table.
#include <fmt/format.h>

#include <set>
#include <string>

#include "command.hpp"
#include "help.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/schedules/schedules.hpp"

namespace nest::cli {

std::string bash_completion() {
  std::set<std::string> groups;
  std::string cases;
  for (const Command& c : commands()) {
    const std::size_t space = c.name.find(' ');
    groups.insert(c.name.substr(0, space));
    std::string options = "--help";
    for (const Option& o : c.options) options += " " + o.name;
    std::string words;
    for (const Command& other : commands()) {
      if (other.name.starts_with(c.name + " ")) words += " " + other.name.substr(c.name.size() + 1);
    }
    cases += fmt::format("    \"{}\") options=\"{}\"; words=\"{}\" ;;\n", c.name, options, words);
  }
  std::string first;
  for (const std::string& g : groups) first += (first.empty() ? "" : " ") + g;
  std::string frameworks;
  for (const FrameworkRules& rules : all_framework_rules())
    frameworks += (frameworks.empty() ? "" : " ") + std::string(rules.name);
  std::string schedules;
  for (const Schedule s : all_schedules())
    schedules += (schedules.empty() ? "" : " ") + std::string(name_of(s));
  return R"BASH(# bash completion of nest:  source <(nest completion bash)
_nest() {
  local current="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}" options="" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ")BASH" +
         first + R"BASH( --help --version" -- "$current"))
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ] && [[ "${COMP_WORDS[2]}" != -* ]]; then command="$command ${COMP_WORDS[2]}"; fi
  case "$command" in
)BASH" + cases +
         R"BASH(  esac
  case "$command" in
    "models show") words="$(nest models --names 2>/dev/null)" ;;
    "clusters show") words="$(nest clusters --names 2>/dev/null)" ;;
    "recipes show") words="$(nest recipes --names 2>/dev/null)" ;;
    "help" | "help "*) words=")BASH" +
         first + R"BASH(" ;;
    "completion") words="bash" ;;
  esac
  local value="" file=""
  case "${COMP_WORDS[COMP_CWORD - 1]}" in
    --svg | -o | --pairs | --trace | --jsonl) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --accelerator) value="$(nest clusters --accelerators --names 2>/dev/null)" ;;
    --model) value="$(nest models --names 2>/dev/null)"; file=yes ;;
    --cluster) value="$(nest clusters --names 2>/dev/null)"; file=yes ;;
    --recipe) value="$(nest recipes --names 2>/dev/null)"; file=yes ;;
    --for) value=")BASH" +
         frameworks + R"BASH(" ;;
    --schedule) value=")BASH" +
         schedules + R"BASH(" ;;
    --recompute) value="none selective full" ;;
    --objective) value="step devices cost" ;;
    --pipeline-model) value="1f1b sum-max paper" ;;
    --precision) value="bf16 fp16 fp8" ;;
    --optimizer) value="adam sgd" ;;
    --sequence-parallel | --first-stage-first) value="on off" ;;
    --context-method) value="ring all_to_all hybrid" ;;
  esac
  if [ -n "$value" ]; then
    COMPREPLY=($(compgen -W "$value" -- "$current"))
    if [ -n "$file" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
    return
  fi
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ "$command" == *\ * ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -o filenames -F _nest nest
)BASH";
}

}  // namespace nest::cli
