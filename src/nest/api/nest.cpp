#include "nest/api/nest.hpp"

#include <variant>

namespace nest {

std::string_view version() {
  return NEST_VERSION;
}

Model open_model(const std::string& name_or_file, const BuildOptions& options, Warnings& warnings) {
  const ModelSource source = load_model(name_or_file, warnings);
  if (const ModelSpec* spec = std::get_if<ModelSpec>(&source)) return build_model(*spec, options);
  throw InputError(name_or_file, "", "is a layer profile, which has costs and no operators",
                   "it brings its own costs: 'nest models show' lists them");
}

}  // namespace nest
