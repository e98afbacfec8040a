#include "nest/strategies/sharded_layer.hpp"

namespace nest::strategies {
namespace {

template <class Keep>
std::int64_t count(const ShardedLayer& s, Role role, Keep keep) {
  std::int64_t n = 0;
  for (const ParameterFact& fact : s.parameters) {
    const Tensor& tensor = s.layer.tensor(fact.tensor);
    n += tensor.role == role && !tensor.frozen && keep(fact) ? elements(tensor.shape) : 0;
  }
  return n;
}

}  // namespace

std::int64_t ShardedLayer::dense_parameters() const {
  return count(*this, Role::parameter, [](const ParameterFact& f) { return !f.expert; });
}

std::int64_t ShardedLayer::expert_parameters() const {
  return count(*this, Role::parameter, [](const ParameterFact& f) { return f.expert; });
}

std::int64_t ShardedLayer::replicated_parameters() const {
  const std::int64_t t = strategy.tensor;
  if (t == 1) return 0;
  return count(*this, Role::parameter, [t](const ParameterFact& f) { return !f.expert && f.copies == t; });
}

std::int64_t ShardedLayer::partial_gradient_parameters() const {
  return count(*this, Role::parameter, [](const ParameterFact& f) { return f.partial_gradient; });
}

std::int64_t ShardedLayer::shared_parameters() const {
  return count(*this, Role::shared, [](const ParameterFact&) { return true; });
}

double ShardedLayer::factor_of(const std::string& name, bool parameter) const {
  for (const Replicated& r : replicated) {
    if (r.name == name && r.parameter == parameter) return r.factor;
  }
  return 1;
}

}  // namespace nest::strategies
