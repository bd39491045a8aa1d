/* The tasks of the engine, by their chain: their header words and the records that write registers. What registers mean
 * is not known here.
 * H13: ten header words, word 7 leads to the next one. From H14 on (freedomtan/coreml_to_ane_hwx, M6 study; no file is
 * public): chains that begin with the words 1, 0, 0, 0; tasks one behind the other at multiples of 16, with their
 * length in the first word. */
#include "base/number/bytes.h"
#include "chip/hwx/read.h"

#include <string.h>

enum { H13_HEADER = 10, H13_GRAIN = 0x100, FRAME = 16, FLAGS_WORD = 8 };

/* ---- records ---- */

static const char no_packet[] = "its rest begins with a word that is no packet";
static const char long_packet[] = "its last packet has more values than are left of it";
static const char cut_task[] = "the words end before the task does";

/* Where the records of a task end. */
typedef struct walk {
    size_t count, words; /* whole records; words up to the end of the last one */
    const char *note;    /* why the last one is not the end of the task; NULL if it is */
} walk;

/* Counts the records, or lists them where there is a list. */
static walk walk_records(const mw__hwx_task *task, bool h13, mw__hwx_record *list)
{
    const uint32_t *words = task->public.words;
    walk w = {.words = task->header_count};
    while (w.words < task->public.word_count) {
        const mw__packet head = mw__packet_read(words[w.words], h13);
        if (mw__packet_word(&head) != words[w.words])
            w.note = no_packet;
        else if (head.count > task->public.word_count - w.words - 1)
            w.note = long_packet;
        if (w.note != NULL)
            break;
        if (list != NULL)
            list[w.count] = (mw__hwx_record){head, words + w.words + 1};
        w.count++;
        w.words += 1 + head.count;
    }
    return w;
}

static mw_status decode(mw__hwx_reader *reader, mw__hwx_task *task, bool h13)
{
    mw_hwx_task *t = &task->public;
    const walk w = walk_records(task, h13, NULL);
    mw__hwx_record *records = mw__arena_alloc(&reader->hwx->arena, w.count, sizeof *records, reader->err);
    if (records == NULL)
        return MW_ERROR_MEMORY;
    walk_records(task, h13, records);
    t->note = task->missing > 0 ? cut_task : w.note;
    t->decoded = t->note == NULL;
    t->record_count = w.count;
    task->recorded = w.words;
    task->records = records;
    return MW_OK;
}

bool mw__hwx_task_register(const mw__hwx_task *task, uint32_t address, uint32_t *out)
{
    bool found = false; /* the last one that writes it counts */
    uint32_t index = 0;
    for (size_t i = 0; i < task->public.record_count; i++) {
        if (!mw__packet_find(&task->records[i].head, address, &index))
            continue;
        *out = task->records[i].values[index];
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
    uint32_t heads; /* of chains so far */
    bool may_be_cut, broken;
} frames;

static frames first_frame(const mw_hwx *hwx)
{
    return (frames){.text = hwx->text, .header = hwx->version->header, .may_be_cut = hwx->info.is_words};
}

/* A chain begins with the section, or with a page. */
static bool is_head(const frames *f)
{
    static const uint8_t head[FRAME] = {1};
    return (f->at == 0 || (f->text->public.address + f->at) % MW__HWX_PAGE == 0) &&
           memcmp(f->text->data + f->at, head, FRAME) == 0;
}

/* The next one that is a task: words of it, 0 at the end or where no task can be. */
static size_t next_frame(frames *f)
{
    const size_t size = (size_t)f->text->public.size;
    for (; f->at + f->header * 4 <= size; f->at += FRAME) {
        const size_t count = mw__bytes_u32(f->text->data + f->at) >> 16 & 0x7FF, left = (size - f->at) / 4;
        f->heads += is_head(f);
        if (count == 0)
            continue;
        f->broken = count < f->header || (count > left && !f->may_be_cut);
        return f->broken ? 0 : count;
    }
    return 0;
}

static void skip_frame(frames *f, size_t count) { f->at += (count * 4 + FRAME - 1) / FRAME * FRAME; }

static mw_status read_frame(mw__hwx_reader *reader, const frames *f, mw__hwx_task *task, size_t count)
{
    const size_t left = ((size_t)f->text->public.size - f->at) / 4, there = count < left ? count : left;
    MW_TRY(read_words(reader, f->text, task, f->at, there));
    task->header_count = (uint32_t)f->header;
    task->missing = count - there;
    task->public.id = task->public.words[0] & 0xFFFF;
    task->public.chain = f->heads > 0 ? f->heads - 1 : 0;
    task->public.flags = reader->hwx->version->rows == MW__VERSION_ALL ? task->public.words[FLAGS_WORD] : 0;
    MW_TRY(decode(reader, task, false));
    return task->public.decoded ? claim(reader, f->text, task) : MW_OK;
}

static mw_status read_frames(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    size_t total = 0, count;
    frames f;
    for (f = first_frame(hwx); (count = next_frame(&f)) != 0; skip_frame(&f, count))
        total++;
    if (f.broken)
        hwx->task_note = "a frame is shorter than its header, or longer than the section: it and the rest stay bytes";
    hwx->tasks = mw__arena_alloc(&hwx->arena, total, sizeof *hwx->tasks, reader->err);
    if (hwx->tasks == NULL)
        return MW_ERROR_MEMORY;
    for (f = first_frame(hwx); (count = next_frame(&f)) != 0; skip_frame(&f, count))
        MW_TRY(read_frame(reader, &f, &hwx->tasks[hwx->task_count++], count));
    return MW_OK;
}

mw_status mw__hwx_read_tasks(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    if (hwx->version == NULL)
        hwx->task_note = "no source names this subtype, nor how its tasks are written";
    else if (hwx->text == NULL)
        hwx->task_note = "there is no section __TEXT,__text with bytes";
    else if (hwx->version->header > 0)
        return read_frames(reader);
    else if (hwx->info.chip != MW_CHIP_H13)
        hwx->task_note = "how this chip writes tasks is not published";
    else if (hwx->program == NULL)
        hwx->task_note = "no thread state says where the tasks are";
    else
        return read_all_h13(reader, hwx->text, hwx->program);
    return MW_OK;
}
