// How experts are chosen and balanced: the router's rows of megatron_details.hpp.
#include <fmt/format.h>

#include <array>

#include "nest/frameworks/common/detail_text.hpp"
#include "nest/frameworks/common/model_details.hpp"
#include "nest/frameworks/megatron/megatron_details.hpp"

namespace nest::frameworks {
namespace {

const RouterDetails& router_of(const DetailQuestion& q) {
  return q.spec.details.router;
}

DetailLoss write_groups(const DetailQuestion& q, FlagSection& flags) {
  const RouterDetails& router = router_of(q);
  if (router.group_top_k <= 0 || router.group_top_k > router.groups ||
      experts_of(q.stack)->experts % router.groups != 0)
    return "";
  flags.add("--moe-router-num-groups", router.groups).add("--moe-router-group-topk", router.group_top_k);
  return std::nullopt;
}

DetailLoss write_scores(const DetailQuestion& q, FlagSection& flags) {
  const RouterDetails& router = router_of(q);
  const std::int64_t top_k = experts_of(q.stack)->top_k;
  if (!router.sigmoid) {
    // Over all experts: the chosen weights add up to less than 1.
    if (!router.normalized || top_k == 1) flags.add("--moe-router-pre-softmax");
    return std::nullopt;
  }
  flags.add("--moe-router-score-function", "sigmoid");
  if (router.normalized || top_k == 1) return std::nullopt;
  return "the chosen weights of experts add up to 1: sigmoids have no flag against it";
}

DetailLoss write_balance_bias(const DetailQuestion& q, FlagSection& flags) {
  if (!router_of(q).sigmoid) return "";  // beside a softmax it is refused
  flags.add("--moe-router-enable-expert-bias");
  return std::nullopt;
}

DetailLoss write_router_scale(const DetailQuestion& q, FlagSection& flags) {
  flags.add("--moe-router-topk-scaling-factor", short_real(router_of(q).scale));
  return std::nullopt;
}

DetailLoss write_balance_loss(const DetailQuestion& q, FlagSection& flags) {
  const RouterDetails& router = router_of(q);
  flags.add("--moe-router-load-balancing-type", router.balance_by_sequence ? "seq_aux_loss" : "aux_loss");
  flags.add("--moe-aux-loss-coeff", short_real(router.balance_loss));
  return std::nullopt;
}

DetailLoss write_shared_gate(const DetailQuestion& /*q*/, FlagSection& flags) {
  flags.add("--moe-shared-expert-gate");
  return std::nullopt;
}

DetailLoss write_weights_on_input(const DetailQuestion& q, FlagSection& flags) {
  if (experts_of(q.stack)->top_k != 1) return "";
  flags.add("--moe-apply-probs-on-input");
  return std::nullopt;
}

constexpr std::array kRouterWords{
    MegatronWord{"shared_gate", "core_v0.16", write_shared_gate},
    MegatronWord{"groups", "", write_groups},
    MegatronWord{"scores", "", write_scores},
    MegatronWord{"balance_bias", "", write_balance_bias},
    MegatronWord{"router_scale", "", write_router_scale},
    MegatronWord{"balance_loss", "", write_balance_loss},
    MegatronWord{"weights_on_input", "", write_weights_on_input},
};

}  // namespace

std::span<const MegatronWord> megatron_router_words() {
  return kRouterWords;
}

}  // namespace nest::frameworks
