/* CRC-32, eight bytes at a time ("slicing by eight", Kounavis and Berry 2005). */
#include "base/number/crc32.h"

static void init(mw__crc32_table *table, uint32_t polynomial)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t sum = i;
        for (int bit = 0; bit < 8; bit++)
            sum = (sum & 1) != 0 ? sum >> 1 ^ polynomial : sum >> 1;
        table->of[0][i] = sum;
    }
    for (int k = 1; k < MW__CRC32_WAYS; k++)
        for (uint32_t i = 0; i < 256; i++)
            table->of[k][i] = table->of[k - 1][i] >> 8 ^ table->of[0][table->of[k - 1][i] & 255];
}

void mw__crc32_init(mw__crc32_table *table) { init(table, 0xedb88320u); }

void mw__crc32c_init(mw__crc32_table *table) { init(table, 0x82f63b78u); }

uint32_t mw__crc32_add(const mw__crc32_table *table, uint32_t sum, const void *data, size_t size)
{
    const unsigned char *at = data;
    sum = ~sum;
    for (; size >= 8; size -= 8, at += 8)
        sum = table->of[7][at[0] ^ (sum & 255)] ^ table->of[6][at[1] ^ (sum >> 8 & 255)] ^
              table->of[5][at[2] ^ (sum >> 16 & 255)] ^ table->of[4][at[3] ^ sum >> 24] ^ table->of[3][at[4]] ^
              table->of[2][at[5]] ^ table->of[1][at[6]] ^ table->of[0][at[7]];
    for (; size > 0; size--, at++)
        sum = sum >> 8 ^ table->of[0][(sum ^ *at) & 255];
    return ~sum;
}
