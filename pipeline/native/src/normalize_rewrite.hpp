// How normalize writes documents anew: nothing is copied until a document changes.
#pragma once

#include "jogak/normalize.hpp"

#include <cstring>

namespace jogak {

/// Appends bytes.
inline void append(std::vector<std::uint8_t>& out, std::string_view bytes) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    out.insert(out.end(), begin, begin + bytes.size());
}

/// Rewrites documents: `differs(text)` says whether one changes, and `write(text, out)` appends
/// its new text to out.
template <typename Differs, typename Write>
[[nodiscard]] RewrittenDocuments rewrite_documents(const Documents& documents,
                                                   const Differs& differs, const Write& write) {
    RewrittenDocuments result;
    result.changed.assign(documents.size(), 0);
    bool any = false;
    for (std::size_t index = 0; index < documents.size(); ++index) {
        const bool differing = differs(documents[index]);
        result.changed[index] = differing ? 1 : 0;
        any = any || differing;
    }
    if (!any) {
        return result;
    }
    const auto size = static_cast<std::size_t>(documents.offsets.back() - documents.offsets[0]);
    result.data.reserve(size + size / 8);
    result.offsets.reserve(documents.size() + 1);
    result.offsets.push_back(0);
    for (std::size_t index = 0; index < documents.size(); ++index) {
        if (result.changed[index] != 0) {
            write(documents[index], result.data);
        } else {
            append(result.data, documents[index]);
        }
        result.offsets.push_back(static_cast<std::int64_t>(result.data.size()));
    }
    return result;
}

} // namespace jogak
