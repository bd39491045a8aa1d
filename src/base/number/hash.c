/* The one user of xxHash, taken inline so that no library is linked and no foreign symbol leaves this file. */
#include "base/number/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t mw__hash64(const void *data, size_t size, uint64_t seed) { return XXH3_64bits_withSeed(data, size, seed); }
