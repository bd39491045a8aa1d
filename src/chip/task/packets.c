/* The words before the values of packets, and the rows of packets.def. */
#include "chip/task/packets.h"

#include <string.h>

enum {
    H13_SHIFT = 26,
    SHIFT = 15,
    ADDRESS_MASK = (1 << SHIFT) - 1,
    MASK_BITS = 16,
    ADDRESS_FLAG = 1 << 29,
    BAR_SHIFT = 21,
    CONV = 0x0a
};

static uint32_t ones(uint32_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask &= mask - 1)
        count++;
    return count;
}

mw__packet mw__packet_read(uint32_t word, bool h13)
{
    const uint32_t address = word & ADDRESS_MASK, above = word >> SHIFT & 0xFFFF;
    if (h13)
        return (mw__packet){MW__PACKET_H13, word & ((1 << H13_SHIFT) - 1), (word >> H13_SHIFT) + 1, 0, 0};
    if ((word >> 31) != 0)
        return (mw__packet){MW__PACKET_MASK, address, ones(above) + 1, above, 0};
    if ((word & ADDRESS_FLAG) != 0)
        return (mw__packet){MW__PACKET_ADDRESS, address, (above & 0x3F) + 1, 0, word >> BAR_SHIFT & 0xFF};
    return (mw__packet){MW__PACKET_RUN, address, above + 1, 0, 0};
}

uint32_t mw__packet_word(const mw__packet *p)
{
    switch (p->kind) {
    case MW__PACKET_H13:
        return (p->count - 1) << H13_SHIFT | p->address;
    case MW__PACKET_MASK:
        return UINT32_C(1) << 31 | p->mask << SHIFT | p->address;
    case MW__PACKET_ADDRESS:
        return ADDRESS_FLAG | p->bar << BAR_SHIFT | (p->count - 1) << SHIFT | p->address;
    case MW__PACKET_RUN:
    default:
        return (p->count - 1) << SHIFT | p->address;
    }
}

uint32_t mw__packet_address(const mw__packet *p, uint32_t index)
{
    if (p->kind != MW__PACKET_MASK || index == 0)
        return p->address + index * (p->kind == MW__PACKET_H13 ? 4 : 1);
    for (uint32_t i = 0; i < MASK_BITS; i++)
        if ((p->mask >> i & 1) != 0 && --index == 0)
            return p->address + 1 + i;
    return p->address;
}

bool mw__packet_find(const mw__packet *p, uint32_t address, uint32_t *out_index)
{
    const uint32_t step = p->kind == MW__PACKET_H13 ? 4 : 1, behind = address - p->address;
    if (address < p->address || behind % step != 0)
        return false;
    *out_index = behind / step;
    if (p->kind != MW__PACKET_MASK || behind == 0)
        return *out_index < p->count;
    if (behind > MASK_BITS || (p->mask >> (behind - 1) & 1) == 0)
        return false;
    *out_index = 1 + ones(p->mask & ((UINT32_C(1) << (behind - 1)) - 1));
    return true;
}

const char *mw__packet_name(mw__packet_kind kind)
{
    static const char *const names[] = {"run", "run", "mask", "address"};
    return names[kind];
}

/* ---- rows ---- */

#define MW_PACKET_UNIT(id, address, words, job)
#define MW_PACKET_WORD(unit, address, count, name, meaning, source)
#define MW_PACKET_BITS(address, low, width, name, meaning)
#define MW_HEADER_BITS(word, low, width, name, meaning)
#define MW_PACKET_BAR(first, step, last, meaning)

#undef MW_PACKET_UNIT
#define MW_PACKET_UNIT(id, address_, words_, job_) {.name = #id, .job = job_, .address = address_, .words = words_},
static const mw__packet_unit units[] = {
#include "chip/task/packets.def"
};
#undef MW_PACKET_UNIT
#define MW_PACKET_UNIT(id, address, words, job)

#undef MW_PACKET_WORD
#define MW_PACKET_WORD(unit_, address_, count_, name_, meaning_, source_)                                              \
    {.unit = #unit_, .name = name_, .meaning = meaning_, .source = source_, .address = address_, .count = count_},
static const mw__packet_register registers[] = {
#include "chip/task/packets.def"
};
#undef MW_PACKET_WORD
#define MW_PACKET_WORD(unit, address, count, name, meaning, source)

#define BITS(address_, low_, width_, name_, meaning_)                                                                  \
    {.name = #name_, .meaning = meaning_, .address = address_, .low = low_, .width = width_},

#undef MW_PACKET_BITS
#define MW_PACKET_BITS(address, low, width, name, meaning) BITS(address, low, width, name, meaning)
static const mw__packet_bits bits_of_registers[] = {
#include "chip/task/packets.def"
};
#undef MW_PACKET_BITS
#define MW_PACKET_BITS(address, low, width, name, meaning)

#undef MW_HEADER_BITS
#define MW_HEADER_BITS(word, low, width, name, meaning) BITS(word, low, width, name, meaning)
static const mw__packet_bits bits_of_header[] = {
#include "chip/task/packets.def"
};
#undef MW_HEADER_BITS
#define MW_HEADER_BITS(word, low, width, name, meaning)

#undef MW_PACKET_BAR
#define MW_PACKET_BAR(first_, step_, last_, meaning_)                                                                  \
    {.first = first_, .step = step_, .last = last_, .meaning = meaning_},
static const mw__packet_bar bars[] = {
#include "chip/task/packets.def"
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

const mw__packet_unit *mw__packet_unit_at(size_t index) { return index < COUNT(units) ? &units[index] : NULL; }

const mw__packet_register *mw__packet_register_at(size_t index)
{
    return index < COUNT(registers) ? &registers[index] : NULL;
}

const mw__packet_bits *mw__packet_bits_at(size_t index)
{
    return index < COUNT(bits_of_registers) ? &bits_of_registers[index] : NULL;
}

const mw__packet_bits *mw__packet_header_at(size_t index)
{
    return index < COUNT(bits_of_header) ? &bits_of_header[index] : NULL;
}

const mw__packet_bar *mw__packet_bar_at(size_t index) { return index < COUNT(bars) ? &bars[index] : NULL; }

/* ---- looking up ---- */

const mw__packet_unit *mw__packet_unit_of(uint32_t address)
{
    for (size_t i = 0; i < COUNT(units); i++)
        if (address >= units[i].address && address - units[i].address < units[i].words)
            return &units[i];
    return NULL;
}

const mw__packet_register *mw__packet_register_of(uint32_t address, mw__version_rows rows)
{
    if (rows != MW__VERSION_ALL && !(rows == MW__VERSION_CONV && address == CONV))
        return NULL;
    for (size_t i = 0; i < COUNT(registers); i++)
        if (address >= registers[i].address && address - registers[i].address < registers[i].count)
            return &registers[i];
    return NULL;
}

const char *mw__packet_bar_name(uint32_t bar)
{
    for (size_t i = 0; i < COUNT(bars); i++)
        if (bar >= bars[i].first && bar <= bars[i].last && (bar - bars[i].first) % bars[i].step == 0)
            return bars[i].meaning;
    return NULL;
}

const mw__packet_bits *mw__packet_bits_named(const char *name)
{
    for (size_t i = 0; i < COUNT(bits_of_registers); i++)
        if (strcmp(bits_of_registers[i].name, name) == 0)
            return &bits_of_registers[i];
    for (size_t i = 0; i < COUNT(bits_of_header); i++)
        if (strcmp(bits_of_header[i].name, name) == 0)
            return &bits_of_header[i];
    return NULL;
}

uint32_t mw__packet_bits_of(const mw__packet_bits *bits, uint32_t word)
{
    return word >> bits->low & (uint32_t)((UINT64_C(1) << bits->width) - 1);
}
