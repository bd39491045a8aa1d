/* A cryptographic digest, for names by content: BLAKE2b with 32 bytes of result (RFC 7693). */
#ifndef MW__BASE_NUMBER_DIGEST_H
#define MW__BASE_NUMBER_DIGEST_H

#include "base/visible.h"

#include <stddef.h>
#include <stdint.h>

#define MW__DIGEST_BYTES 32
#define MW__DIGEST_HEX   65 /* its text, with the NUL */

typedef struct mw__digest {
    uint64_t state[8];
    uint64_t count; /* bytes that are in the state */
    size_t used;    /* of the block */
    unsigned char block[128];
} mw__digest;

MW__SIBLING void mw__digest_begin(mw__digest *digest);
MW__SIBLING void mw__digest_add(mw__digest *digest, const void *data, size_t size);
/* The digest in lower-case hexadecimal; the object needs mw__digest_begin before it is used again. */
MW__SIBLING void mw__digest_end(mw__digest *digest, char out[MW__DIGEST_HEX]);

#endif
