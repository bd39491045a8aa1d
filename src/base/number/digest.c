/* BLAKE2b by RFC 7693, without a key. */
#include "base/number/digest.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCK = 128, ROUNDS = 12 };

static const uint64_t start[8] = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
                                  0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};

/* The order of the block's words in each round. */
static const uint8_t orders[ROUNDS][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

static uint64_t read_word(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t turn(uint64_t word, int by) { return word >> by | word << (64 - by); }

static inline void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = turn(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = turn(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 63);
}

/* A function of its own for constant indices: the words of v then live in registers. */
static inline __attribute__((always_inline)) void mix_all(uint64_t v[16], const uint64_t m[16], const uint8_t o[16])
{
    mix(v, 0, 4, 8, 12, m[o[0]], m[o[1]]);
    mix(v, 1, 5, 9, 13, m[o[2]], m[o[3]]);
    mix(v, 2, 6, 10, 14, m[o[4]], m[o[5]]);
    mix(v, 3, 7, 11, 15, m[o[6]], m[o[7]]);
    mix(v, 0, 5, 10, 15, m[o[8]], m[o[9]]);
    mix(v, 1, 6, 11, 12, m[o[10]], m[o[11]]);
    mix(v, 2, 7, 8, 13, m[o[12]], m[o[13]]);
    mix(v, 3, 4, 9, 14, m[o[14]], m[o[15]]);
}

/* Takes a block; `digest->count` counts it already. */
static void take_block(mw__digest *digest, const unsigned char *block, bool last)
{
    uint64_t v[16], m[16];
    for (int i = 0; i < 16; i++)
        m[i] = read_word(block + 8 * i);
    memcpy(v, digest->state, sizeof digest->state);
    memcpy(v + 8, start, sizeof start);
    v[12] ^= digest->count;
    v[14] = last ? ~v[14] : v[14];
#pragma GCC unroll 12 /* the orders are constants then: twice as fast */
    for (int round = 0; round < ROUNDS; round++)
        mix_all(v, m, orders[round]);
    for (int i = 0; i < 8; i++)
        digest->state[i] ^= v[i] ^ v[i + 8];
}

void mw__digest_begin(mw__digest *digest)
{
    *digest = (mw__digest){0};
    memcpy(digest->state, start, sizeof start);
    digest->state[0] ^= 0x01010000u ^ MW__DIGEST_BYTES;
}

/* A full block waits until more comes: the last one is taken differently. */
void mw__digest_add(mw__digest *digest, const void *data, size_t size)
{
    const unsigned char *at = data;
    while (size > 0) {
        if (digest->used == BLOCK) {
            digest->count += BLOCK;
            take_block(digest, digest->block, false);
            digest->used = 0;
        }
        for (; digest->used == 0 && size > BLOCK; at += BLOCK, size -= BLOCK) {
            digest->count += BLOCK;
            take_block(digest, at, false);
        }
        const size_t room = BLOCK - digest->used, part = size < room ? size : room;
        memcpy(digest->block + digest->used, at, part);
        digest->used += part;
        at += part;
        size -= part;
    }
}

void mw__digest_end(mw__digest *digest, char out[MW__DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    memset(digest->block + digest->used, 0, BLOCK - digest->used);
    digest->count += digest->used;
    take_block(digest, digest->block, true);
    for (int i = 0; i < MW__DIGEST_BYTES; i++) {
        const unsigned byte = (unsigned)(digest->state[i / 8] >> (8 * (i % 8))) & 0xff;
        out[2 * i] = digits[byte >> 4];
        out[2 * i + 1] = digits[byte & 15];
    }
    out[2 * MW__DIGEST_BYTES] = '\0';
}
