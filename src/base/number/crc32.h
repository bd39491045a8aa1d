/* The checksum of zip archives, CRC-32 of ISO 3309 (polynomial 0xedb88320, bits reversed), and CRC-32C of RFC 3720
 * (0x82f63b78). */
#ifndef MW__BASE_NUMBER_CRC32_H
#define MW__BASE_NUMBER_CRC32_H

#include "base/visible.h"

#include <stddef.h>
#include <stdint.h>

enum { MW__CRC32_WAYS = 8 };

/* Whoever sums has the table; making it takes microseconds. */
typedef struct mw__crc32_table {
    uint32_t of[MW__CRC32_WAYS][256]; /* [k][b]: byte b with k zero bytes behind it */
} mw__crc32_table;

MW__SIBLING void mw__crc32_init(mw__crc32_table *table);
void mw__crc32c_init(mw__crc32_table *table);
/* Goes on with a sum; the first one goes on with 0. */
MW__SIBLING uint32_t mw__crc32_add(const mw__crc32_table *table, uint32_t sum, const void *data, size_t size);

#endif
