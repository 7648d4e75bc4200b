// Cuts by blocks of 64 bytes: masks find the characters that matter, each is then looked up alone.
// The loop runs once for each character, whatever its length, so it has no branch to guess.
#include "jogak/cut_kernel.hpp"

#include <immintrin.h>

namespace jogak {

namespace {

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

/// The code point of a character of one or three bytes; four bytes are readable.
std::uint32_t decode(const std::uint8_t* bytes) noexcept {
    std::uint32_t word;
    __builtin_memcpy(&word, bytes, sizeof word);
    const std::uint32_t three = _pext_u32(__builtin_bswap32(word), 0x0F3F3F00U);
    const std::uint32_t one = word & 0xFFU;
    return one < 0x80 ? one : three;
}

/// What a block needs to know of the bytes before it.
struct Before {
    std::uint64_t leads; // bit 3 - k: a three-byte character starts k bytes before the block
    std::uint64_t ascii; // bit 0: the last byte before the block is ASCII
    std::uint64_t row;   // the class of the character before
};

Before look_back(const CutTables& tables, const std::uint8_t* text, std::size_t begin) noexcept {
    if (begin > 0 && text[begin - 1] < 0x80) {
        return {0, 1, tables.classes[text[begin - 1]] & 0xFFFFU};
    }
    for (std::size_t back = 1; back <= 3 && back <= begin; ++back) {
        const std::uint8_t* lead = text + begin - back;
        if ((*lead & 0xF0) == 0xE0) {
            const std::uint32_t code =
                (lead[0] & 0x0FU) << 12 | (lead[1] & 0x3FU) << 6 | (lead[2] & 0x3FU);
            return {std::uint64_t{1} << (3 - back), 0, tables.classes[code] & 0xFFFFU};
        }
    }
    return {0, 0, 0};
}

/// `bytes` has 67 readable bytes.
std::uint64_t block_cuts(const CutTables& tables, const std::uint8_t* bytes,
                         Before& before) noexcept {
    const Masks masks = classify(bytes);
    const std::uint64_t next_lead = static_cast<std::uint64_t>((bytes[64] & 0xF0) == 0xE0) << 63;
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
    Before before = look_back(tables, text, begin);
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
