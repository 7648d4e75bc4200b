#include "jogak/count.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

constexpr std::size_t chunk_ends = 4096;
/// The scanner's vector kernels need some room for ends.
constexpr std::size_t least_room = 256;

void check_document(std::string_view text, std::int32_t language) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::invalid_argument("a document must be smaller than 2^32 bytes, but has " +
                                    std::to_string(text.size()));
    }
    if (language < 0) {
        throw std::invalid_argument("a language must be 0 or more, but is " +
                                    std::to_string(language));
    }
}

void check_languages(const Documents& documents, std::span<const std::int32_t> languages) {
    if (languages.size() != documents.size()) {
        throw std::invalid_argument("languages must have one entry for each of " +
                                    std::to_string(documents.size()) + " documents, but has " +
                                    std::to_string(languages.size()));
    }
}

std::uint64_t position(const Documents& documents, std::size_t index, std::uint64_t base) {
    return base + static_cast<std::uint64_t>(documents.offsets[index] - documents.offsets[0]);
}

/// Documents lie side by side, so that those from one on are a text of their own.
std::string_view text_from(const Documents& documents, std::size_t index) {
    const std::string_view text = documents[index];
    return {text.data(),
            static_cast<std::size_t>(documents.offsets.back() - documents.offsets[index])};
}

/// Scans on through documents of one language, as many as `ends` have room for, since a table is
/// fast with many pretokens at once and documents may be lines. Moves `from` on, and returns how
/// many ends it wrote: offsets from the beginning of the document where `from` was.
std::size_t scan_documents(const Scanner& scanner, const Documents& documents,
                           std::span<const std::int32_t> languages, CountedUpTo& from,
                           std::span<std::uint32_t> ends) {
    const std::size_t head = from.document;
    std::size_t found = 0;
    while (from.document < documents.size() && languages[from.document] == languages[head] &&
           found + least_room <= ends.size()) {
        const std::string_view text = documents[from.document];
        const auto shift =
            static_cast<std::size_t>(documents.offsets[from.document] - documents.offsets[head]);
        if (shift + text.size() > std::numeric_limits<std::uint32_t>::max()) {
            break;
        }
        const std::span<std::uint32_t> free = ends.subspan(found);
        const std::size_t count =
            from.start < text.size() ? scanner.scan(text, from.start, free.data(), free.size()) : 0;
        from.start = count == 0 ? text.size() : free[count - 1];
        for (std::uint32_t& end : free.first(count)) {
            end += static_cast<std::uint32_t>(shift);
        }
        found += count;
        if (from.start < text.size()) {
            break;
        }
        ++from.document;
        from.start = 0;
    }
    return found;
}

} // namespace

PretokenTable& PretokenCounter::table(std::int32_t language) {
    const auto index = static_cast<std::size_t>(language);
    while (tables_.size() <= index) {
        tables_.emplace_back(single_part_);
    }
    return tables_[index];
}

CountedUpTo PretokenCounter::add(const Scanner& scanner, const Documents& documents,
                                 std::span<const std::int32_t> languages, std::uint64_t base,
                                 CountedUpTo from, std::size_t limit_bytes) {
    check_languages(documents, languages);
    std::array<std::uint32_t, chunk_ends> ends;
    while (from.document < documents.size()) {
        const CountedUpTo head = from;
        check_document(documents[head.document], languages[head.document]);
        PretokenTable& counted = table(languages[head.document]);
        if (is_full(counted, limit_bytes)) {
            return from;
        }
        const std::size_t found = scan_documents(scanner, documents, languages, from, ends);
        if (expected_bytes_ != 0 && found != 0) {
            counted_bytes_ += ends[found - 1] - head.start;
            counted.expect(static_cast<double>(expected_bytes_) /
                           static_cast<double>(counted_bytes_));
        }
        counted.add(text_from(documents, head.document), head.start, {ends.data(), found},
                    position(documents, head.document, base));
        note(languages[head.document], found);
    }
    return from;
}

CountedUpTo PretokenCounter::add_ends(const Documents& documents,
                                      std::span<const std::int64_t> ends,
                                      std::span<const std::int32_t> languages, std::uint64_t base,
                                      CountedUpTo from, std::size_t limit_bytes) {
    check_languages(documents, languages);
    std::array<std::uint32_t, chunk_ends> chunk;
    for (; from.document < documents.size(); ++from.document, from.start = 0) {
        const std::string_view text = documents[from.document];
        check_document(text, languages[from.document]);
        PretokenTable& counted = table(languages[from.document]);
        while (from.start < text.size()) {
            if (is_full(counted, limit_bytes)) {
                return from;
            }
            std::size_t found = 0;
            std::size_t last = from.start;
            for (; found < chunk.size() && last < text.size() && from.end < ends.size();
                 ++from.end) {
                const std::int64_t end = ends[from.end] - documents.offsets[from.document];
                if (end <= static_cast<std::int64_t>(last) ||
                    end > static_cast<std::int64_t>(text.size())) {
                    break;
                }
                last = static_cast<std::size_t>(end);
                chunk[found++] = static_cast<std::uint32_t>(last);
            }
            if (found == 0) {
                throw std::invalid_argument("ends must ascend and include the end of document " +
                                            std::to_string(from.document) +
                                            ", but do not reach it");
            }
            counted.add(text, from.start, {chunk.data(), found},
                        position(documents, from.document, base));
            note(languages[from.document], found);
            from.start = last;
        }
    }
    if (from.end != ends.size()) {
        throw std::invalid_argument("ends must end with the last document, but " +
                                    std::to_string(ends.size() - from.end) + " lie beyond it");
    }
    return from;
}

void PretokenCounter::note(std::int32_t language, Count pretokens) {
    const auto index = static_cast<std::size_t>(language);
    if (pretokens_.size() <= index) {
        pretokens_.resize(index + 1);
    }
    pretokens_[index] += pretokens;
}

Count PretokenCounter::pretokens(std::int32_t language) const noexcept {
    const auto index = static_cast<std::size_t>(language);
    return index < pretokens_.size() ? pretokens_[index] : 0;
}

void PretokenCounter::merge(const PretokenCounter& other) {
    for (std::size_t language = 0; language < other.tables_.size(); ++language) {
        table(static_cast<std::int32_t>(language)).merge(other.tables_[language]);
    }
    for (std::size_t language = 0; language < other.pretokens_.size(); ++language) {
        note(static_cast<std::int32_t>(language), other.pretokens_[language]);
    }
}

bool PretokenCounter::is_full(const PretokenTable& table, std::size_t limit_bytes) const noexcept {
    if (memory_bytes() + table.growth_bytes(chunk_ends) <= limit_bytes) {
        return false;
    }
    for (const PretokenTable& counted : tables_) {
        if (counted.size() > 0) {
            return true;
        }
    }
    return false;
}

std::size_t PretokenCounter::memory_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const PretokenTable& counted : tables_) {
        bytes += counted.memory_bytes();
    }
    return bytes;
}

} // namespace jogak
