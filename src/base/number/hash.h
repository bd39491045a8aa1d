/* Non-cryptographic hashing for cache keys, checksums and maps (XXH3 of the xxHash library). */
#ifndef MW__BASE_NUMBER_HASH_H
#define MW__BASE_NUMBER_HASH_H

#include "base/visible.h"

#include <stddef.h>
#include <stdint.h>

MW__SIBLING uint64_t mw__hash64(const void *data, size_t size, uint64_t seed);

#endif
