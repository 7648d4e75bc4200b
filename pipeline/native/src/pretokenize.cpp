#include "jogak/pretokenize.hpp"

#include <stdexcept>

namespace jogak {

struct Scanner::Compiled {};

Scanner::Scanner(std::string_view) { throw std::invalid_argument("not built yet"); }
Scanner::~Scanner() = default;
Scanner::Scanner(Scanner&&) noexcept = default;
Scanner& Scanner::operator=(Scanner&&) noexcept = default;
std::size_t Scanner::scan(std::string_view, std::size_t, std::uint32_t*, std::size_t) const noexcept {
    return 0;
}

} // namespace jogak
