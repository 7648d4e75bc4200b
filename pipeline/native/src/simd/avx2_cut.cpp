// Cuts by blocks of 64 bytes: masks find the characters that matter, each is then looked up alone.
// The loop runs once for each character, whatever its length, so it has no branch to guess.
#include "jogak/cut_kernel.hpp"

#include <immintrin.h>

namespace jogak {

namespace {

bool leads_three(std::uint8_t byte) noexcept { return (byte & 0xF0) == 0xE0; }
bool continues(std::uint8_t byte) noexcept { return (byte & 0xC0) == 0x80; }

struct Masks {
    std::uint64_t leads; // bytes that start a character of three
    std::uint64_t ascii;
};

Masks classify(const std::uint8_t* bytes) noexcept {
    const __m256i high = _mm256_set1_epi8(static_cast<char>(0xF0));
    const __m256i three = _mm256_set1_epi8(static_cast<char>(0xE0));
    Masks masks{0, 0};
    for (int half = 0; half < 2; ++half) {
        const __m256i v =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + std::size_t{32} * half));
        const auto lead = static_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(v, high), three)));
        const auto ascii = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(v));
        masks.leads |= static_cast<std::uint64_t>(lead) << (32 * half);
        masks.ascii |= static_cast<std::uint64_t>(ascii) << (32 * half);
    }
    return masks;
}

/// Leads of well-formed characters only. Text that is no UTF-8 is encoded right because of this:
/// what is no character is next to no cut.
std::uint64_t complete(std::uint64_t leads, const std::uint8_t* bytes) noexcept {
    for (int half = 0; half < 2; ++half) {
        const std::uint8_t* start = bytes + std::size_t{32} * half;
        const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start + 1));
        const __m256i third = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start + 2));
        const __m256i limit = _mm256_set1_epi8(static_cast<char>(0xC0));
        const auto both = static_cast<std::uint32_t>(_mm256_movemask_epi8(
            _mm256_and_si256(_mm256_cmpgt_epi8(limit, second), _mm256_cmpgt_epi8(limit, third))));
        leads &= ~(static_cast<std::uint64_t>(~both) << (32 * half));
    }
    return leads;
}

/// The code point of a character of one or three bytes, from 80 on for three, so that an overlong
/// form does not pass for ASCII. Four bytes are readable.
std::uint32_t decode(const std::uint8_t* bytes) noexcept {
    std::uint32_t word;
    __builtin_memcpy(&word, bytes, sizeof word);
    const std::uint32_t code = _pext_u32(__builtin_bswap32(word), 0x0F3F3F00U);
    const std::uint32_t three = code < 0x80 ? 0x80 : code;
    const std::uint32_t one = word & 0xFFU;
    return one < 0x80 ? one : three;
}

/// What a block needs to know of the bytes before it.
struct Before {
    std::uint64_t leads; // bit 3 - k: a three-byte character starts k bytes before the block
    std::uint64_t ascii; // bit 0: the last byte before the block is ASCII
    std::uint64_t row;   // the class of the character before
};

Before look_back(const CutTables& tables, const std::uint8_t* text, std::size_t text_size,
                 std::size_t begin) noexcept {
    const auto make = [](std::uint64_t leads, std::uint64_t ascii, std::uint32_t found) {
        const std::uint32_t row = found & 0xFFFFU;
        return Before{leads, ascii, row};
    };
    if (begin > 0 && text[begin - 1] < 0x80) {
        return make(0, 1, tables.classes[text[begin - 1]]);
    }
    for (std::size_t back = 1; back <= 3 && back <= begin; ++back) {
        const std::uint8_t* lead = text + begin - back;
        if (leads_three(*lead) && begin - back + 3 <= text_size && continues(lead[1]) &&
            continues(lead[2])) {
            const std::uint32_t code =
                (lead[0] & 0x0FU) << 12 | (lead[1] & 0x3FU) << 6 | (lead[2] & 0x3FU);
            return make(std::uint64_t{1} << (3 - back), 0,
                        tables.classes[code < 0x80 ? 0x80 : code]);
        }
        if (!continues(*lead)) {
            break;
        }
    }
    return make(0, 0, 0);
}

/// `bytes` has 67 readable bytes.
std::uint64_t block_cuts(const CutTables& tables, const std::uint8_t* bytes,
                         Before& before) noexcept {
    Masks masks = classify(bytes);
    if (masks.leads != 0) {
        masks.leads = complete(masks.leads, bytes);
    }
    const auto next_lead = static_cast<std::uint64_t>(leads_three(bytes[64])) << 63;
    const std::uint64_t after_three = masks.leads << 3 | before.leads;
    const std::uint64_t after_ascii = masks.ascii << 1 | before.ascii;
    const std::uint64_t starts =
        masks.leads | (masks.ascii & (masks.leads >> 1 | next_lead | after_three));
    before.leads = masks.leads >> 61;
    before.ascii = masks.ascii >> 63;
    std::uint64_t cuts = 0;
    std::uint64_t row = before.row;
    for (std::uint64_t rest = starts; rest != 0; rest &= rest - 1) {
        const std::uint64_t at = _tzcnt_u64(rest);
        const std::uint32_t found = tables.classes[decode(bytes + at)];
        const std::uint64_t bit = row * tables.row_bits + (found >> 16);
        cuts |= (~(tables.joined[bit / 64] >> (bit % 64)) & 1) << at;
        row = found & 0xFFFF;
    }
    before.row = row;
    // Only where the character before is the one looked up before.
    return cuts & (after_three | (after_ascii & masks.leads));
}

} // namespace

void find_cuts_avx2(const CutTables& tables, const std::uint8_t* text, std::size_t text_size,
                    std::size_t begin, std::size_t size, std::uint64_t* bits) noexcept {
    Before before = look_back(tables, text, text_size, begin);
    std::size_t done = 0;
    for (; done < size && begin + done + 67 <= text_size; done += 64) {
        bits[done / 64] = block_cuts(tables, text + begin + done, before);
    }
    for (; done < size; done += 64) {
        std::uint8_t padded[128] = {};
        const std::size_t rest = text_size - begin - done;
        for (std::size_t i = 0; i < rest && i < 67; ++i) {
            padded[i] = text[begin + done + i];
        }
        bits[done / 64] = block_cuts(tables, padded, before);
    }
    if (size % 64 != 0) {
        bits[size / 64] &= (std::uint64_t{1} << (size % 64)) - 1;
    }
}

} // namespace jogak
