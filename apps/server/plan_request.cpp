#include "plan_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/units.hpp"
#include "nest/question/asked_contents.hpp"
#include "nest/question/asked_value.hpp"
#include "nest/question/make_question.hpp"
#include "safe_inputs.hpp"

namespace nest::server {
namespace {

constexpr std::size_t kLongestSession = 64;
constexpr std::int64_t kMostTop = 20;

bool is_choice(const AskedField& field) {
  return find_space_option(field.name) != nullptr;
}

void read_field(Reader& object, const std::string& key, const AskedField& field, Asked& asked) {
  if (!object.has(key)) return;
  const auto text = asked_text(*object.find(key));
  if (!text) object.fail_at(key, std::string(kNoAskedValue));
  if (field.files && !states_lengths(*text))
    object.fail_at(key, "lengths are written out here, such as 512:900,8192:100");
  if (const auto problem = field.read(*text, asked)) object.fail_at(key, problem->what);
}

void read_choices(Reader choices, Asked& asked) {
  for (const std::string& key : choices.keys()) {
    const AskedField* field = find_asked_field(key);
    if (field == nullptr || !is_choice(*field)) {
      std::vector<std::string> known;
      for (const SpaceOption& o : space_options()) known.emplace_back(o.name);
      choices.fail_at(key, "there is no choice '" + key + "'", did_you_mean(key, known));
    }
    read_field(choices, key, *field, asked);
  }
}

// What no client may ask for, whatever the library can do.
void check_limits(Reader& request, const Limits& limits, Asked& asked) {
  if (asked.devices && *asked.devices > limits.devices)
    request.fail_at("devices", fmt::format("{} devices are more than the {} that this server plans for",
                                           format_digits(*asked.devices), format_digits(limits.devices)));
  if (asked.sequence && *asked.sequence > limits.most_sequence)
    request.fail_at("sequence",
                    fmt::format("{} tokens are more than the {} that this server plans for",
                                format_digits(*asked.sequence), format_digits(limits.most_sequence)));
  for (const auto& [key, number] : {std::pair("top", asked.top), std::pair("runners_up", asked.runners_up)}) {
    if (number > kMostTop)
      request.fail_at(key, fmt::format("{} is more than {}, the largest value that this server allows",
                                       number, kMostTop));
  }
  asked.time_limit = std::min(asked.time_limit.value_or(limits.time_limit), limits.time_limit);
  if (asked.memory_limit) asked.memory_limit = std::min(*asked.memory_limit, limits.memory_limit);
  asked.threads = limits.threads;
}

Asked read_asked(Reader& request, const Limits& limits) {
  Asked asked;
  if (request.has("choices")) read_choices(request.object("choices"), asked);
  for (const AskedField& field : asked_fields()) {
    if (!field.key.empty() && !is_choice(field)) read_field(request, field.key, field, asked);
  }
  check_limits(request, limits, asked);
  return asked;
}

// Names the key of the request that is refused.
[[noreturn]] void refuse(Reader& request, const AskedError& error) {
  const AskedField* field = find_asked_field(error.field());
  if (field != nullptr && is_choice(*field) && request.has("choices")) {
    Reader choices = request.object("choices");
    for (const std::string& key : choices.keys()) {
      if (find_asked_field(key) == field) choices.fail_at(key, error.problem(), error.hint());
    }
  }
  if (field != nullptr) request.fail_at(field->key, error.problem(), error.hint());
  throw error;
}

}  // namespace

std::string read_session(Reader& request) {
  std::string session = request.text_or("session", "");
  const bool plain = std::all_of(session.begin(), session.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
  if (!plain || session.size() > kLongestSession)
    request.fail_at("session", "up to 64 letters, digits, - and _ are expected");
  return session;
}

PlanRequest read_plan_request(Reader request, const Limits& limits) {
  Warnings warnings;
  PlanInputs inputs = read_request_inputs(request, limits, warnings);
  const Asked asked = read_asked(request, limits);
  std::optional<PlanQuestion> question;
  try {
    question = make_question(std::move(inputs), asked);
  } catch (const AskedError& error) {
    refuse(request, error);
  }
  PlanRequest out{std::move(*question), std::move(warnings), request.text_or("name", ""),
                  read_session(request)};
  out.advice = request.boolean_or("advice", true);
  out.views = request.boolean_or("views", false);
  out.in_full = request.boolean_or("in_full", false);
  out.stats = request.boolean_or("stats", false);
  request.done();
  return out;
}

}  // namespace nest::server
