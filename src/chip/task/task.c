/* Reading H13 tasks and chains of them, and looking up their words. */
#include "chip/task/task.h"

enum { COUNT_SHIFT = 26, ADDRESS_MASK = (1 << COUNT_SHIFT) - 1, EXTENDED = 3 };

/* ---- one task ---- */

bool mw__task_next_run(const mw__task *task, size_t *at, mw__task_run *out)
{
    const size_t next = *at == 0 ? task->header : *at;
    if (next >= task->count)
        return false;
    const uint32_t head = mw__word_at(task->words, next);
    out->count = (head >> COUNT_SHIFT) + 1;
    out->address = head & ADDRESS_MASK;
    out->values = task->words + 4 * (next + 1);
    *at = next + 1 + out->count;
    return *at <= task->count;
}

static mw_status check_run(const mw__task *task, size_t at, mw_error *err)
{
    const uint32_t head = mw__word_at(task->words, at);
    const size_t count = (head >> COUNT_SHIFT) + 1;
    if ((head & 3) != 0)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "task at %zu: word %zu is 0x%08x, which writes registers from 0x%x on; addresses are multiples "
                        "of 4",
                        task->offset, at, (unsigned)head, (unsigned)(head & ADDRESS_MASK));
    if (count > task->count - at - 1)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "task at %zu: word %zu is 0x%08x, a run of %zu registers, and the task has %zu words left",
                        task->offset, at, (unsigned)head, count, task->count - at - 1);
    return MW_OK;
}

mw_status mw__task_read(const uint8_t *text, size_t size, size_t offset, size_t count, mw__task *out, mw_error *err)
{
    *out = (mw__task){0};
    if (offset % 4 != 0 || offset > size || count > (size - offset) / 4)
        return mw__fail(
            err, MW_ERROR_FORMAT,
            "task at %zu of %zu words: a section of %zu bytes has no such task (offsets are multiples of 4)", offset,
            count, size);
    mw__task task = {.words = text + offset, .count = count, .header = MW__TASK_HEADER, .offset = offset};
    if (count >= MW__TASK_HEADER && (mw__word_at(task.words, 9) & EXTENDED) == EXTENDED)
        task.header++;
    if (count < task.header)
        return mw__fail(err, MW_ERROR_FORMAT, "task at %zu: %zu words are fewer than the %zu of a header", offset,
                        count, task.header);
    for (size_t at = task.header; at < count; at += 2 + (mw__word_at(task.words, at) >> COUNT_SHIFT))
        MW_TRY(check_run(&task, at, err));
    *out = task;
    return MW_OK;
}

static bool has_header(const mw__task *task, const mw__register_row *row, uint32_t *out)
{
    const size_t at = row->address / 4;
    if (at >= task->header)
        return false;
    *out = mw__word_at(task->words, at);
    return true;
}

bool mw__task_has(const mw__task *task, mw__register_id id, unsigned index, uint32_t *out)
{
    const mw__register_row *row = &mw__register_rows()[id];
    const uint32_t address = row->address + 4 * index;
    mw__task_run run;
    bool found = false;
    if (row->unit == MW__UNIT_header)
        return has_header(task, row, out);
    for (size_t at = 0; mw__task_next_run(task, &at, &run);)
        if (address >= run.address && (address - run.address) / 4 < run.count) {
            *out = mw__word_at(run.values, (address - run.address) / 4);
            found = true;
        }
    return found;
}

uint32_t mw__task_get_at(const mw__task *task, mw__register_id id, unsigned index)
{
    uint32_t word;
    return mw__task_has(task, id, index, &word) ? word : 0;
}

uint32_t mw__task_get(const mw__task *task, mw__register_id id) { return mw__task_get_at(task, id, 0); }

uint32_t mw__task_field_at(const mw__task *task, mw__field_id id, unsigned index)
{
    return mw__field_of(id, mw__task_get_at(task, mw__field_rows()[id].in, index));
}

uint32_t mw__task_field(const mw__task *task, mw__field_id id) { return mw__task_field_at(task, id, 0); }

/* ---- chains ---- */

void mw__task_chain_deinit(mw__task_chain *chain)
{
    mw__free(chain->allocator, chain->tasks);
    *chain = (mw__task_chain){0};
}

static mw_status add_task(mw__task_chain *chain, const mw__task *task, mw_error *err)
{
    MW_TRY(mw__grow(chain->allocator, &chain->tasks, &chain->capacity, chain->count + 1, sizeof *chain->tasks, err));
    chain->tasks[chain->count++] = *task;
    return MW_OK;
}

/* Where the next task lies, *out_offset, 0 for none. */
static mw_status find_next(const mw__task *task, size_t *out_offset, mw_error *err)
{
    const size_t next = mw__task_get(task, MW__REGISTER_w7);
    if (next != 0 && next < task->offset + 4 * task->count)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "task at %zu: the next one is said to be at %zu, before this one ends (%zu)", task->offset,
                        next, task->offset + 4 * task->count);
    *out_offset = next;
    return MW_OK;
}

static mw_status read_chain(const uint8_t *text, size_t size, const mw__task_start *start, mw__task_chain *chain,
                            mw_error *err)
{
    size_t offset = start->offset, words = start->words;
    mw__task task;
    do {
        MW_TRY(mw__task_read(text, size, offset, words, &task, err));
        MW_TRY(add_task(chain, &task, err));
        MW_TRY(find_next(&task, &offset, err));
        words = (size_t)mw__task_field(&task, MW__FIELD_next_words) + 1;
    } while (offset != 0);
    if (chain->count != start->tasks)
        return mw__fail(err, MW_ERROR_FORMAT, "the chain has %zu tasks and the program state says %zu", chain->count,
                        start->tasks);
    return MW_OK;
}

mw_status mw__task_chain_read(const mw_allocator *allocator, const uint8_t *text, size_t size,
                              const mw__task_start *start, mw__task_chain *out, mw_error *err)
{
    *out = (mw__task_chain){.allocator = allocator};
    const mw_status status = read_chain(text, size, start, out, err);
    if (status != MW_OK)
        mw__task_chain_deinit(out);
    return status;
}
