// The words for steps and their kinds, as files write them.
#pragma once

#include <array>
#include <string_view>

#include "nest/model/blocks/spec.hpp"

namespace nest::model {

struct StepKindWord {
  std::string_view word;
  StepSpec::Kind kind;
};
inline constexpr std::array<StepKindWord, 17> kStepKindWords{{{"linear", StepSpec::Kind::linear},
                                                              {"norm", StepSpec::Kind::norm},
                                                              {"pass", StepSpec::Kind::pass},
                                                              {"scan", StepSpec::Kind::scan},
                                                              {"attention", StepSpec::Kind::attention},
                                                              {"mixer", StepSpec::Kind::mixer},
                                                              {"dense", StepSpec::Kind::dense},
                                                              {"experts", StepSpec::Kind::experts},
                                                              {"cross", StepSpec::Kind::cross},
                                                              {"add", StepSpec::Kind::add},
                                                              {"fold", StepSpec::Kind::fold},
                                                              {"queries", StepSpec::Kind::queries},
                                                              {"lookup", StepSpec::Kind::lookup},
                                                              {"pool", StepSpec::Kind::pool},
                                                              {"join", StepSpec::Kind::join},
                                                              {"take", StepSpec::Kind::take},
                                                              {"hold", StepSpec::Kind::hold}}};

struct StepPassWord {
  std::string_view word;
  OperatorKind kind;
};
inline constexpr std::array<StepPassWord, 7> kStepPassWords{{{"scale", OperatorKind::scale},
                                                             {"rotary", OperatorKind::rotary},
                                                             {"gelu", OperatorKind::gelu},
                                                             {"relu", OperatorKind::relu},
                                                             {"tanh", OperatorKind::tanh},
                                                             {"swiglu", OperatorKind::swiglu},
                                                             {"geglu", OperatorKind::geglu}}};

struct NormWord {
  std::string_view word;
  NormKind kind;
};
inline constexpr std::array<NormWord, 4> kNormWords{{{"rms", NormKind::rms},
                                                     {"layer", NormKind::layer},
                                                     {"layer_weight", NormKind::layer_weight},
                                                     {"bare", NormKind::bare}}};

struct StepScanWord {
  std::string_view word;
  ScanKernel kind;
};
inline constexpr std::array<StepScanWord, 6> kStepScanWords{
    {{"convolution", ScanKernel::convolution},
     {"state_space", ScanKernel::state_space},
     {"selective_scan", ScanKernel::selective_scan},
     {"delta_rule", ScanKernel::delta_rule},
     {"channel_delta_rule", ScanKernel::channel_delta_rule},
     {"linear_attention", ScanKernel::linear_attention}}};

struct StemWord {
  std::string_view word;
  StemSpec::Kind kind;
};
inline constexpr std::array<StemWord, 3> kStemWords{{{"tokens", StemSpec::Kind::tokens},
                                                     {"patches", StemSpec::Kind::patches},
                                                     {"frames", StemSpec::Kind::frames}}};

}  // namespace nest::model
