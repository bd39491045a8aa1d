/* Tasks: of H13 registers by name, from H14 on packets with what is known of the version. */
#include "chip/hwx/show_task.h"

#include "chip/hwx/operation.h"
#include "chip/task/registers.h"

#include <stdio.h>
#include <string.h>

#define HEX     MW__HWX_HEX
#define DECIMAL MW__HWX_DECIMAL

enum { NAME = 64, BITS_MOST = 16 };

void mw__hwx_show_version(mw__hwx_out *out, const mw_hwx *hwx)
{
    if (hwx->version == NULL) {
        mw__hwx_out_string(out, "known", "no source names this subtype");
        return;
    }
    const mw_hwx_version *v = &hwx->version->public;
    mw__hwx_out_number(out, "task_version", v->version, DECIMAL);
    if (v->order != 0)
        mw__hwx_out_number(out, "order", v->order, DECIMAL);
    mw__hwx_out_string(out, "targets", v->targets);
    if (v->words[0] != '\0')
        mw__hwx_out_string(out, "changed_words", v->words);
    mw__hwx_out_string(out, "known", v->known);
}

/* ---- H13 ---- */

/* For people the registers of H13 by name; those that are 0 are left out. */
static void show_named(mw__hwx_out *out, const mw__hwx_record *record)
{
    for (uint32_t i = 0; i < record->head.count; i++) {
        char name[NAME];
        unsigned index = 0;
        const uint32_t address = mw__packet_address(&record->head, i);
        const mw__register_row *row = mw__register_find(address, &index);
        if (record->values[i] == 0)
            continue;
        if (row == NULL)
            snprintf(name, sizeof name, "0x%05x", address);
        else
            snprintf(name, sizeof name, row->count > 1 ? "%s[%u]" : "%s", row->name, index);
        mw__hwx_out_number(out, name, record->values[i], HEX);
    }
}

/* ---- packets ---- */

/* The fields of a word among rows of packets.def. */
static size_t bits_of_word(const mw__packet_bits *(*row_at)(size_t), uint32_t address, uint32_t word,
                           mw__hwx_bits out[BITS_MOST])
{
    size_t count = 0;
    const mw__packet_bits *row;
    for (size_t i = 0; (row = row_at(i)) != NULL && count < BITS_MOST; i++)
        if (row->address == address && row->width < 32)
            out[count++] = (mw__hwx_bits){row->name, mw__packet_bits_of(row, word)};
    return count;
}

/* By the name of its row, else by its unit; a name occurs once in a packet. */
static void name_word(uint32_t address, const mw__packet_register *row, char name[NAME])
{
    const mw__packet_unit *unit = mw__packet_unit_of(address);
    if (row != NULL && row->count > 1 && strchr(row->name, '[') == NULL)
        snprintf(name, NAME, "%s[%u]", row->name, address - row->address);
    else if (row != NULL && row->count == 1)
        snprintf(name, NAME, "%s", row->name);
    else
        snprintf(name, NAME, "%s[0x%04x]", unit != NULL ? unit->name : "?", address);
}

static void show_words(mw__hwx_out *out, const mw__hwx_record *record, mw__version_rows rows)
{
    mw__hwx_bits bits[BITS_MOST];
    char name[NAME];
    mw__hwx_out_open(out, "registers", false);
    for (uint32_t i = 0; i < record->head.count; i++) {
        const uint32_t address = mw__packet_address(&record->head, i), word = record->values[i];
        const mw__packet_register *row = mw__packet_register_of(address, rows);
        name_word(address, row, name);
        mw__hwx_out_bits(out, name, word, bits,
                         row != NULL ? bits_of_word(mw__packet_bits_at, address, word, bits) : 0);
    }
    mw__hwx_out_close(out, false);
}

static void show_packet(mw__hwx_out *out, const mw__hwx_record *record, mw__version_rows rows)
{
    const char *bar = rows == MW__VERSION_ALL ? mw__packet_bar_name(record->head.bar) : NULL;
    mw__hwx_out_string(out, "kind", mw__packet_name(record->head.kind));
    if (record->head.kind == MW__PACKET_MASK)
        mw__hwx_out_number(out, "mask", record->head.mask, HEX);
    if (record->head.kind == MW__PACKET_ADDRESS)
        mw__hwx_out_number(out, "bar", record->head.bar, DECIMAL);
    if (record->head.kind == MW__PACKET_ADDRESS)
        mw__hwx_out_string(out, "bar_is", bar != NULL ? bar : "not published");
    show_words(out, record, rows);
}

/* ---- a task ---- */

static void show_record(mw__hwx_out *out, const mw_hwx *hwx, const mw__hwx_record *record)
{
    mw__hwx_out_open(out, out->json ? NULL : "record", false);
    mw__hwx_out_number(out, "address", record->head.address, HEX);
    mw__hwx_out_number(out, "count", record->head.count, DECIMAL);
    if (record->head.kind != MW__PACKET_H13)
        show_packet(out, record, hwx->version->rows);
    else if (!out->json)
        show_named(out, record);
    else
        mw__hwx_out_words(out, "values", record->values, record->head.count);
    mw__hwx_out_close(out, false);
}

static void show_header(mw__hwx_out *out, const mw_hwx *hwx, const mw__hwx_task *task)
{
    mw__hwx_bits bits[BITS_MOST];
    mw__hwx_out_words(out, "header", task->public.words, task->header_count);
    for (uint32_t i = 0; i < task->header_count && hwx->version->rows == MW__VERSION_ALL; i++) {
        char name[NAME];
        const size_t count = bits_of_word(mw__packet_header_at, i, task->public.words[i], bits);
        snprintf(name, sizeof name, "header_%u", i);
        if (count > 0)
            mw__hwx_out_bits(out, name, task->public.words[i], bits, count);
    }
}

/* What its records do not have. */
static void show_rest(mw__hwx_out *out, const mw__hwx_task *task)
{
    if (task->public.note != NULL)
        mw__hwx_out_string(out, "note", task->public.note);
    if (task->missing > 0)
        mw__hwx_out_number(out, "missing_words", task->missing, DECIMAL);
    if (task->recorded < task->public.word_count)
        mw__hwx_out_words(out, "rest", task->public.words + task->recorded, task->public.word_count - task->recorded);
}

static void show_task(mw__hwx_out *out, const mw_hwx *hwx, size_t index)
{
    const mw__hwx_task *task = &hwx->tasks[index];
    const mw_hwx_task *t = &task->public;
    char operation[96];
    mw__hwx_operation(hwx, index, operation);
    mw__hwx_out_open(out, out->json ? NULL : "task", false);
    mw__hwx_out_number(out, "id", t->id, DECIMAL);
    if (hwx->info.chip != MW_CHIP_H13)
        mw__hwx_out_number(out, "chain", t->chain, DECIMAL);
    if (operation[0] != '\0')
        mw__hwx_out_string(out, "operation", operation);
    mw__hwx_out_number(out, "at", t->offset, HEX);
    mw__hwx_out_number(out, "words", t->word_count, DECIMAL);
    show_header(out, hwx, task);
    mw__hwx_out_flag(out, "decoded", t->decoded);
    show_rest(out, task);
    mw__hwx_out_open(out, "records", true);
    for (size_t i = 0; i < t->record_count; i++)
        show_record(out, hwx, &task->records[i]);
    mw__hwx_out_close(out, true);
    mw__hwx_out_close(out, false);
}

void mw__hwx_show_tasks(mw__hwx_out *out, const mw_hwx *hwx)
{
    if (hwx->task_note != NULL)
        mw__hwx_out_string(out, hwx->task_count == 0 ? "no_tasks" : "no_more_tasks", hwx->task_note);
    mw__hwx_out_open(out, "tasks", true);
    for (size_t i = 0; i < hwx->task_count; i++)
        show_task(out, hwx, i);
    mw__hwx_out_close(out, true);
}
