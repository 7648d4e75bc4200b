#include "jogak/byte_trie.hpp"

namespace jogak {

std::uint32_t ByteTrie::insert(std::string_view text, std::uint32_t value) {
    std::uint32_t node = root;
    for (const char character : text) {
        const auto byte = static_cast<std::uint8_t>(character);
        std::uint32_t next = child(node, byte);
        if (next == none) {
            if (2 * ends_.size() > keys_.size()) {
                grow();
            }
            next = static_cast<std::uint32_t>(ends_.size());
            ends_.push_back(none);
            place(((static_cast<std::uint64_t>(node) << 8) | byte) + 1, next);
        }
        node = next;
    }
    if (ends_[node] != none) {
        return ends_[node];
    }
    ends_[node] = value;
    return none;
}

void ByteTrie::place(std::uint64_t key, std::uint32_t value) noexcept {
    std::size_t slot = mix(key) & (keys_.size() - 1);
    while (keys_[slot] != 0) {
        slot = (slot + 1) & (keys_.size() - 1);
    }
    keys_[slot] = key;
    values_[slot] = value;
}

void ByteTrie::grow() {
    std::vector<std::uint64_t> keys(keys_.size() * 2, 0);
    std::vector<std::uint32_t> values(keys.size(), 0);
    keys_.swap(keys);
    values_.swap(values);
    for (std::size_t old = 0; old < keys.size(); ++old) {
        if (keys[old] != 0) {
            place(keys[old], values[old]);
        }
    }
}

} // namespace jogak
