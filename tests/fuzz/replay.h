/* The one function of a fuzz target, with libFuzzer's name: returns 0, and must never crash, hang or leak.
 *
 * A target is tests/fuzz/fuzz_<thing>.c. Its inputs, old findings among them, are files in tests/fuzz/corpus/<thing>.
 */
#ifndef TESTS_FUZZ_REPLAY_H
#define TESTS_FUZZ_REPLAY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
