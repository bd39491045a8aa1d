/* SHA-256 (FIPS 180-4), as others have published it of what Apple's compiler wrote. */
#ifndef TESTS_CHIP_HWX_SHA256_H
#define TESTS_CHIP_HWX_SHA256_H

#include <stddef.h>

/* In lower-case hexadecimal. */
void sha256(const void *data, size_t size, char out[65]);

#endif
