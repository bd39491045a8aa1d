/* The tasks of the engine, by their chain: their header words and the records that write registers. What registers mean
 * is not known here.
 * H13: ten header words, word 7 leads to the next one. From H14 on (freedomtan/coreml_to_ane_hwx; no file is public):
 * one behind the other from byte 16 on at multiples of 16, with their length in the first word. */
#include "base/number/bytes.h"
#include "chip/hwx/read.h"
#include "chip/hwx/write.h"

#include <string.h>

enum { H13_HEADER = 10, H13_GRAIN = 0x100, FRAME = 16, SUBTYPE_H14 = 5, SUBTYPE_H16 = 7 };

/* ---- records ---- */

static uint32_t ones(uint32_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask &= mask - 1)
        count++;
    return count;
}

static mw__hwx_record read_record(uint32_t word, bool h13)
{
    if (h13)
        return (mw__hwx_record){.address = word & 0x3FFFFFF, .count = (word >> 26) + 1};
    if ((word >> 31) == 0)
        return (mw__hwx_record){.address = word & 0x7FFF, .count = (word >> 15 & 0x3F) + 1};
    const uint32_t mask = word >> 15 & 0xFFFF;
    return (mw__hwx_record){.address = word & 0x7FFF, .count = ones(mask) + 1, .mask = mask, .sparse = true};
}

/* The word that read_record reads. A dense record from H14 on has ten bits that are reserved: they must be 0. */
uint32_t mw__hwx_record_word(const mw__hwx_record *record, bool h13)
{
    if (h13)
        return (record->count - 1) << 26 | record->address;
    if (!record->sparse)
        return (record->count - 1) << 15 | record->address;
    return UINT32_C(1) << 31 | record->mask << 15 | record->address;
}

/* Counts them, or lists them where there is a list. *out_left: words behind the last one that is whole. */
static size_t walk_records(const mw__hwx_task *task, bool h13, mw__hwx_record *list, size_t *out_left)
{
    const uint32_t *words = task->public.words;
    size_t at = task->header_count, count = 0;
    while (at < task->public.word_count) {
        mw__hwx_record record = read_record(words[at], h13);
        if (record.count > task->public.word_count - at - 1 || mw__hwx_record_word(&record, h13) != words[at])
            break;
        record.values = words + at + 1;
        if (list != NULL)
            list[count] = record;
        count++;
        at += 1 + record.count;
    }
    *out_left = task->public.word_count - at;
    return count;
}

static mw_status decode(mw__hwx_reader *reader, mw__hwx_task *task, bool h13)
{
    mw_hwx_task *t = &task->public;
    size_t left = 0;
    const size_t count = walk_records(task, h13, NULL, &left);
    t->decoded = left == 0;
    if (!t->decoded)
        return MW_OK;
    mw__hwx_record *records = mw__arena_alloc(&reader->hwx->arena, count, sizeof *records, reader->err);
    if (records == NULL)
        return MW_ERROR_MEMORY;
    t->record_count = walk_records(task, h13, records, &left);
    task->records = records;
    return MW_OK;
}

bool mw__hwx_task_register(const mw__hwx_task *task, uint32_t address, uint32_t *out)
{
    bool found = false; /* the last one that writes it counts */
    for (size_t i = 0; i < task->public.record_count; i++) {
        const mw__hwx_record *r = &task->records[i];
        if (r->sparse || address < r->address || (address - r->address) % 4 != 0 ||
            (address - r->address) / 4 >= r->count)
            continue;
        *out = r->values[(address - r->address) / 4];
        found = true;
    }
    return found;
}

uint32_t mw__hwx_task_value(const mw__hwx_task *task, uint32_t address)
{
    uint32_t value = 0;
    mw__hwx_task_register(task, address, &value);
    return value;
}

/* ---- a task ---- */

/* `offset` and `count` lie in the section. */
static mw_status read_words(mw__hwx_reader *reader, const mw__hwx_section *text, mw__hwx_task *task, size_t offset,
                            size_t count)
{
    uint32_t *words = mw__arena_alloc(&reader->hwx->arena, count, sizeof *words, reader->err);
    if (words == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        words[i] = mw__bytes_u32(text->data + offset + i * 4);
    task->public.offset = offset;
    task->public.word_count = count;
    task->public.words = words;
    return MW_OK;
}

static mw_status claim(mw__hwx_reader *reader, const mw__hwx_section *text, const mw__hwx_task *task)
{
    return mw__hwx_claim(reader, text->public.offset + task->public.offset, task->public.word_count * 4, MW__HWX_TASK,
                         "a task");
}

/* ---- the chain of H13 ---- */

static mw_status refuse_task(mw__hwx_reader *reader, size_t index, size_t offset, const char *why)
{
    return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: task %zu at 0x%zx of __text %s", index, offset, why);
}

static mw_status read_h13(mw__hwx_reader *reader, const mw__hwx_section *text, mw__hwx_task *task, size_t offset,
                          size_t count)
{
    const size_t index = (size_t)(task - reader->hwx->tasks), size = (size_t)text->public.size;
    if (offset % H13_GRAIN != 0 || offset > size || count > (size - offset) / 4)
        return refuse_task(reader, index, offset, "is not at a multiple of 0x100, or ends beyond the section");
    if (count < H13_HEADER + 1)
        return refuse_task(reader, index, offset, "is shorter than its header");
    MW_TRY(read_words(reader, text, task, offset, count));
    const uint32_t *w = task->public.words;
    task->header_count = H13_HEADER + ((w[9] & 3) == 3);
    task->public.id = w[0] & 0xFFFF;
    task->public.network = w[0] >> 16 & 0xFF;
    task->public.flags = w[0] >> 24;
    MW_TRY(decode(reader, task, true));
    if (!task->public.decoded)
        return refuse_task(reader, index, offset, "has a record that is longer than what is left of it");
    return claim(reader, text, task);
}

static mw_status read_chain(mw__hwx_reader *reader, const mw__hwx_section *text, size_t offset, size_t count,
                            size_t task_count)
{
    mw_hwx *hwx = reader->hwx;
    for (size_t i = 0; i < task_count; i++) {
        MW_TRY(read_h13(reader, text, &hwx->tasks[i], offset, count));
        const uint32_t *w = hwx->tasks[i].public.words;
        hwx->task_count = i + 1;
        if ((w[7] == 0) != (i + 1 == task_count))
            return refuse_task(reader, i, offset,
                               w[7] == 0 ? "is the last one, before the count of the thread state is reached"
                                         : "leads to another one beyond the count of the thread state");
        if (w[7] != 0 && w[7] <= offset)
            return refuse_task(reader, i, offset, "leads back");
        count = (w[1] >> 16 & 0x1FF) + 1;
        offset = w[7];
    }
    return MW_OK;
}

static mw_status read_all_h13(mw__hwx_reader *reader, const mw__hwx_section *text, const mw__hwx_program_state *program)
{
    mw_hwx *hwx = reader->hwx;
    const uint64_t offset = program->first_task - text->public.address;
    if (program->first_task < text->public.address || offset > text->public.size)
        return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: the first task is at 0x%llx, outside __text",
                        (unsigned long long)program->first_task);
    if (program->task_count > text->public.size / 4 || program->first_words > text->public.size / 4)
        return mw__fail(reader->err, MW_ERROR_FORMAT,
                        ".hwx: %u tasks, the first of %u words and one, do not fit in the 0x%llx bytes of __text",
                        program->task_count, program->first_words, (unsigned long long)text->public.size);
    hwx->tasks = mw__arena_alloc(&hwx->arena, program->task_count, sizeof *hwx->tasks, reader->err);
    if (hwx->tasks == NULL)
        return MW_ERROR_MEMORY;
    return read_chain(reader, text, (size_t)offset, (size_t)program->first_words + 1, program->task_count);
}

/* ---- the frames from H14 on ---- */

typedef struct frames {
    const mw__hwx_section *text;
    size_t at, header;
} frames;

static frames first_frame(const mw__hwx_section *text, uint32_t subtype)
{
    static const uint8_t head[FRAME] = {1};
    const bool has_head = text->public.size >= FRAME && memcmp(text->data, head, FRAME) == 0;
    return (frames){text, has_head ? FRAME : 0, subtype >= SUBTYPE_H16 ? 9 : 8};
}

/* The next one that is a task: words of it, 0 at the end or where no task can be. */
static size_t next_frame(frames *f)
{
    const size_t size = (size_t)f->text->public.size;
    for (; f->at + f->header * 4 <= size; f->at += FRAME) {
        const size_t count = mw__bytes_u32(f->text->data + f->at) >> 16 & 0x7FF;
        if (count != 0)
            return count >= f->header && count <= (size - f->at) / 4 ? count : 0;
    }
    return 0;
}

static void skip_frame(frames *f, size_t count) { f->at += (count * 4 + FRAME - 1) / FRAME * FRAME; }

static mw_status read_frame(mw__hwx_reader *reader, const frames *f, mw__hwx_task *task, size_t count)
{
    MW_TRY(read_words(reader, f->text, task, f->at, count));
    task->header_count = (uint32_t)f->header;
    task->public.id = task->public.words[0] & 0xFFFF;
    MW_TRY(decode(reader, task, false));
    return task->public.decoded ? claim(reader, f->text, task) : MW_OK;
}

static mw_status read_frames(mw__hwx_reader *reader, const mw__hwx_section *text)
{
    mw_hwx *hwx = reader->hwx;
    size_t total = 0, count;
    for (frames f = first_frame(text, (hwx->info.cpu_subtype & 0xFF)); (count = next_frame(&f)) != 0;
         skip_frame(&f, count))
        total++;
    hwx->tasks = mw__arena_alloc(&hwx->arena, total, sizeof *hwx->tasks, reader->err);
    if (hwx->tasks == NULL)
        return MW_ERROR_MEMORY;
    for (frames f = first_frame(text, (hwx->info.cpu_subtype & 0xFF)); (count = next_frame(&f)) != 0;
         skip_frame(&f, count))
        MW_TRY(read_frame(reader, &f, &hwx->tasks[hwx->task_count++], count));
    return MW_OK;
}

mw_status mw__hwx_read_tasks(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    const mw__hwx_section *text = hwx->text;
    if (text == NULL) {
        hwx->task_note = "there is no section __TEXT,__text with bytes";
        return MW_OK;
    }
    if (hwx->ane == NULL && (hwx->info.cpu_subtype & 0xFF) >= SUBTYPE_H14)
        return read_frames(reader, text);
    if (hwx->info.chip != MW_CHIP_H13)
        hwx->task_note = "how this chip writes tasks is not published";
    else if (hwx->program == NULL)
        hwx->task_note = "no thread state says where the tasks are";
    else
        return read_all_h13(reader, text, hwx->program);
    return MW_OK;
}
