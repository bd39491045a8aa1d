/* Containers made by hand. */
#include "chip/hwx/hwx_bytes.h"

#include <string.h>

enum { PAGE = 0x1000, KERNELS = 0x200 }; /* a small page: nothing depends on its size */

#define BASE 0x30000000u

uint32_t hwx_get32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void hwx_put32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

void hwx_put64(uint8_t *at, uint64_t value)
{
    hwx_put32(at, (uint32_t)value);
    hwx_put32(at + 4, (uint32_t)(value >> 32));
}

/* A load command of `size` bytes; returns where it stands. */
static size_t command(hwx_made *m, uint32_t kind, size_t size)
{
    const size_t at = m->size;
    hwx_put32(m->bytes + at, kind);
    hwx_put32(m->bytes + at + 4, (uint32_t)size);
    m->size += size;
    hwx_put32(m->bytes + 16, hwx_get32(m->bytes + 16) + 1);
    return at;
}

static uint8_t *segment(hwx_made *m, const char *name, uint64_t address, uint64_t size, unsigned protection,
                        unsigned sections)
{
    uint8_t *at = m->bytes + command(m, 0x19, 72 + 80 * (size_t)sections);
    memcpy(at + 8, name, strlen(name));
    hwx_put64(at + 24, address);
    hwx_put64(at + 32, size);
    hwx_put32(at + 56, protection);
    hwx_put32(at + 60, protection);
    hwx_put32(at + 64, sections);
    return at;
}

static uint8_t *section(uint8_t *segment_at, unsigned index, const char *name, uint64_t address, uint64_t size)
{
    uint8_t *at = segment_at + 72 + 80 * (size_t)index;
    memcpy(at, name, strlen(name));
    memcpy(at + 16, segment_at + 8, 16);
    hwx_put64(at + 32, address);
    hwx_put64(at + 40, size);
    return at;
}

static void windows(hwx_made *m)
{
    uint8_t *in = segment(m, "__FVMLIB", BASE + 0x8000, 0x4000, 1, 1);
    hwx_put32(in + 68, 6);
    hwx_put32(section(in, 0, "__const", BASE + 0x8000, 0xc0) + 64, 0x21);
    uint8_t *out = segment(m, "__FVMLIB", BASE + 0xc000, 0x4000, 2, 1);
    hwx_put32(out + 68, 6);
    hwx_put32(section(out, 0, "__data", BASE + 0xc000, 0xc0) + 64, 0x23);
}

static void text_segment(hwx_made *m, uint32_t text_size)
{
    m->text_command = m->size;
    uint8_t *at = segment(m, "__TEXT", BASE, 0x4000, 5, 2);
    hwx_put64(at + 40, PAGE * 3);
    hwx_put64(at + 48, PAGE);
    uint8_t *text = section(at, 0, "__text", BASE, text_size);
    hwx_put32(text + 48, PAGE * 3);
    hwx_put32(text + 52, 14);
    hwx_put32(text + 64, 0x128);
    uint8_t *constants = section(at, 1, "__const", BASE + KERNELS, 0xc0);
    hwx_put32(constants + 48, PAGE * 3 + KERNELS);
    hwx_put32(constants + 52, 6);
    hwx_put32(constants + 64, 0x26);
    m->text = PAGE * 3;
    m->constants = PAGE * 3 + KERNELS;
}

static void binding(hwx_made *m, bool later, const char *name, uint64_t address)
{
    const size_t at = command(m, later ? 0x40 : 0x06, 0x28);
    const uint32_t name_at = later ? 0x18 : 0x14;
    hwx_put32(m->bytes + at + 8, name_at);
    if (later)
        hwx_put64(m->bytes + at + 16, address);
    else
        hwx_put32(m->bytes + at + 16, (uint32_t)address);
    memcpy(m->bytes + at + name_at, name, strlen(name));
    m->binding = at;
}

static void program(hwx_made *m, bool later)
{
    const uint32_t count = later ? 0x21a : 0x214, name_at = 16 + 4 * count;
    m->program = command(m, 0x04, name_at + 8);
    uint8_t *at = m->bytes + m->program;
    hwx_put32(at + 8, 1);
    hwx_put32(at + 12, count);
    hwx_put64(at + 16, BASE);
    hwx_put64(at + 24, BASE + KERNELS);
    hwx_put64(at + 16 + 4 * 8, BASE + (later ? 0x8000 : 0xc000));
    hwx_put64(at + 16 + 5 * 8, BASE + (later ? 0xc000 : 0x8000));
    hwx_put64(at + 0x810, BASE);
    hwx_put32(at + 0x818, 15); /* 16 words */
    hwx_put32(at + 0x81c, 2);
    hwx_put32(at + 0x824, 0xffff);
    hwx_put32(at + 0x828, 0xabcd); /* nobody knows it */
    hwx_put32(at + 0x83c, name_at);
    hwx_put32(at + 0x850, 0x11);
    if (later) {
        hwx_put64(at + 0x860, 1);
        hwx_put32(at + 0x868, 9);
        hwx_put32(at + 0x86c, 8);
        hwx_put64(at + 0x870, 0x1eb);
    }
    memcpy(at + name_at, "net", 3);
}

static void port(hwx_made *m, bool later, const char *name, bool is_output)
{
    const uint32_t count = later ? 0x34a : 0x1e, strings = 16 + 4 * count;
    m->port = command(m, 0x04, (strings + 40) & ~7u);
    uint8_t *at = m->bytes + m->port;
    hwx_put32(at + 8, 3);
    hwx_put32(at + 12, count);
    hwx_put32(at + 0x10, 3);
    hwx_put32(at + 0x14, is_output ? 2 : 1);
    hwx_put32(at + 0x18, strings);
    hwx_put32(at + 0x20, strings + 4);
    hwx_put32(at + 0x24, 5);
    const uint32_t extent[] = {1, 3, 1, 1, 1};
    const uint64_t stride[] = {0xc0, 0x40, 0x40, 2, 0xc0};
    for (size_t i = 0; i < 5; i++) {
        hwx_put32(at + 0x28 + 4 * i, extent[i]);
        hwx_put64(at + 0x50 + 8 * i, stride[i]);
    }
    hwx_put32(at + 0x78, 1);
    hwx_put32(at + 0x7c, strings + 4);
    hwx_put64(at + 0x80, 0xc0);
    memcpy(at + strings, "net", 3);
    memcpy(at + strings + 4, name, strlen(name));
}

static void ident(hwx_made *m, bool later)
{
    m->ident = command(m, 0x08, 0x60);
    const char *text = later ? "ANEC v1\nzin_ane_compiler v9.509.0\n\t-t h13\n" : "ANEC v1\nzin_ane_compiler v4.2.1\n";
    memcpy(m->bytes + m->ident + 8, text, strlen(text));
}

static void extras(hwx_made *m)
{
    m->note = command(m, 0x31, 0x30);
    memcpy(m->bytes + m->note + 8, "src model info", 14);
    hwx_put64(m->bytes + m->note + 24, 0x28);
    hwx_put64(m->bytes + m->note + 32, 1);
    m->bytes[m->note + 0x28] = 7;
    m->unknown = command(m, 0x77, 24);
    memcpy(m->bytes + m->unknown + 8, "\1\2\3 what is this", 16);
}

/* ---- symbols ---- */

static void symbol(hwx_made *m, unsigned index, const char *name, unsigned type, unsigned where, uint64_t value)
{
    uint8_t *at = m->bytes + m->symbols + 16 * (size_t)index;
    hwx_put32(at, (uint32_t)m->strings_size);
    at[4] = (uint8_t)type;
    at[5] = (uint8_t)where;
    hwx_put64(at + 8, value);
    memcpy(m->bytes + m->strings + m->strings_size, name, strlen(name));
    m->strings_size += strlen(name) + 1;
}

static void symbols(hwx_made *m)
{
    static const char *const names[] = {"float16:t5=r1;2;0",
                                        "in:t11=ar1;0;1;12=s192n:ar1;0;3;13=s64c:ar1;0;1;14=s64h:ar1;0;1;15=s2w:5"};
    m->symtab = command(m, 0x02, 24);
    m->symbols = m->size;
    m->strings = m->symbols + 4 * 16;
    m->strings_size = 1;
    symbol(m, 0, "in", 0x0f, 3, BASE + 0x8000);
    symbol(m, 1, "out@output", 0x0f, 4, BASE + 0xc000);
    symbol(m, 2, names[0], 0x80, 0, 0);
    symbol(m, 3, names[1], 0x20, 0, 0);
    hwx_put32(m->bytes + m->symtab + 8, (uint32_t)m->symbols);
    hwx_put32(m->bytes + m->symtab + 12, 4);
    hwx_put32(m->bytes + m->symtab + 16, (uint32_t)m->strings);
    hwx_put32(m->bytes + m->symtab + 20, (uint32_t)m->strings_size);
    m->relocations = (m->strings + m->strings_size + 7) & ~(size_t)7;
    hwx_put32(m->bytes + m->relocations, 0x174);
    hwx_put32(m->bytes + m->relocations + 4, 0x05000002);
    hwx_put32(m->bytes + m->text_command + 72 + 56, (uint32_t)m->relocations);
    hwx_put32(m->bytes + m->text_command + 72 + 60, 1);
}

/* ---- tasks ---- */

static size_t words(uint8_t *at, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hwx_put32(at + 4 * i, values[i]);
    return 4 * count;
}

static uint32_t record(uint32_t address, uint32_t count) { return (count - 1) << 26 | address; }

static void relu(uint8_t *at)
{
    const uint32_t head[] = {0, 59u << 16, 0x422, 0, 0xfff86a, 0, 0x30009800, 0x100, 0x01024025, 0};
    const uint32_t body[] = {record(0xc800, 2), 0x80, 0x11000c, record(0, 2), 0x10001, 1};
    at += words(at, head, 10);
    words(at, body, 6);
}

/* 60 words: three engines, a lane each, bias and three weights in a tile. */
static void convolution(uint8_t *at)
{
    const uint32_t head[] = {0x03000001, 0, 0x422, 0, 0xfff86a, 0, 0x30009800, 0, 0x03024025, 0x21};
    const uint32_t dma[] = {record(0x1f808, 3), 0x81, 0x81, 0x81, record(0x1f848, 3), 0, 0x40, 0x80};
    const uint32_t size[] = {record(0x1f888, 3), 0x40, 0x40, 0x40};
    const uint32_t common[] = {record(0, 16), 0x10001, 1, 0x22, 3, 3,         0x10001,  1, 0x5000a021,
                               0x2041,        0x10001, 1, 0,    0, 0x4144405, 0x100000, 0};
    const uint32_t neural[] = {record(0xc800, 5), 0x82, 0x101c10, 0, 0, 0x3c00};
    const uint32_t source[] = {record(0x13800, 14), 0x33881, 0x8880, 0, 0x40, 0x40, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0};
    at += words(at, head, 10);
    at += words(at, dma, 8);
    at += words(at, size, 4);
    at += words(at, common, 17);
    at += words(at, neural, 6);
    words(at, source, 15);
}

static void frames(uint8_t *at)
{
    const uint32_t first[] = {
        14u << 16, 0, 0, 0, 0, 0, 0, 0, 2u << 15 | 0x40, 11, 12, 13, 1u << 31 | 0x0001u << 15 | 0x50, 21};
    hwx_put32(at, 1);
    words(at + 16, first, 14); /* its second record lacks a value: it is no task that can be decoded */
    const uint32_t second[] = {
        15u << 16 | 1, 0, 0, 0, 0, 0, 0, 0, 2u << 15 | 0x40, 11, 12, 13, 1u << 31 | 0x0001u << 15 | 0x50, 21, 22};
    words(at + 16 + 64 + 16, second, 15); /* behind a frame of zeros */
}

static const uint16_t channels[3][4] = {{0x4900, 0x3c00, 0x4000, 0x4200},  /* 10; 1, 2, 3 */
                                        {0x4980, 0x4400, 0x4500, 0x4600},  /* 11; 4, 5, 6 */
                                        {0x4a00, 0x4700, 0x4800, 0x4880}}; /* 12; 7, 8, 9 */

void hwx_make(hwx_made *m, hwx_style style)
{
    const bool h13 = style.subtype <= 4;
    memset(m, 0, sizeof *m);
    const uint32_t header[] = {0xbeefface, 0x80, style.subtype, 2, 0, 0, 0x200000, 0};
    m->size = words(m->bytes, header, 8);
    hwx_put32(segment(m, "__PAGEZERO", 0, 0x4000, 0, 0) + 68, 4);
    if (style.later)
        windows(m);
    text_segment(m, h13 ? 0x100 + 60 * 4 : 0xa0);
    if (!style.later)
        windows(m);
    binding(m, style.later, "in", BASE + 0x8000);
    binding(m, style.later, "out@output", BASE + 0xc000);
    program(m, style.later);
    port(m, style.later, "in", false);
    port(m, style.later, "out@output", true);
    ident(m, style.later);
    if (style.extras)
        extras(m);
    symbols(m);
    hwx_put32(m->bytes + 20, (uint32_t)(m->symbols - 32));
    m->size = PAGE * 4;
    if (h13) {
        relu(m->bytes + m->text);
        convolution(m->bytes + m->text + 0x100);
    } else {
        frames(m->bytes + m->text);
    }
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++) {
            m->bytes[m->constants + 0x40 * i + 2 * k] = (uint8_t)channels[i][k];
            m->bytes[m->constants + 0x40 * i + 2 * k + 1] = (uint8_t)(channels[i][k] >> 8);
        }
}
