// Cuts by blocks of 64 bytes: the starts of the characters that matter are compressed to the front,
// 16 code points at a time go through the tables by gathers, and the answers are deposited back.
#include "jogak/cut_kernel.hpp"

#include <immintrin.h>

namespace jogak {

namespace {

bool leads_three(std::uint8_t byte) noexcept { return (byte & 0xF0) == 0xE0; }
bool continues(std::uint8_t byte) noexcept { return (byte & 0xC0) == 0x80; }

/// What a block needs to know of the bytes before it.
struct Before {
    std::uint64_t leads; // bit 3 - k: a three-byte character starts k bytes before the block
    std::uint64_t ascii; // bit 0: the last byte before the block is ASCII
    __m512i rows;        // the row of the character before, in every lane
};

Before look_back(const CutTables& tables, const std::uint8_t* text, std::size_t text_size,
                 std::size_t begin) noexcept {
    const auto make = [](std::uint64_t leads, std::uint64_t ascii, std::uint32_t found) {
        const std::uint32_t row = found & 0xFFFFU;
        return Before{leads, ascii, _mm512_set1_epi32(static_cast<int>(row))};
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

/// Code points of the 16 characters whose bytes are the 16-byte vectors; ASCII has only the first,
/// and nothing else is below 80, an overlong form neither.
__m512i decode(__m128i first, __m128i second, __m128i third) noexcept {
    const __m512i b0 = _mm512_cvtepu8_epi32(first);
    const __m512i b1 = _mm512_cvtepu8_epi32(second);
    const __m512i b2 = _mm512_cvtepu8_epi32(third);
    const __m512i high = _mm512_slli_epi32(_mm512_and_si512(b0, _mm512_set1_epi32(0x0F)), 12);
    const __m512i middle = _mm512_slli_epi32(_mm512_and_si512(b1, _mm512_set1_epi32(0x3F)), 6);
    const __m512i low = _mm512_and_si512(b2, _mm512_set1_epi32(0x3F));
    const __mmask16 ascii = _mm512_cmplt_epu32_mask(b0, _mm512_set1_epi32(0x80));
    const __m512i three = _mm512_or_si512(_mm512_or_si512(high, middle), low);
    return _mm512_mask_mov_epi32(_mm512_max_epu32(three, _mm512_set1_epi32(0x80)), ascii, b0);
}

/// Bit i: characters i - 1 and i are joined; before.rows moves on by `count` (1-16) characters.
std::uint64_t joined(const CutTables& tables, __m512i codes, unsigned count,
                     Before& before) noexcept {
    const __m512i found = _mm512_i32gather_epi32(codes, tables.classes, 4);
    const __m512i rows = _mm512_and_si512(found, _mm512_set1_epi32(0xFFFF));
    const __m512i columns = _mm512_srli_epi32(found, 16);
    const __m512i left = _mm512_alignr_epi32(rows, before.rows, 15);
    const __m512i bits = _mm512_add_epi32(
        _mm512_mullo_epi32(left, _mm512_set1_epi32(static_cast<int>(tables.row_bits))), columns);
    const __m512i words = _mm512_i32gather_epi32(_mm512_srli_epi32(bits, 5), tables.joined, 4);
    before.rows = _mm512_permutexvar_epi32(_mm512_set1_epi32(static_cast<int>(count - 1)), rows);
    const __m512i masks =
        _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(bits, _mm512_set1_epi32(31)));
    return _mm512_test_epi32_mask(words, masks);
}

/// `bytes` has 66 readable bytes.
std::uint64_t block_cuts(const CutTables& tables, const std::uint8_t* bytes,
                         Before& before) noexcept {
    const __m512i v0 = _mm512_loadu_si512(bytes);
    const __m512i v1 = _mm512_loadu_si512(bytes + 1);
    const __m512i v2 = _mm512_loadu_si512(bytes + 2);
    const __m512i lead_bits = _mm512_set1_epi8(static_cast<char>(0xF0));
    const __m512i lead_three = _mm512_set1_epi8(static_cast<char>(0xE0));
    // Leads of well-formed characters only. Text that is no UTF-8 is encoded right because of this:
    // what is no character is next to no cut.
    const __m512i not_continuing = _mm512_set1_epi8(static_cast<char>(0xC0));
    std::uint64_t leads = _mm512_cmpeq_epi8_mask(_mm512_and_si512(v0, lead_bits), lead_three);
    leads = _mm512_mask_cmplt_epi8_mask(leads, v1, not_continuing);
    leads = _mm512_mask_cmplt_epi8_mask(leads, v2, not_continuing);
    const std::uint64_t leads_next =
        _mm512_cmpeq_epi8_mask(_mm512_and_si512(v1, lead_bits), lead_three);
    const std::uint64_t ascii = ~_mm512_movepi8_mask(v0);
    const std::uint64_t after_three = leads << 3 | before.leads;
    const std::uint64_t after_ascii = ascii << 1 | before.ascii;
    const std::uint64_t starts = leads | (ascii & (leads_next | after_three));
    before.leads = leads >> 61;
    before.ascii = ascii >> 63;
    if (starts == 0) {
        return 0;
    }
    const __m512i first = _mm512_maskz_compress_epi8(starts, v0);
    const __m512i second = _mm512_maskz_compress_epi8(starts, v1);
    const __m512i third = _mm512_maskz_compress_epi8(starts, v2);
    const auto count = static_cast<unsigned>(_mm_popcnt_u64(starts));
    // At most 39 characters: of any five bytes three can matter.
    std::uint64_t joins =
        joined(tables,
               decode(_mm512_castsi512_si128(first), _mm512_castsi512_si128(second),
                      _mm512_castsi512_si128(third)),
               count < 16 ? count : 16, before);
    if (count > 16) {
        joins |=
            joined(tables,
                   decode(_mm512_extracti32x4_epi32(first, 1), _mm512_extracti32x4_epi32(second, 1),
                          _mm512_extracti32x4_epi32(third, 1)),
                   count < 32 ? count - 16 : 16, before)
            << 16;
    }
    if (count > 32) {
        joins |=
            joined(tables,
                   decode(_mm512_extracti32x4_epi32(first, 2), _mm512_extracti32x4_epi32(second, 2),
                          _mm512_extracti32x4_epi32(third, 2)),
                   count - 32, before)
            << 32;
    }
    // Only where the character before is the one of the lane before.
    return _pdep_u64(~joins, starts) & (after_three | (after_ascii & leads));
}

} // namespace

void find_cuts_avx512(const CutTables& tables, const std::uint8_t* text, std::size_t text_size,
                      std::size_t begin, std::size_t size, std::uint64_t* bits) noexcept {
    Before before = look_back(tables, text, text_size, begin);
    std::size_t done = 0;
    for (; done < size && begin + done + 66 <= text_size; done += 64) {
        bits[done / 64] = block_cuts(tables, text + begin + done, before);
    }
    for (; done < size; done += 64) {
        std::uint8_t padded[128] = {};
        const std::size_t rest = text_size - begin - done;
        for (std::size_t i = 0; i < rest && i < 66; ++i) {
            padded[i] = text[begin + done + i];
        }
        bits[done / 64] = block_cuts(tables, padded, before);
    }
    if (size % 64 != 0) {
        bits[size / 64] &= (std::uint64_t{1} << (size % 64)) - 1;
    }
}

} // namespace jogak
