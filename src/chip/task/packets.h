/* Packets: how tasks write registers from H14 on, and the rows of packets.def, which explain those of v24.
 *
 * A packet is a word and `count` values. Three forms: a run of registers; those of 17 that a mask names, the first one
 * always; a run that holds an address, which the driver adds to a base address register (BAR). H13 has runs alone, by
 * byte addresses (task.h).
 *
 * source  freedomtan/coreml_to_ane_hwx (runs and masks); M6 study (addresses, registers) */
#ifndef MW__CHIP_TASK_PACKETS_H
#define MW__CHIP_TASK_PACKETS_H

#include "chip/task/versions.h"

#include <stdbool.h>

typedef enum mw__packet_kind {
    MW__PACKET_H13,    /* a run by byte addresses */
    MW__PACKET_RUN,    /* bits 30:15 count - 1; bit 29 clear */
    MW__PACKET_MASK,   /* bit 31; bits 30:15 which of the 16 registers behind the first are there too */
    MW__PACKET_ADDRESS /* bit 29; bits 20:15 count - 1, 28:21 BAR */
} mw__packet_kind;

typedef struct mw__packet {
    mw__packet_kind kind;
    uint32_t address; /* in bytes on H13, in words from H14 on */
    uint32_t count;   /* of values */
    uint32_t mask, bar;
} mw__packet;

mw__packet mw__packet_read(uint32_t word, bool h13);
/* The word that mw__packet_read reads: another one where bits are set that have no meaning. */
uint32_t mw__packet_word(const mw__packet *packet);
/* The register that value `index` goes to. */
uint32_t mw__packet_address(const mw__packet *packet, uint32_t index);
/* Which value goes to a register; false if none does. */
bool mw__packet_find(const mw__packet *packet, uint32_t address, uint32_t *out_index);
/* "run", "mask", "address" */
const char *mw__packet_name(mw__packet_kind kind);

/* ---- what the words say ---- */

typedef struct mw__packet_unit {
    const char *name, *job;
    uint32_t address, words;
} mw__packet_unit;

typedef struct mw__packet_register {
    const char *unit, *name, *meaning, *source;
    uint32_t address, count;
} mw__packet_register;

/* Bits of a word: of the register at `address`, of word `address` of the header. */
typedef struct mw__packet_bits {
    const char *name, *meaning;
    uint32_t address;
    unsigned low, width;
} mw__packet_bits;

typedef struct mw__packet_bar {
    uint32_t first, step, last;
    const char *meaning;
} mw__packet_bar;

/* Rows by index; NULL behind the last. */
const mw__packet_unit *mw__packet_unit_at(size_t index);
const mw__packet_register *mw__packet_register_at(size_t index);
const mw__packet_bits *mw__packet_bits_at(size_t index);
const mw__packet_bits *mw__packet_header_at(size_t index);
const mw__packet_bar *mw__packet_bar_at(size_t index);

/* The unit that has a word; NULL for none. */
const mw__packet_unit *mw__packet_unit_of(uint32_t address);
/* The row that has a word, where `rows` is what is known of the version; NULL for none. */
const mw__packet_register *mw__packet_register_of(uint32_t address, mw__version_rows rows);
/* What a BAR of v24 is; NULL where it is not published. */
const char *mw__packet_bar_name(uint32_t bar);
/* A field by name, of a register or of the header; NULL for none. */
const mw__packet_bits *mw__packet_bits_named(const char *name);
uint32_t mw__packet_bits_of(const mw__packet_bits *bits, uint32_t word);

#endif
