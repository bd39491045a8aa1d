/* PNG (ISO/IEC 15948) with stored blocks of deflate (RFC 1951), in base64 (RFC 4648). */
#include "view/report.h"

#include "base/number/crc32.h"

#include <string.h>

enum { STORED_MAX = 65535 };

typedef struct encoder {
    mw__text *out;
    unsigned char group[3];
    size_t filled;
    mw__crc32_table table;
    uint32_t crc;       /* of the chunk */
    uint32_t low, high; /* Adler-32 */
} encoder;

/* ---- base64 ---- */

static void put_group(encoder *e)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits = (uint32_t)e->group[0] << 16 | (uint32_t)e->group[1] << 8 | e->group[2];
    char text[4];
    for (size_t i = 0; i < 4; i++)
        text[i] = i <= e->filled ? letters[bits >> (18 - 6 * i) & 63] : '=';
    mw__text_append(e->out, text, 4);
    memset(e->group, 0, sizeof e->group);
    e->filled = 0;
}

static void put_byte(encoder *e, unsigned char byte)
{
    e->crc = mw__crc32_add(&e->table, e->crc, &byte, 1);
    e->group[e->filled++] = byte;
    if (e->filled == 3)
        put_group(e);
}

static void put_u32(encoder *e, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        put_byte(e, (unsigned char)(number >> shift));
}

/* ---- chunks ---- */

static void begin_chunk(encoder *e, const char *name, uint32_t length)
{
    put_u32(e, length);
    e->crc = 0;
    for (int i = 0; i < 4; i++)
        put_byte(e, (unsigned char)name[i]);
}

static void end_chunk(encoder *e) { put_u32(e, e->crc); }

static void put_header(encoder *e, int width, int height, int channels)
{
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    for (size_t i = 0; i < sizeof signature; i++)
        put_byte(e, signature[i]);
    begin_chunk(e, "IHDR", 13);
    put_u32(e, (uint32_t)width);
    put_u32(e, (uint32_t)height);
    put_byte(e, 8);
    put_byte(e, channels == 3 ? 2 : 0);
    for (int i = 0; i < 3; i++)
        put_byte(e, 0);
    end_chunk(e);
}

/* A byte of what is compressed; every row begins with the number of its filter, 0. */
static void put_data(encoder *e, unsigned char byte)
{
    put_byte(e, byte);
    e->low = (e->low + byte) % 65521U;
    e->high = (e->high + e->low) % 65521U;
}

static void put_rows(encoder *e, const unsigned char *pixels, size_t row, size_t height)
{
    const size_t whole = (row + 1) * height, blocks = (whole + STORED_MAX - 1) / STORED_MAX;
    size_t at = 0;
    begin_chunk(e, "IDAT", (uint32_t)(2 + 5 * blocks + whole + 4));
    put_byte(e, 0x78);
    put_byte(e, 0x01);
    for (size_t block = 0; block < blocks; block++) {
        const size_t length = whole - at < STORED_MAX ? whole - at : STORED_MAX;
        put_byte(e, block + 1 == blocks);
        put_byte(e, (unsigned char)(length & 255));
        put_byte(e, (unsigned char)(length >> 8));
        put_byte(e, (unsigned char)(~length & 255));
        put_byte(e, (unsigned char)(~length >> 8 & 255));
        for (const size_t end = at + length; at < end; at++)
            put_data(e, at % (row + 1) == 0 ? 0 : pixels[at / (row + 1) * row + at % (row + 1) - 1]);
    }
    put_u32(e, e->high << 16 | e->low);
    end_chunk(e);
}

void mw__put_png(mw__text *out, const unsigned char *pixels, int width, int height, int channels)
{
    encoder e = {.out = out, .low = 1};
    mw__crc32_init(&e.table);
    put_header(&e, width, height, channels);
    put_rows(&e, pixels, (size_t)width * (size_t)channels, (size_t)height);
    begin_chunk(&e, "IEND", 0);
    end_chunk(&e);
    if (e.filled > 0)
        put_group(&e);
}
