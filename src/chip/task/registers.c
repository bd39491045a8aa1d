/* The rows of registers.def as tables. */
#include "chip/task/registers.h"

#define MW_REGISTER(unit, id, address, count, name, meaning, source)
#define MW_FIELD(in, id, low, width, meaning)
#define MW_UNIT(id, address_, words_, job_) {.name = #id, .job = job_, .address = address_, .words = words_},
static const mw__chip_unit_row units[] = {
#include "chip/task/registers.def"
};
#undef MW_UNIT
#undef MW_REGISTER

#define MW_UNIT(id, address, words, job)
#define MW_REGISTER(unit_, id_, address_, count_, name_, meaning_, source_)                                            \
    {.id = #id_,                                                                                                       \
     .name = name_,                                                                                                    \
     .meaning = meaning_,                                                                                              \
     .source = source_,                                                                                                \
     .unit = MW__UNIT_##unit_,                                                                                         \
     .address = address_,                                                                                              \
     .count = count_},
static const mw__register_row registers[] = {
#include "chip/task/registers.def"
};
#undef MW_REGISTER
#undef MW_FIELD

#define MW_REGISTER(unit, id, address, count, name, meaning, source)
#define MW_FIELD(in_, id_, low_, width_, meaning_)                                                                     \
    {.id = #id_, .meaning = meaning_, .in = MW__REGISTER_##in_, .low = low_, .width = width_},
static const mw__field_row fields[] = {
#include "chip/task/registers.def"
};
#undef MW_FIELD
#undef MW_REGISTER
#undef MW_UNIT

const mw__chip_unit_row *mw__chip_unit_rows(void) { return units; }
const mw__register_row *mw__register_rows(void) { return registers; }
const mw__field_row *mw__field_rows(void) { return fields; }

const mw__register_row *mw__register_find(uint32_t address, unsigned *out_index)
{
    for (int i = 0; i < MW__REGISTER_COUNT; i++) {
        const mw__register_row *row = &registers[i];
        if (row->unit == MW__UNIT_header || address < row->address || (address - row->address) / 4 >= row->count)
            continue;
        if (address % 4 != 0)
            break;
        *out_index = (address - row->address) / 4;
        return row;
    }
    return NULL;
}

static uint32_t mask_of(const mw__field_row *row) { return (uint32_t)(((uint64_t)1 << row->width) - 1) << row->low; }

uint32_t mw__field_of(mw__field_id field, uint32_t word)
{
    return (word & mask_of(&fields[field])) >> fields[field].low;
}

uint32_t mw__field_put(mw__field_id field, uint32_t word, uint32_t value)
{
    const uint32_t mask = mask_of(&fields[field]);
    return (word & ~mask) | (value << fields[field].low & mask);
}
