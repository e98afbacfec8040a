#include <iterator>

#include "command.hpp"

namespace nest::cli {

std::span<const Command> commands() {
  static const std::vector<Command> kAll = [] {
    std::vector<Command> list;
    for (std::vector<Command> part :
         {model_commands(), cluster_commands(), recipe_commands(), help_commands()}) {
      list.insert(list.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    return list;
  }();
  return kAll;
}

Option json_option() {
  return {"--json", "", "print JSON for programs in place of text"};
}
Option svg_option() {
  return {"--svg", "FILE", "also write a drawing as SVG"};
}

}  // namespace nest::cli
