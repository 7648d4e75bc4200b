#include "pretokenize_atoms.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace jogak::pattern {

namespace {

constexpr std::uint32_t block_size = 64;

// Where a class begins or ends: between two such places all code points behave alike.
std::vector<std::uint32_t> places_of_change(const std::vector<CharacterClass>& classes) {
    std::vector<std::uint32_t> places{0};
    for (const CharacterClass& set : classes) {
        for (const CodePointRange& range : set) {
            places.push_back(range.first);
            places.push_back(range.last + 1);
        }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

void fill_tables(Atoms& atoms, const std::vector<Atom>& atom_of) {
    std::copy_n(atom_of.begin(), atoms.ascii.size(), atoms.ascii.begin());
    std::map<std::string, std::uint16_t> known;
    for (auto begin = atom_of.begin(); begin != atom_of.end(); begin += block_size) {
        const std::string block(begin, begin + block_size);
        const auto [entry, added] = known.emplace(block, static_cast<std::uint16_t>(known.size()));
        if (added) {
            atoms.blocks.insert(atoms.blocks.end(), block.begin(), block.end());
        }
        atoms.block_of.push_back(entry->second);
    }
}

} // namespace

Atoms partition(const std::vector<CharacterClass>& classes, std::vector<AtomSet>& members) {
    Atoms atoms;
    members.assign(classes.size(), AtomSet{});
    std::map<std::vector<bool>, Atom> known;
    std::vector<Atom> atom_of(last_code_point + 1);
    const std::vector<std::uint32_t> places = places_of_change(classes);
    for (std::size_t i = 0; i < places.size() && places[i] <= last_code_point; ++i) {
        std::vector<bool> signature(classes.size());
        for (std::size_t c = 0; c < classes.size(); ++c) {
            signature[c] = contains(classes[c], places[i]);
        }
        const auto [entry, added] = known.emplace(signature, static_cast<Atom>(known.size()));
        if (known.size() > most_atoms) {
            throw std::invalid_argument("classes that cut the code points into more than " +
                                        std::to_string(most_atoms) + " kinds");
        }
        for (std::size_t c = 0; added && c < classes.size(); ++c) {
            members[c][entry->second] = signature[c];
        }
        const std::uint32_t next = i + 1 < places.size() ? places[i + 1] : last_code_point + 1;
        std::fill(atom_of.begin() + places[i], atom_of.begin() + next, entry->second);
    }
    atoms.count = known.size();
    fill_tables(atoms, atom_of);
    return atoms;
}

} // namespace jogak::pattern
