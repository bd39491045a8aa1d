/* A container as bytes: what was kept, and over it every field, string, task and content anew. */
#include "chip/hwx/write.h"

#include "base/file/file.h"
#include "base/memory/live.h"
#include "chip/hwx/layout.h"

#include <string.h>

static void put_string(uint8_t *at, const mw__hwx_string *string)
{
    if (string->text != NULL)
        memcpy(at + string->at, string->text, strlen(string->text) + 1);
}

static void write_segment(const mw__hwx_segment *segment, uint8_t *out, size_t at)
{
    mw__hwx_layout_write(&mw__hwx_segment_layout, segment, out + at);
    for (uint32_t i = 0; i < segment->public.section_count; i++) {
        const mw__hwx_section *section = &segment->sections[i];
        mw__hwx_layout_write(&mw__hwx_section_layout, section, out + at + 72 + (size_t)i * 80);
        for (uint32_t k = 0; section->relocations != NULL && k < section->public.relocation_count; k++)
            mw__hwx_layout_write(&mw__hwx_relocation_layout, &section->relocations[k],
                                 out + section->public.relocation_offset + (size_t)k * 8);
    }
}

static void write_binding(const mw__hwx_binding *binding, bool wide, uint8_t *at)
{
    mw__hwx_layout_write(wide ? &mw__hwx_binding_64_layout : &mw__hwx_binding_layout, binding, at);
    put_string(at, &binding->name);
}

static void write_thread(const mw__hwx_thread *thread, uint8_t *at)
{
    mw__hwx_layout_write(&mw__hwx_thread_layout, thread, at);
    if (thread->program != NULL)
        mw__hwx_layout_write(&mw__hwx_program_layout, thread->program, at);
    if (thread->program != NULL && thread->program->has_note)
        mw__hwx_layout_write(&mw__hwx_program_note_layout, thread->program, at);
    if (thread->port != NULL)
        mw__hwx_layout_write(&mw__hwx_port_layout, thread->port, at);
    if (thread->segment != NULL)
        mw__hwx_layout_write(&mw__hwx_segment_state_layout, thread->segment, at);
    put_string(at, &thread->procedure);
    put_string(at, &thread->tensor);
    put_string(at, &thread->symbol);
}

static void write_note(const mw__hwx_note *note, uint8_t *at)
{
    mw__hwx_layout_write(&mw__hwx_note_layout, note, at);
    memcpy(at + note->at, note->data, (size_t)note->size);
}

/* A name whose end another one wrote is complete there: what is not 0 was written, as nothing is kept in names. */
static void write_name(const char *name, uint8_t *at)
{
    for (; *name != '\0' && *at == 0; name++, at++)
        *at = (uint8_t)*name;
}

static void write_symbols(const mw_hwx *hwx, uint8_t *out)
{
    const mw__hwx_symtab *table = hwx->symtab;
    for (size_t i = 0; i < table->symbol_count; i++) {
        mw__hwx_layout_write(&mw__hwx_symbol_layout, &hwx->symbols[i], out + table->symbol_at + i * 16);
        write_name(hwx->symbols[i].public.name, out + table->string_at + hwx->symbols[i].name_at);
    }
}

static void write_command(const mw_hwx *hwx, const mw__hwx_command *command, uint8_t *out)
{
    const size_t at = command->public.offset;
    mw__hwx_put32(out + at, command->public.kind);
    mw__hwx_put32(out + at + 4, (uint32_t)command->public.size);
    switch (command->public.kind) {
    case MW__HWX_CMD_SEGMENT:
        write_segment(command->state, out, at);
        break;
    case MW__HWX_CMD_BINDING:
    case MW__HWX_CMD_BINDING_64:
        write_binding(command->state, command->public.kind == MW__HWX_CMD_BINDING_64, out + at);
        break;
    case MW__HWX_CMD_THREAD:
        write_thread(command->state, out + at);
        break;
    case MW__HWX_CMD_IDENT:
        put_string(out + at, &((const mw__hwx_ident *)command->state)->text);
        break;
    case MW__HWX_CMD_NOTE:
        write_note(command->state, out + at);
        break;
    case MW__HWX_CMD_SYMTAB:
        mw__hwx_layout_write(&mw__hwx_symtab_layout, command->state, out + at);
        write_symbols(hwx, out);
        break;
    default:
        break;
    }
}

/* ---- contents ---- */

static void write_task(const mw__hwx_task *task, uint8_t *at)
{
    if (!task->public.decoded)
        return; /* all of it was kept */
    for (uint32_t i = 0; i < task->header_count; i++)
        mw__hwx_put32(at + (size_t)i * 4, task->public.words[i]);
    at += (size_t)task->header_count * 4;
    for (size_t i = 0; i < task->public.record_count; i++) {
        const mw__hwx_record *record = &task->records[i];
        mw__hwx_put32(at, mw__packet_word(&record->head));
        for (uint32_t k = 0; k < record->head.count; k++)
            mw__hwx_put32(at + 4 + (size_t)k * 4, record->values[k]);
        at += 4 + (size_t)record->head.count * 4;
    }
}

static void write_contents(const mw_hwx *hwx, uint8_t *out)
{
    for (size_t i = 0; i < hwx->section_count; i++) {
        const mw__hwx_section *section = hwx->sections[i];
        if (section->data != NULL && section != hwx->text)
            memcpy(out + section->public.offset, section->data, (size_t)section->public.size);
    }
    for (size_t i = 0; i < hwx->task_count; i++)
        write_task(&hwx->tasks[i], out + hwx->text->public.offset + hwx->tasks[i].public.offset);
}

static void write_all(const mw_hwx *hwx, uint8_t *out)
{
    memcpy(out, hwx->kept, hwx->size);
    if (hwx->ane != NULL)
        mw__hwx_layout_write(&mw__hwx_ane_layout, hwx->ane, out);
    else if (!hwx->info.is_words)
        mw__hwx_layout_write(&mw__hwx_header_layout, hwx, out);
    for (uint32_t i = 0; i < hwx->command_count; i++)
        write_command(hwx, &hwx->commands[i], out);
    write_contents(hwx, out);
}

mw_status mw_hwx_write_memory(const mw_hwx *hwx, void **out, size_t *out_size, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (out == NULL || out_size == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_write_memory: out and out_size are needed");
    *out = NULL;
    *out_size = 0;
    MW_TRY(mw__live_check(hwx, MW__LIVE_HWX, __func__, err));
    uint8_t *bytes = mw__alloc(mw__allocator_default(), hwx->size, 1, err);
    if (bytes == NULL)
        return MW_ERROR_MEMORY;
    write_all(hwx, bytes);
    *out = bytes;
    *out_size = hwx->size;
    return MW_OK;
}

mw_status mw_hwx_write(const mw_hwx *hwx, const char *path, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    void *bytes = NULL;
    size_t size = 0;
    if (!mw__skips(err) && path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_write: the path is NULL");
    MW_TRY(mw_hwx_write_memory(hwx, &bytes, &size, err));
    const mw_status status = mw__file_write(mw__allocator_default(), path, bytes, size, true, err);
    mw__free(mw__allocator_default(), bytes);
    return status;
}
