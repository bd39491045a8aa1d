/* The rows of registers.def: what the words of an H13 task are called and mean. */
#ifndef MW__CHIP_TASK_REGISTERS_H
#define MW__CHIP_TASK_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MW_UNIT(id, address, words, job)
#define MW_REGISTER(unit, id, address, count, name, meaning, source)
#define MW_FIELD(in, id, low, width, meaning)

#undef MW_UNIT
#define MW_UNIT(id, address, words, job) MW__UNIT_##id,
typedef enum mw__chip_unit_id {
#include "chip/task/registers.def"
    MW__UNIT_COUNT
} mw__chip_unit_id;
#undef MW_UNIT
#define MW_UNIT(id, address, words, job)

#undef MW_REGISTER
#define MW_REGISTER(unit, id, address, count, name, meaning, source) MW__REGISTER_##id,
typedef enum mw__register_id {
#include "chip/task/registers.def"
    MW__REGISTER_COUNT
} mw__register_id;
#undef MW_REGISTER
#define MW_REGISTER(unit, id, address, count, name, meaning, source)

#undef MW_FIELD
#define MW_FIELD(in, id, low, width, meaning) MW__FIELD_##id,
typedef enum mw__field_id {
#include "chip/task/registers.def"
    MW__FIELD_COUNT
} mw__field_id;
#undef MW_FIELD
#undef MW_REGISTER
#undef MW_UNIT

typedef struct mw__chip_unit_row {
    const char *name, *job;
    uint32_t address;
    unsigned words;
} mw__chip_unit_row;

typedef struct mw__register_row {
    const char *id, *name, *meaning, *source;
    mw__chip_unit_id unit;
    uint32_t address; /* of the header: byte offset in the task */
    unsigned count;   /* words in a row that mean the same */
} mw__register_row;

typedef struct mw__field_row {
    const char *id, *meaning;
    mw__register_id in;
    unsigned low, width;
} mw__field_row;

const mw__chip_unit_row *mw__chip_unit_rows(void);
const mw__register_row *mw__register_rows(void);
const mw__field_row *mw__field_rows(void);

/* The row that has the word at `address` (not of the header), and which of its words that is; NULL for none. */
const mw__register_row *mw__register_find(uint32_t address, unsigned *out_index);

/* Value of a field of a word. */
uint32_t mw__field_of(mw__field_id field, uint32_t word);

/* The word with the field set; bits beyond its width are lost. */
uint32_t mw__field_put(mw__field_id field, uint32_t word, uint32_t value);

#endif
