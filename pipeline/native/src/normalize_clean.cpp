#include "jogak/normalize.hpp"
#include "normalize_rewrite.hpp"

#include <array>

namespace jogak {

namespace {

using Byte = std::uint8_t;

/// Length of the control character at text[0] that `remove_control` drops, or 0.
std::size_t control_length(std::string_view text) noexcept {
    const auto lead = static_cast<Byte>(text[0]);
    const bool kept = lead >= 0x09 && lead <= 0x0D;
    if ((lead < 0x20 && !kept) || lead == 0x7F) {
        return 1;
    }
    if (lead == 0xC2 && text.size() > 1) {
        const auto second = static_cast<Byte>(text[1]);
        return second < 0xA0 && second != 0x85 ? 2 : 0; // U+0080-009F, less U+0085
    }
    return 0;
}

/// Length of the space at text[0] that `collapse_spaces` takes up (U+0009 and category Zs), or 0.
std::size_t space_length(std::string_view text) noexcept {
    const auto lead = static_cast<Byte>(text[0]);
    if (lead == 0x20 || lead == 0x09) {
        return 1;
    }
    if (text.starts_with("\xC2\xA0")) {
        return 2;
    }
    if (lead < 0xE1 || lead > 0xE3 || text.size() < 3) {
        return 0;
    }
    const auto third = static_cast<Byte>(text[2]);
    const bool general = text.starts_with("\xE2\x80") && (third <= 0x8A || third == 0xAF);
    const bool other = text.starts_with("\xE1\x9A\x80") || text.starts_with("\xE2\x81\x9F") ||
                       text.starts_with("\xE3\x80\x80");
    return general || other ? 3 : 0;
}

/// Applies the rules at the characters that they concern, found by their first byte.
class Cleaner {
  public:
    explicit Cleaner(const CleanRules& rules) noexcept : rules_{rules} {
        for (std::size_t byte = 0; byte < concerned_.size(); ++byte) {
            concerned_[byte] = concerns(static_cast<Byte>(byte));
        }
    }

    [[nodiscard]] bool differs(std::string_view text) const noexcept {
        for (std::size_t at = find(text, 0); at < text.size(); at = find(text, at)) {
            const Edit edit = look(text, at);
            if (edit.replaced) {
                return true;
            }
            at += edit.length;
        }
        return false;
    }

    void write(std::string_view text, std::vector<Byte>& out) const {
        std::size_t copied = 0;
        for (std::size_t at = find(text, 0); at < text.size(); at = find(text, at)) {
            const Edit edit = look(text, at);
            if (edit.replaced) {
                append(out, text.substr(copied, at - copied));
                append(out, edit.replacement);
                copied = at + edit.length;
            }
            at += edit.length;
        }
        append(out, text.substr(copied));
    }

  private:
    /// What becomes of the `length` bytes at some position.
    struct Edit {
        std::size_t length;
        bool replaced;
        std::string_view replacement;
    };

    [[nodiscard]] bool concerns(Byte byte) const noexcept {
        const bool control = byte < 0x20 || byte == 0x7F || byte == 0xC2;
        const bool space =
            byte == 0x20 || byte == 0x09 || byte == 0xC2 || (byte >= 0xE1 && byte <= 0xE3);
        return (rules_.remove_control && control) || (rules_.lf_newlines && byte == '\r') ||
               (rules_.collapse_spaces && space);
    }

    /// The next byte from `at` on that a rule may concern, or the end.
    [[nodiscard]] std::size_t find(std::string_view text, std::size_t at) const noexcept {
        while (at < text.size()) {
            if (concerned_[static_cast<Byte>(text[at])]) {
                // A space by itself stays as it is, and is far the most frequent.
                const bool alone = text[at] == ' ' && at + 1 < text.size() &&
                                   !concerned_[static_cast<Byte>(text[at + 1])];
                if (!alone) {
                    return at;
                }
            }
            ++at;
        }
        return at;
    }

    /// Length of the controls at `at` that disappear.
    [[nodiscard]] std::size_t skip_controls(std::string_view text, std::size_t at) const noexcept {
        const std::size_t start = at;
        while (rules_.remove_control && at < text.size()) {
            const std::size_t length = control_length(text.substr(at));
            if (length == 0) {
                break;
            }
            at += length;
        }
        return at - start;
    }

    [[nodiscard]] Edit look(std::string_view text, std::size_t at) const noexcept {
        if (const std::size_t controls = skip_controls(text, at); controls > 0) {
            return {controls, true, {}};
        }
        if (rules_.lf_newlines && text[at] == '\r') {
            // Controls go first, so CR NUL LF is a CR LF.
            const std::size_t next = at + 1 + skip_controls(text, at + 1);
            const bool pair = next < text.size() && text[next] == '\n';
            return {pair ? next + 1 - at : 1, true, "\n"};
        }
        std::size_t stop = at;
        while (rules_.collapse_spaces && stop < text.size()) {
            const std::size_t length = space_length(text.substr(stop));
            if (length == 0) {
                break;
            }
            stop += length;
            stop += skip_controls(text, stop);
        }
        if (stop > at) {
            return {stop - at, stop - at != 1 || text[at] != ' ', " "};
        }
        const auto lead = static_cast<Byte>(text[at]);
        return {lead < 0x80   ? std::size_t{1}
                : lead < 0xE0 ? std::size_t{2}
                              : std::size_t{3},
                false,
                {}};
    }

    CleanRules rules_;
    std::array<bool, 256> concerned_{};
};

} // namespace

RewrittenDocuments clean_text(const Documents& documents, const CleanRules& rules) {
    const Cleaner cleaner{rules};
    return rewrite_documents(
        documents, [&](std::string_view text) { return cleaner.differs(text); },
        [&](std::string_view text, std::vector<Byte>& out) { cleaner.write(text, out); });
}

} // namespace jogak
