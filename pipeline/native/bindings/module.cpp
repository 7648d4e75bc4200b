#include "bindings.hpp"

NB_MODULE(_core, module) {
    // Python-side caches hold scanners until the interpreter ends; that is no leak to report.
    nb::set_leak_warnings(false);
    module.doc() = "The native core of Jogak: scanning, normalizing, counting, training, encoding.";
    jogak::bindings::bind_normalize(module);
    jogak::bindings::bind_pretokenize(module);
    jogak::bindings::bind_count(module);
    jogak::bindings::bind_train(module);
    jogak::bindings::bind_encode(module);
    jogak::bindings::bind_encode_characters(module);
    jogak::bindings::bind_charsmap(module);
    jogak::bindings::bind_match(module);
    jogak::bindings::bind_merge_list(module);
    jogak::bindings::bind_measure(module);
    jogak::bindings::bind_transcode(module);
}
