/* H13 tasks: a header of ten or eleven words and runs of register writes, each a word (count - 1) << 26 | byte address
 * and `count` values. Nothing is copied: a task points into the bytes that it was read from.
 *
 * source  joshuaswarren/mil-hwx-compiler, docs/ane/task-descriptors.md; freedomtan/coreml_to_ane_hwx */
#ifndef MW__CHIP_TASK_TASK_H
#define MW__CHIP_TASK_TASK_H

#include "base/memory/alloc.h"
#include "chip/task/registers.h"

enum { MW__TASK_HEADER = 10, MW__TASK_WORDS = 512 /* the length field has nine bits */ };

typedef struct mw__task {
    const uint8_t *words; /* little-endian, of any alignment */
    size_t count;         /* words */
    size_t header;        /* of them: 10 or 11 */
    size_t offset;        /* bytes from the start of the section */
} mw__task;

/* A run of register writes. */
typedef struct mw__task_run {
    uint32_t address;
    size_t count;
    const uint8_t *values;
} mw__task_run;

static inline uint32_t mw__word_at(const uint8_t *bytes, size_t index)
{
    const uint8_t *at = bytes + 4 * index;
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The task of `count` words at `offset` of text[0..size): its runs must end where it does.
 * errors  MW_ERROR_FORMAT, naming offset and word */
mw_status mw__task_read(const uint8_t *text, size_t size, size_t offset, size_t count, mw__task *out, mw_error *err);

/* The next run of a task that was read; `*at` is 0 before the first. False behind the last. */
bool mw__task_next_run(const mw__task *task, size_t *at, mw__task_run *out);

/* Word `index` of a register; the last write counts. False if it is not written. */
bool mw__task_has(const mw__task *task, mw__register_id id, unsigned index, uint32_t *out);
/* The same, 0 where it is not written: a lone word, a word of several, a field of a word (of the first, or of any). */
uint32_t mw__task_get(const mw__task *task, mw__register_id id);
uint32_t mw__task_get_at(const mw__task *task, mw__register_id id, unsigned index);
uint32_t mw__task_field(const mw__task *task, mw__field_id id);
uint32_t mw__task_field_at(const mw__task *task, mw__field_id id, unsigned index);

/* The tasks of a section in their order. */
typedef struct mw__task_chain {
    const mw_allocator *allocator;
    mw__task *tasks;
    size_t count, capacity;
} mw__task_chain;

/* Where a chain begins, as the program state of a file says it. */
typedef struct mw__task_start {
    size_t offset; /* of the first task, in bytes from the start of the section */
    size_t words;  /* of it */
    size_t tasks;  /* how many there must be */
} mw__task_start;

/* Reads a chain: each task names the offset of the next, which must lie behind its own end, and its length. Room is at
 * most that of one mw__task for each 40 bytes. Empty after a failure.
 * errors  MW_ERROR_FORMAT */
mw_status mw__task_chain_read(const mw_allocator *allocator, const uint8_t *text, size_t size,
                              const mw__task_start *start, mw__task_chain *out, mw_error *err);
void mw__task_chain_deinit(mw__task_chain *chain);

#endif
