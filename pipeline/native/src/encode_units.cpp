#include "encode_units.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace jogak {

void UnitEncoder::prefetch(const Unit& unit) const noexcept {
    const auto fetch = [](const auto& places) {
        __builtin_prefetch(places.first);
        __builtin_prefetch(places.second);
    };
    if (unit.size <= longest_short) {
        fetch(work_.cache.short_places(unit.key));
    } else if (unit.size <= longest_narrow) {
        fetch(work_.cache.narrow_places(unit.key));
    } else if (unit.size <= longest_wide) {
        const Places<WideSlot> places =
            work_.cache.wide_places(wide_key(unit.key, unit.bytes, unit.size));
        fetch(places);
        fetch(Places<WideSlot>{places.first + 1, places.second + 1});
    }
}

void UnitEncoder::encode(const Unit& unit, std::vector<TokenId>& ids) {
    if (table_.has_unmerged()) {
        // The bytes of a token that only whole_first makes mean different ids as a pretoken and as
        // a part of one, so they stay out of the cache.
        const TokenId id = table_.find_unmerged({unit.bytes, unit.size});
        if (id != no_token) {
            if (unit.whole) {
                ids.push_back(id);
            } else {
                merge(unit, ids);
            }
            return;
        }
    }
    if (unit.size <= longest_wide) {
        encode_cached(unit, ids);
    } else {
        encode_long(unit, ids);
    }
}

void UnitEncoder::encode_long(const Unit& unit, std::vector<TokenId>& ids) {
    const std::span bytes(unit.bytes, unit.size);
    const std::span<const TokenId> found = work_.long_units.find(bytes);
    if (!found.empty()) {
        ids.insert(ids.end(), found.begin(), found.end());
        return;
    }
    const std::size_t known = ids.size();
    merge(unit, ids);
    work_.long_units.insert(bytes, std::span<const TokenId>(ids).subspan(known));
}

/// The same unit may have been missed earlier in the window, so it is looked for once more.
void UnitEncoder::encode_cached(const Unit& unit, std::vector<TokenId>& ids) {
    UnitCache& cache = work_.cache;
    std::array<TokenId, most_wide_ids> found;
    const std::size_t count =
        find_unit(cache.tables(), unit.key, unit.bytes, unit.size, found.data());
    if (count != 0) {
        ids.insert(ids.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
        return;
    }
    const std::size_t known = ids.size();
    merge(unit, ids);
    cache.insert(unit.key, unit.bytes, unit.size, std::span<const TokenId>(ids).subspan(known));
}

void UnitEncoder::merge(const Unit& unit, std::vector<TokenId>& ids) {
    const auto start = [&](Symbol* symbols) {
        if (boundaries_ != nullptr) {
            return boundaries_->start(unit.bytes, unit.size, symbols);
        }
        std::copy_n(unit.bytes, unit.size, symbols);
        return unit.size;
    };
    if (unit.size <= longest_scanned) {
        ShortUnit merged;
        const std::size_t count = merge_by_scan(table_, merged, start(merged.symbols()));
        write_ids({merged.symbols(), count}, ids);
        return;
    }
    std::vector<Symbol>& symbols = work_.scratch.symbols;
    symbols.resize(std::max(symbols.size(), unit.size));
    const std::size_t count =
        merge_by_queue(table_, symbols.data(), start(symbols.data()), work_.scratch);
    write_ids({symbols.data(), count}, ids);
}

void UnitEncoder::write_ids(std::span<const Symbol> symbols, std::vector<TokenId>& ids) const {
    const std::size_t known = ids.size();
    ids.resize(known + symbols.size());
    TokenId* out = ids.data() + known;
    for (const Symbol symbol : symbols) {
        const TokenId id = table_.token(symbol);
        if (id == no_token) {
            throw std::runtime_error("encode: the vocabulary has no token for byte " +
                                     std::to_string(symbol));
        }
        *out++ = id;
    }
}

} // namespace jogak
