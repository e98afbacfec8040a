#include "nest/price/uncertainty.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/cluster/tree.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::price {
namespace {

// Runs of a kind; what is not stated may be anything.
struct Stratum {
  std::optional<bool> experts;
  std::optional<bool> several_nodes;
  std::optional<bool> compared;
  std::optional<bool> tuned;
  std::vector<std::string> frameworks;
  Spread spread;

  [[nodiscard]] bool holds(const RunTraits& t) const {
    return experts.value_or(t.experts) == t.experts &&
           several_nodes.value_or(t.several_nodes) == t.several_nodes &&
           compared.value_or(t.compared) == t.compared && tuned.value_or(t.tuned) == t.tuned &&
           (frameworks.empty() ||
            std::find(frameworks.begin(), frameworks.end(), t.framework) != frameworks.end());
  }
};

struct Strata {
  std::vector<Stratum> time;
  std::vector<Stratum> memory;
  SpreadSources of_time;
  SpreadSources of_memory;
};

struct Quantile {
  const char* key;
  double share;
};
constexpr std::array<Quantile, 13> kQuantiles{{{"q2.5", 0.025},
                                               {"q5", 0.05},
                                               {"q10", 0.1},
                                               {"q20", 0.2},
                                               {"q30", 0.3},
                                               {"q40", 0.4},
                                               {"q50", 0.5},
                                               {"q60", 0.6},
                                               {"q70", 0.7},
                                               {"q80", 0.8},
                                               {"q90", 0.9},
                                               {"q95", 0.95},
                                               {"q97.5", 0.975}}};

// Words with blanks between.
std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<Stratum> read_strata(Reader& file, const char* key) {
  std::vector<Stratum> out;
  for (Reader& r : file.objects(key)) {
    Stratum& s = out.emplace_back();
    const auto flag = [&](const char* name, std::optional<bool>& value) {
      if (r.has(name)) value = r.boolean_or(name, false);
    };
    flag("experts", s.experts);
    flag("several_nodes", s.several_nodes);
    flag("compared", s.compared);
    flag("tuned", s.tuned);
    s.frameworks = words_of(r.text_or("frameworks", ""));
    s.spread.name = r.text("name");
    s.spread.rows = r.whole("rows");
    for (const Quantile& q : kQuantiles) {
      s.spread.shares.push_back(q.share);
      s.spread.ratios.push_back(r.number(q.key));
    }
    r.done();
  }
  return out;
}

SpreadSources read_sources(Reader& file, const char* key) {
  Reader all = file.object("left_out");
  Reader r = all.object(key);
  SpreadSources out{words_of(r.text("sources")), r.whole("rows"), r.whole("inside")};
  r.done();
  return out;
}

const Strata& strata() {
  static const Strata kStrata = [] {
    const Document document =
        parse_document("data/uncertainty.yaml", std::string(uncertainty_files().front().text));
    Reader file(document);
    Strata all{read_strata(file, "time"), read_strata(file, "memory"), read_sources(file, "time"),
               read_sources(file, "memory")};
    for (const Stratum& s : all.memory) {
      if (s.several_nodes || s.tuned)
        file.fail_at("memory", "margins of memory follow from the inputs alone");
    }
    return all;
  }();
  return kStrata;
}

// The last one holds for all.
const Spread& find(const std::vector<Stratum>& list, const RunTraits& traits) {
  const auto at =
      std::find_if(list.begin(), list.end() - 1, [&](const Stratum& s) { return s.holds(traits); });
  return at->spread;
}

// On the line through the points, and level beyond them.
double along(const std::vector<double>& xs, const std::vector<double>& ys, double x) {
  if (x <= xs.front()) return ys.front();
  if (x >= xs.back()) return ys.back();
  const auto above = static_cast<std::size_t>(std::upper_bound(xs.begin(), xs.end(), x) - xs.begin());
  const double width = xs[above] - xs[above - 1];
  const double part = width > 0 ? (x - xs[above - 1]) / width : 1;
  return ys[above - 1] + part * (ys[above] - ys[above - 1]);
}

}  // namespace

double Spread::ratio(double share) const {
  return along(shares, ratios, share);
}

double Spread::share_below(double wanted) const {
  return std::min(along(ratios, shares, wanted), most_share());
}

bool Spread::beyond(double ratio) const {
  return ratio >= ratios.back() || along(ratios, shares, ratio) >= most_share();
}

std::optional<RunTraits> traits_of(const PlanInputs& inputs, const Training& training, std::int64_t devices) {
  if (inputs.profile() != nullptr) return std::nullopt;
  const Accelerator& accelerator = inputs.cluster.accelerator();
  return RunTraits{
      .experts = has_experts(inputs),
      .several_nodes = devices > inputs.cluster.tree().devices_in(LevelId(0), 0),
      .compared = !inputs.recipe.compared.empty() && !accelerator.matmul_share(MathType::bf16).is_default,
      .framework = inputs.recipe.framework,
      .whole_memory = inputs.recipe.library_memory,
      .tuned = !training.tuning.whole() || training.contents.lengths != nullptr};
}

const Spread& time_spread(const RunTraits& traits) {
  return find(strata().time, traits);
}

const Spread* memory_spread(const RunTraits& traits) {
  return traits.whole_memory ? &find(strata().memory, traits) : nullptr;
}

// No stratum of memory asks for the number of nodes or for what is trained.
const Spread* memory_spread(const PlanInputs& inputs) {
  const auto traits = traits_of(inputs, {}, 1);
  return traits ? memory_spread(*traits) : nullptr;
}

double margin_for(const PlanInputs& inputs, double probability) {
  const Spread* spread = memory_spread(inputs);
  return spread == nullptr ? 0 : std::max(0.0, 1 - 1 / spread->ratio(probability));
}

bool SpreadSources::has(std::string_view source) const {
  return std::find(names.begin(), names.end(), source) != names.end();
}

const SpreadSources& time_sources() {
  return strata().of_time;
}

const SpreadSources& memory_sources() {
  return strata().of_memory;
}

}  // namespace nest::price
