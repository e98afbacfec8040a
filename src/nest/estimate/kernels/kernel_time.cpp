#include "nest/estimate/kernels/kernel_time.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/hash.hpp"

namespace nest::estimate {
namespace {

// What the model misses is averaged over the measured points within this distance (in octaves of the sizes),
// each with the weight (1 - (distance / reach)^2)^3; the model itself has the weight kTrust, so that what one
// lonely point says is not taken for all.
constexpr float kReach = 2.0F;
constexpr float kStreamReach = 5.0F;
constexpr float kBeyond = 1.4F;
constexpr std::size_t kNeighbours = 4;
constexpr double kTrust = 0.3;
constexpr double kStreamTrust = 0.02;
constexpr double kMostMiss = 0.4;      // larger ones are slips of a measurement or a library
constexpr double kLeastWeight = 0.15;  // below it nothing is near

float distance(const std::array<float, kCoordinates>& a, const std::array<float, kCoordinates>& b) {
  float square = 0;
  for (std::size_t d = 0; d < kCoordinates; ++d) square += (a[d] - b[d]) * (a[d] - b[d]);
  return square;
}

// The sizes without those that do not matter: into how many tensors parameters are cut.
std::array<std::int64_t, kMostSizes> comparable(KernelKind kind, std::array<std::int64_t, kMostSizes> sizes) {
  if (kind >= KernelKind::adam_fused_bf16 && kind <= KernelKind::norm_fp32) sizes[1] = 0;
  return sizes;
}

const MeasuredProfile& profile_named(const Accelerator& accelerator) {
  if (const MeasuredProfile* profile = shipped_profile(accelerator.profile)) return *profile;
  std::string known;
  for (const std::string& name : names_of(profile_files()))
    known += (known.empty() ? "known: " : ", ") + name;
  throw InputError("", accelerator.name, "there is no profile '" + accelerator.profile + "'", known);
}

}  // namespace

std::string_view name_of(TimeSource source) {
  switch (source) {
    case TimeSource::measured:
      return "measured";
    case TimeSource::interpolated:
      return "interpolated";
    case TimeSource::model:
      return "model";
    case TimeSource::roofline:
      return "roofline";
  }
  return "model";
}

// The measured points of one kind; made when the kind is first asked for.
struct KernelTimes::Index {
  struct Near {
    std::array<float, kCoordinates> at;
    float miss;  // logarithm of measured over model
  };
  std::once_flag once;
  std::vector<Near> points;
  std::vector<std::array<std::int64_t, kMostSizes>> sizes;
  std::vector<double> seconds;

  [[nodiscard]] float reach_around(const std::array<float, kCoordinates>& at) const;
};

// Times that were asked for.
struct KernelTimes::Kept {
  struct Hash {
    std::size_t operator()(const KernelCall& call) const {
      auto hash = static_cast<std::size_t>(call.kind);
      for (const std::int64_t size : call.sizes) mix_hash(hash, static_cast<std::size_t>(size));
      mix_hash(hash, static_cast<std::size_t>(call.window));
      mix_hash(hash, static_cast<std::size_t>(call.document));
      return hash;
    }
  };
  static constexpr std::size_t kMost = 1 << 14;  // about 2 MB

  std::mutex mutex;
  std::unordered_map<KernelCall, KernelTime, Hash> times;

  [[nodiscard]] std::optional<KernelTime> find(const KernelCall& call) {
    const std::lock_guard lock(mutex);
    const auto known = times.find(call);
    return known == times.end() ? std::nullopt : std::optional(known->second);
  }
  void add(const KernelCall& call, const KernelTime& time) {
    const std::lock_guard lock(mutex);
    if (times.size() >= kMost) times.clear();
    times.emplace(call, time);
  }
};

KernelTimes::KernelTimes(const Accelerator& accelerator, bool held_out)
    : rates_(device_rates(accelerator)),
      held_out_(held_out),
      launch_(accelerator.launch.value_or(accelerator_defaults().launch)),
      indices_(std::make_unique<std::array<Index, kKernelKinds>>()),
      kept_(std::make_unique<Kept>()) {
  if (accelerator.profile.empty()) return;
  measured_ = &profile_named(accelerator);
  profile_name_ = accelerator.profile;
  profile_rates_ = device_rates(find_accelerator(measured_->accelerator));
  own_ = rates_.rate == profile_rates_.rate && rates_.bandwidth == profile_rates_.bandwidth;
  const MeasuredSeries* add = measured_->series("launch/cpu_add");
  if (!accelerator.launch && add != nullptr) launch_ = Seconds{add->points.front().seconds};
}

KernelTimes::~KernelTimes() = default;
KernelTimes::KernelTimes(KernelTimes&&) noexcept = default;
KernelTimes& KernelTimes::operator=(KernelTimes&&) noexcept = default;

const KernelTimes::Index& KernelTimes::index_of(KernelKind kind) const {
  Index& index = (*indices_)[static_cast<std::size_t>(kind)];
  std::call_once(index.once, [&] {
    const MeasuredSeries* series = measured_ ? measured_->series(row_of(kind).series) : nullptr;
    if (!series) return;
    for (const MeasuredPoint& p : series->points) {
      if (held_out_ && p.held_out) continue;
      const KernelCall call{kind, p.sizes};
      const double model = model_seconds(call, fitted_constants(), profile_rates_);
      const double miss = std::clamp(std::log(p.seconds / model), -kMostMiss, kMostMiss);
      index.points.push_back({coordinates(call), static_cast<float>(miss)});
      index.sizes.push_back(comparable(kind, p.sizes));
      index.seconds.push_back(p.seconds);
    }
  });
  return index;
}

// The reach over sparse tables: to the kNeighbours-th point and a little further.
float KernelTimes::Index::reach_around(const std::array<float, kCoordinates>& at) const {
  std::array<float, kNeighbours> nearest;
  nearest.fill(kStreamReach * kStreamReach / kBeyond / kBeyond);
  for (const Near& p : points) {
    float square = distance(at, p.at);
    for (float& kept : nearest) {
      if (square < kept) std::swap(square, kept);
    }
  }
  return kBeyond * std::sqrt(nearest.back());
}

namespace {

// As many tokens in documents that are all as long as that of a token is in the mean: kernels were measured so.
KernelCall alike(const KernelCall& call) {
  KernelCall out{call.kind, call.sizes, call.window < call.document ? call.window : 0};
  const double documents =
      static_cast<double>(call.sizes[0] * call.sizes[1]) / static_cast<double>(call.document);
  out.sizes[0] = std::max<std::int64_t>(1, std::llround(documents));
  out.sizes[1] = call.document;
  out.sizes[7] = 0;
  return out;
}

}  // namespace

KernelTime KernelTimes::seconds(const KernelCall& call) const {
  if (const auto known = kept_->find(call)) return *known;
  const KernelTime made = make(call);
  kept_->add(call, made);
  return made;
}

KernelTime KernelTimes::make(const KernelCall& call) const {
  if (call.blocks > 0) {
    const KernelCall one = alike(call);
    KernelTime time = seconds(one);
    time.time =
        (model_seconds(call, fitted_constants(), rates_) / model_seconds(one, fitted_constants(), rates_)) *
        time.time;
    return time;
  }
  const double model = model_seconds(call, fitted_constants(), rates_);
  if (is_roofline(call.kind)) return {Seconds{model}, TimeSource::roofline};
  if (row_of(call.kind).family == KernelFamily::scan) return {Seconds{model}, TimeSource::model};
  if (!measured_ || call.window > 0) return {Seconds{model}, TimeSource::model};
  const Index& index = index_of(call.kind);
  const bool stream = row_of(call.kind).family == KernelFamily::stream;
  const auto at = coordinates(call);
  const float reach = stream ? index.reach_around(at) : kReach;
  const float limit = reach * reach;
  double weight = 0;
  double sum = 0;
  for (std::size_t i = 0; i < index.points.size(); ++i) {
    const float square = distance(at, index.points[i].at);
    if (square == 0 && own_ && index.sizes[i] == comparable(call.kind, call.sizes)) {
      return {Seconds{index.seconds[i]}, TimeSource::measured};
    }
    if (square >= limit) continue;
    const double near = 1 - static_cast<double>(square) / static_cast<double>(limit);
    const double w = near * near * near;
    weight += w;
    sum += w * static_cast<double>(index.points[i].miss);
  }
  constexpr double kLeast = 1e-6;  // no kernel is done sooner
  const double time = std::max(kLeast, model) * std::exp(sum / (weight + (stream ? kStreamTrust : kTrust)));
  const bool interpolated = own_ && weight > kLeastWeight;
  return {Seconds{std::max(kLeast, time)}, interpolated ? TimeSource::interpolated : TimeSource::model};
}

std::shared_ptr<const KernelTimes> shared_kernel_times(const Accelerator& accelerator) {
  constexpr std::size_t kMost = 4;
  struct Shared {
    DeviceRates rates;
    std::string profile;
    std::optional<Seconds> launch;
    std::shared_ptr<const KernelTimes> times;
  };
  static std::mutex mutex;
  static std::vector<Shared> latest;
  const DeviceRates rates = device_rates(accelerator);
  const std::lock_guard lock(mutex);
  const auto known = std::find_if(latest.begin(), latest.end(), [&](const Shared& other) {
    return other.rates == rates && other.profile == accelerator.profile && other.launch == accelerator.launch;
  });
  if (known != latest.end()) return known->times;
  if (latest.size() >= kMost) latest.erase(latest.begin());
  latest.push_back(
      {rates, accelerator.profile, accelerator.launch, std::make_shared<const KernelTimes>(accelerator)});
  return latest.back().times;
}

// By their authors' account generation 2 is twice as fast as generation 1, and reaches 35 % of an H100's
// peak, where the profile's kernels reach 57 %; on an A100 it is the newest. Published runs agree: 100
// TFLOP/s of causal attention with generation 1 on an A100, 175 on an H100 (docs/step.md). Blackwell: as
// Hopper, for want of a measurement. The ratios are `flash_time` of data/accelerators.yaml.
double flash_time(int generation, const Accelerator& accelerator) {
  return generation >= kNewestFlash ? 1 : accelerator.flash_time[generation == 1 ? 0 : 1];
}

}  // namespace nest::estimate
