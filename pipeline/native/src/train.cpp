#include "jogak/train.hpp"

#include "count_order.hpp"
#include "train_run.hpp"
#include "train_segment_run.hpp"

#include <optional>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

/// Of words that are encoded already.
void check_symbols(const TrainInput& input) {
    for (std::size_t i = 0; i + 1 < input.symbol_offsets.size(); ++i) {
        if (input.symbol_offsets[i] > input.symbol_offsets[i + 1]) {
            throw std::invalid_argument("symbol_offsets must not fall");
        }
    }
    if (input.encoded() &&
        (input.symbol_offsets.front() < 0 ||
         static_cast<std::uint64_t>(input.symbol_offsets.back()) > input.symbols.size())) {
        throw std::invalid_argument("symbol_offsets must lie within symbols");
    }
    const std::vector<std::string>& tokens = input.alphabet.tokens;
    for (const TokenId symbol : input.symbols) {
        if (symbol >= tokens.size() || tokens[symbol].empty()) {
            throw std::invalid_argument("symbol " + std::to_string(symbol) +
                                        " is no token with a text");
        }
    }
}

void check(const TrainInput& input, const TrainOptions& options) {
    const std::size_t pretokens = input.words();
    if (input.counts.size() != pretokens || input.first.size() != pretokens) {
        throw std::invalid_argument("counts and first must have one entry for each of " +
                                    std::to_string(pretokens) + " pretokens, but have " +
                                    std::to_string(input.counts.size()) + " and " +
                                    std::to_string(input.first.size()));
    }
    for (const std::string& token : input.alphabet.tokens) {
        if (token.empty() && !input.encoded()) {
            throw std::invalid_argument("a token of the alphabet is empty");
        }
    }
    check_symbols(input);
    if (options.min_count == 0) {
        throw std::invalid_argument("min_count must be at least 1, but is 0");
    }
    if (options.merges + input.alphabet.tokens.size() > std::numeric_limits<std::int32_t>::max()) {
        throw std::invalid_argument("a vocabulary must have fewer than 2^31 tokens");
    }
}

/// The pretokens by count descending, then first position; empty where they stand so already.
std::vector<std::uint32_t> order_of(const TrainInput& input) {
    bool ordered = true;
    for (std::size_t i = 1; i < input.counts.size() && ordered; ++i) {
        ordered = input.counts[i] < input.counts[i - 1] ||
                  (input.counts[i] == input.counts[i - 1] && input.first[i - 1] <= input.first[i]);
    }
    if (ordered) {
        return {};
    }
    struct Entry {
        Count count;
        std::uint64_t first;
    };
    std::vector<Entry> entries;
    entries.reserve(input.counts.size());
    for (std::size_t i = 0; i < input.counts.size(); ++i) {
        entries.push_back({input.counts[i], input.first[i]});
    }
    return order_by_count(std::span<const Entry>(entries),
                          [](const Entry& left, const Entry& right) { return &left < &right; });
}

/// Goes on with symbols that are as narrow as the vocabulary allows. read(words) gives the text.
template <typename Read> void merge_rest(Training& training, Read&& read) {
    const TrainOptions& options = training.options;
    const std::size_t narrow = narrow_tokens(options.tuning);
    const std::size_t made = training.merges.counts.size();
    const std::size_t most = training.tokens.size() - made + options.merges;
    std::optional<Words<std::uint32_t>> wide;
    if (training.tokens.size() < narrow && (most <= narrow || options.ties != Ties::first_seen)) {
        std::optional<Words<std::uint16_t>> words;
        read(words);
        Run<std::uint16_t> run(training, std::move(*words));
        words.reset();
        if (most <= narrow) {
            run.merge_all();
            return;
        }
        run.merge_stored();
        const PairText<std::uint16_t>& text = run.text();
        wide.emplace(text.words(), text.units());
    } else {
        read(wide);
    }
    Run<std::uint32_t>(training, std::move(*wide)).merge_all();
}

} // namespace

void TrainControl::report(std::size_t merges, Count count, std::string_view token) {
    const std::lock_guard lock(mutex_);
    latest_.merges = merges;
    latest_.count = count;
    latest_.token = token;
}

TrainControl::Snapshot TrainControl::snapshot() const {
    const std::lock_guard lock(mutex_);
    return latest_;
}

Merges train_merges(const TrainInput& input, const TrainOptions& options, TrainControl& control) {
    check(input, options);
    Training training(input.alphabet, options, control);
    const std::vector<std::uint32_t> order = order_of(input);
    std::optional<SegmentRun> first = SegmentRun::begin(training, input, order);
    if (first) {
        first->merge_first();
    }
    const auto read = [&]<typename Symbol>(std::optional<Words<Symbol>>& words) {
        if (first) {
            words.emplace(first->template words<Symbol>());
            first.reset();
        } else {
            words.emplace(input, order, options.ties == Ties::first_seen);
        }
    };
    if (!training.done()) {
        merge_rest(training, read);
    }
    return std::move(training.merges);
}

} // namespace jogak
