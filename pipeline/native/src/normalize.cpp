#include "jogak/normalize.hpp"

#include "normalization_tables.hpp"
#include "normalize_rewrite.hpp"

#include <algorithm>
#include <cstring>

namespace jogak {

namespace {

using Byte = std::uint8_t;

// Conjoining jamo and syllables. Source: The Unicode Standard 16, section 3.12.
constexpr std::uint32_t first_lead = 0x1100;
constexpr std::uint32_t first_vowel = 0x1161;
constexpr std::uint32_t first_final = 0x11A8; // finals count from 1: none is the syllable LV
constexpr std::uint32_t first_syllable = 0xAC00;
constexpr std::uint32_t leads = 19;
constexpr std::uint32_t vowels = 21;
constexpr std::uint32_t finals = 27;
constexpr std::uint32_t syllables = leads * vowels * (finals + 1);

constexpr std::size_t block_bytes = 32;

/// A character of valid UTF-8.
struct Decoded {
    std::uint32_t code;
    std::size_t length;
};

Decoded decode(const Byte* text) noexcept {
    const std::uint32_t lead = text[0];
    if (lead < 0x80) {
        return {lead, 1};
    }
    if (lead < 0xE0) {
        return {(lead & 0x1F) << 6 | (text[1] & 0x3FU), 2};
    }
    if (lead < 0xF0) {
        return {(lead & 0x0F) << 12 | (text[1] & 0x3FU) << 6 | (text[2] & 0x3FU), 3};
    }
    return {(lead & 0x07) << 18 | (text[1] & 0x3FU) << 12 | (text[2] & 0x3FU) << 6 |
                (text[3] & 0x3FU),
            4};
}

/// The character of three bytes that ends at `end`, or 0; all that can take up a jamo has three.
std::uint32_t decode_before(const Byte* begin, const Byte* end) noexcept {
    if (end - begin < 3 || (end[-3] & 0xF0) != 0xE0) {
        return 0;
    }
    return decode(end - 3).code;
}

bool is_vowel(std::uint32_t code) noexcept { return code - first_vowel < vowels; }
bool is_final(std::uint32_t code) noexcept { return code - first_final < finals; }

/// The syllable that a vowel or final makes with the character before it, or 0.
std::uint32_t compose(std::uint32_t before, std::uint32_t jamo) noexcept {
    if (is_vowel(jamo) && before - first_lead < leads) {
        return first_syllable +
               ((before - first_lead) * vowels + (jamo - first_vowel)) * (finals + 1);
    }
    const std::uint32_t syllable = before - first_syllable;
    if (is_final(jamo) && syllable < syllables && syllable % (finals + 1) == 0) {
        return before + (jamo - first_final) + 1;
    }
    return 0;
}

/// Comparisons give all ones where they hold.
using Vector = Byte __attribute__((vector_size(16)));

Vector load_vector(const Byte* text) noexcept {
    Vector vector;
    std::memcpy(&vector, text, sizeof vector);
    return vector;
}

auto within(Vector bytes, Byte first, Byte last) noexcept {
    return bytes - first <= static_cast<Byte>(last - first);
}

template <bool is_nfc> auto plain_bytes(const Byte* text) noexcept {
    constexpr Byte above_low = is_nfc ? 0xCC : 0xC0;
    const Vector byte = load_vector(text);
    const Vector next = load_vector(text + 1);
    const auto below_hangul = (byte == 0xEA) & (next < 0xB0);
    auto plain = (byte < above_low) | (within(byte, 0xE4, 0xED) & ~below_hangul);
    if constexpr (is_nfc) {
        const auto general = (next == 0x80) & (load_vector(text + 2) >= 0x82);
        plain |= (byte == 0xE2) & (within(next, 0x91, 0x9F) | general);
        plain |= (byte == 0xE3) & within(next, 0x84, 0x86);
        plain |= (byte == 0xEF) & within(next, 0xBC, 0xBE);
    }
    return plain;
}

/// Whether a block has only bytes of characters that the form leaves alone and that are starters:
/// ASCII, U+4000-9FFF and U+AC00-D7FF; for NFC also U+0080-02FF, U+2002-203F, U+2440-27FF,
/// U+3100-31BF and U+FF00-FFBF. With them (laughter, ellipses, stars) these are nearly all of
/// Korean text. The block need not begin or end with a character. Reads text[0, block_bytes + 2).
template <bool is_nfc> bool block_is_plain(const Byte* text) noexcept {
    const auto plain = plain_bytes<is_nfc>(text) & plain_bytes<is_nfc>(text + block_bytes / 2);
    std::uint64_t words[2];
    std::memcpy(words, &plain, sizeof words);
    return (words[0] & words[1]) == ~std::uint64_t{0};
}

/// The quick check of one document, character by character where blocks are not plain.
template <NormalForm form> class DocumentCheck {
  public:
    /// `plain` bytes of the document, whole characters or not, are known to be plain.
    [[nodiscard]] FormCheck run(std::string_view document, std::size_t plain) noexcept {
        begin_ = reinterpret_cast<const Byte*>(document.data());
        const Byte* end = begin_ + document.size();
        for (const Byte* at = next_character(begin_ + plain, end);
             at < end && result_ != FormCheck::unknown;) {
            const bool whole = static_cast<std::size_t>(end - at) >= block_bytes + 2;
            if (whole && block_is_plain<form == NormalForm::nfc>(at)) {
                at = next_character(at + block_bytes, end);
                last_class_ = 0;
            } else {
                at = check_characters(at, whole ? at + block_bytes : end);
            }
        }
        return result_;
    }

  private:
    static const Byte* next_character(const Byte* at, const Byte* end) noexcept {
        while (at < end && (*at & 0xC0) == 0x80) {
            ++at;
        }
        return at;
    }

    /// Checks the characters that start before `stop`; returns where the next one starts.
    const Byte* check_characters(const Byte* at, const Byte* stop) noexcept {
        constexpr auto plain_bit = 1U << static_cast<unsigned>(form);
        while (at < stop && result_ != FormCheck::unknown) {
            const auto [code, length] = decode(at);
            const std::size_t block = normalization_blocks[code >> normalization_block_bits];
            if ((normalization_plain[block] & plain_bit) != 0) {
                last_class_ = 0;
            } else {
                check_character(at, code, block);
            }
            at += length;
        }
        return at;
    }

    void check_character(const Byte* at, std::uint32_t code, std::size_t block) noexcept {
        constexpr auto shift = 8 + 2 * static_cast<unsigned>(form);
        constexpr std::uint32_t low_bits = (1U << normalization_block_bits) - 1;
        const std::uint32_t property =
            normalization_properties[(block << normalization_block_bits) + (code & low_bits)];
        const std::uint32_t combining_class = property & 0xFF;
        const bool changes = ((property >> shift) & 3) != 0;
        const bool is_jamo = is_vowel(code) || is_final(code);
        const bool out_of_order = combining_class != 0 && combining_class < last_class_;
        if (out_of_order || (changes && !is_jamo)) {
            result_ = FormCheck::unknown;
        } else if (changes && compose(decode_before(begin_, at), code) != 0) {
            // A final behind L V, which compose, needs no look: the form is not normal already.
            result_ = FormCheck::jamo;
        }
        last_class_ = combining_class;
    }

    const Byte* begin_ = nullptr;
    std::uint32_t last_class_ = 0;
    FormCheck result_ = FormCheck::normal;
};

/// Plain text is passed by blocks that know nothing of documents, for documents may be short.
template <NormalForm form> std::vector<FormCheck> check_documents(const Documents& documents) {
    std::vector<FormCheck> checks(documents.size(), FormCheck::normal);
    if (documents.size() == 0) {
        return checks;
    }
    const Byte* data = documents.data.data();
    const auto data_end = static_cast<std::size_t>(documents.offsets.back());
    auto plain = static_cast<std::size_t>(documents.offsets.front()); // up to here nothing is left
    for (std::size_t index = 0; index < documents.size(); ++index) {
        const auto begin = static_cast<std::size_t>(documents.offsets[index]);
        const auto end = static_cast<std::size_t>(documents.offsets[index + 1]);
        while (plain < end && plain + block_bytes + 2 <= data_end &&
               block_is_plain<form == NormalForm::nfc>(data + plain)) {
            plain += block_bytes;
        }
        if (plain < end) {
            checks[index] =
                DocumentCheck<form>{}.run(documents[index], std::max(plain, begin) - begin);
            plain = end;
        }
    }
    return checks;
}

/// Writes a character of three bytes; returns where the next one goes.
Byte* write_character(Byte* out, std::uint32_t code) noexcept {
    out[0] = static_cast<Byte>(0xE0 | code >> 12);
    out[1] = static_cast<Byte>(0x80 | (code >> 6 & 0x3F));
    out[2] = static_cast<Byte>(0x80 | (code & 0x3F));
    return out + 3;
}

/// The next vowel or final (they begin with byte E1) from `at` on, or end.
const Byte* find_jamo(const Byte* at, const Byte* end) noexcept {
    while (true) {
        at = std::find(at, end, Byte{0xE1});
        if (at == end || is_vowel(decode(at).code) || is_final(decode(at).code)) {
            return at;
        }
        at += 3;
    }
}

bool has_adjacent_jamo(std::string_view document) noexcept {
    const auto* begin = reinterpret_cast<const Byte*>(document.data());
    const Byte* end = begin + document.size();
    for (const Byte* at = find_jamo(begin, end); at < end; at = find_jamo(at + 3, end)) {
        if (compose(decode_before(begin, at), decode(at).code) != 0) {
            return true;
        }
    }
    return false;
}

void write_composed(std::string_view document, std::vector<Byte>& target) {
    const std::size_t start = target.size();
    target.resize(start + document.size()); // composing only shortens
    Byte* const begin = target.data() + start;
    Byte* out = begin;
    const auto* at = reinterpret_cast<const Byte*>(document.data());
    const Byte* end = at + document.size();
    while (at < end) {
        if (*at != 0xE1) { // the first byte of every vowel and final
            *out++ = *at++;
            continue;
        }
        const std::uint32_t code = decode(at).code;
        at += 3;
        // What was written last counts, not what stands before: L V T composes twice.
        const bool is_jamo = is_vowel(code) || is_final(code);
        const std::uint32_t syllable = is_jamo ? compose(decode_before(begin, out), code) : 0;
        out = syllable != 0 ? write_character(out - 3, syllable) : write_character(out, code);
    }
    target.resize(static_cast<std::size_t>(out - target.data()));
}

} // namespace

std::vector<FormCheck> check_form(const Documents& documents, NormalForm form) {
    switch (form) {
    case NormalForm::nfc:
        return check_documents<NormalForm::nfc>(documents);
    case NormalForm::nfkc:
        return check_documents<NormalForm::nfkc>(documents);
    case NormalForm::nfkc_keep_jamo:
        break;
    }
    return check_documents<NormalForm::nfkc_keep_jamo>(documents);
}

RewrittenDocuments compose_jamo(const Documents& documents) {
    return rewrite_documents(documents, has_adjacent_jamo, write_composed);
}

} // namespace jogak
