/* All of a container in the order of the file, as lines or JSON. */
#include "chip/hwx/hwx.h"

#include "base/memory/live.h"
#include "chip/hwx/layout.h"
#include "chip/hwx/out.h"
#include "chip/hwx/show_task.h"
#include "chip/hwx/stab.h"

#include <stdio.h>
#include <string.h>

#define HEX     MW__HWX_HEX
#define DECIMAL MW__HWX_DECIMAL

/* ---- load commands ---- */

static void show_relocations(mw__hwx_out *out, const mw__hwx_section *section)
{
    if (section->relocations == NULL)
        return;
    mw__hwx_out_open(out, "relocations", true);
    for (uint32_t i = 0; i < section->public.relocation_count; i++) {
        mw__hwx_out_open(out, out->json ? NULL : "relocation", false);
        mw__hwx_out_layout(out, &mw__hwx_relocation_layout, &section->relocations[i]);
        mw__hwx_out_close(out, false);
    }
    mw__hwx_out_close(out, true);
}

static void show_segment(mw__hwx_out *out, const mw__hwx_segment *segment)
{
    mw__hwx_out_layout(out, &mw__hwx_segment_layout, segment);
    mw__hwx_out_open(out, "sections", true);
    for (uint32_t i = 0; i < segment->public.section_count; i++) {
        mw__hwx_out_open(out, out->json ? NULL : "section", false);
        mw__hwx_out_layout(out, &mw__hwx_section_layout, &segment->sections[i]);
        show_relocations(out, &segment->sections[i]);
        mw__hwx_out_close(out, false);
    }
    mw__hwx_out_close(out, true);
}

static void show_string(mw__hwx_out *out, const char *name, const mw__hwx_string *string)
{
    if (string->text != NULL)
        mw__hwx_out_string(out, name, string->text);
}

/* Only those that are set: there are 256. */
static void show_registers(mw__hwx_out *out, const uint64_t *registers)
{
    if (!out->json) {
        for (size_t i = 0; i < MW__HWX_REGISTERS; i++) {
            char name[24];
            snprintf(name, sizeof name, "base_register_%zu", i);
            if (registers[i] != 0)
                mw__hwx_out_number(out, name, registers[i], HEX);
        }
        return;
    }
    mw__hwx_out_open(out, "base_registers", true);
    for (size_t i = 0; i < MW__HWX_REGISTERS; i++) {
        if (registers[i] == 0)
            continue;
        mw__hwx_out_open(out, NULL, false);
        mw__hwx_out_number(out, "register", i, DECIMAL);
        mw__hwx_out_number(out, "address", registers[i], HEX);
        mw__hwx_out_close(out, false);
    }
    mw__hwx_out_close(out, true);
}

/* A layout whose first row is the base registers. */
static void show_state(mw__hwx_out *out, const mw__hwx_layout *layout, const void *state, const uint64_t *registers)
{
    const mw__hwx_layout rest = {layout->fields + 1, layout->count - 1};
    show_registers(out, registers);
    mw__hwx_out_layout(out, &rest, state);
}

static void show_thread(mw__hwx_out *out, const mw__hwx_thread *thread)
{
    mw__hwx_out_layout(out, &mw__hwx_thread_layout, thread);
    show_string(out, "procedure", &thread->procedure);
    show_string(out, "tensor", &thread->tensor);
    show_string(out, "symbol", &thread->symbol);
    if (thread->program != NULL)
        show_state(out, &mw__hwx_program_layout, thread->program, thread->program->registers);
    if (thread->program != NULL && thread->program->has_note)
        mw__hwx_out_layout(out, &mw__hwx_program_note_layout, thread->program);
    if (thread->port != NULL)
        mw__hwx_out_layout(out, &mw__hwx_port_layout, thread->port);
    if (thread->segment != NULL)
        show_state(out, &mw__hwx_segment_state_layout, thread->segment, thread->segment->registers);
}

static void show_binding(mw__hwx_out *out, const mw__hwx_binding *binding)
{
    mw__hwx_out_number(out, "address", binding->address, HEX);
    show_string(out, "symbol", &binding->name);
}

static void show_note(mw__hwx_out *out, const mw__hwx_note *note)
{
    mw__hwx_out_layout(out, &mw__hwx_note_layout, note);
    mw__hwx_out_bytes(out, "bytes", note->data, (size_t)note->size);
}

static void show_command(mw__hwx_out *out, const mw_hwx *hwx, const mw__hwx_command *command)
{
    const mw__hwx_command_fields *c = &command->public;
    mw__hwx_out_open(out, out->json ? NULL : c->name, false);
    mw__hwx_out_number(out, "kind", c->kind, HEX);
    if (out->json)
        mw__hwx_out_string(out, "name", c->name);
    mw__hwx_out_number(out, "at", c->offset, HEX);
    mw__hwx_out_number(out, "bytes", c->size, HEX);
    if (out->json)
        mw__hwx_out_open(out, "fields", false);
    switch (c->kind) {
    case MW__HWX_CMD_SEGMENT:
        show_segment(out, command->state);
        break;
    case MW__HWX_CMD_BINDING:
    case MW__HWX_CMD_BINDING_64:
        show_binding(out, command->state);
        break;
    case MW__HWX_CMD_THREAD:
        show_thread(out, command->state);
        break;
    case MW__HWX_CMD_IDENT:
        show_string(out, "text", &((const mw__hwx_ident *)command->state)->text);
        break;
    case MW__HWX_CMD_NOTE:
        show_note(out, command->state);
        break;
    case MW__HWX_CMD_SYMTAB:
        mw__hwx_out_layout(out, &mw__hwx_symtab_layout, command->state);
        break;
    default:
        mw__hwx_out_bytes(out, "body", hwx->kept + c->offset + 8, c->size - 8);
        break;
    }
    if (out->json)
        mw__hwx_out_close(out, false);
    mw__hwx_out_close(out, false);
}

/* ---- symbols and ports ---- */

static void show_stab(mw__hwx_out *out, const mw__stab *stab)
{
    mw__hwx_out_number(out, "number", stab->number, DECIMAL);
    if (stab->axis_count > 0)
        mw__hwx_out_number(out, "element", stab->element, DECIMAL);
    for (size_t i = 0; i < stab->axis_count; i++) {
        const char name[] = {'a', 'x', 'i', 's', '_', stab->axes[i].letter, '\0'};
        const uint64_t values[] = {stab->axes[i].extent, stab->axes[i].stride};
        mw__hwx_out_wide(out, name, values, 2, DECIMAL);
    }
}

static void show_symbols(mw__hwx_out *out, const mw_hwx *hwx)
{
    mw__stab stab;
    mw__hwx_out_open(out, "symbols", true);
    for (uint32_t i = 0; hwx->symtab != NULL && i < hwx->symtab->symbol_count; i++) {
        const mw_hwx_symbol *symbol = &hwx->symbols[i].public;
        const bool debug = symbol->type == 0x80 || symbol->type == 0x20;
        mw__hwx_out_open(out, out->json ? NULL : "symbol", false);
        mw__hwx_out_string(out, "name", symbol->name);
        mw__hwx_out_number(out, "type", symbol->type, HEX);
        mw__hwx_out_number(out, "section", symbol->section, DECIMAL);
        mw__hwx_out_number(out, "description", symbol->description, HEX);
        mw__hwx_out_number(out, "value", symbol->value, HEX);
        if (debug && mw__stab_read(symbol->name, &stab))
            show_stab(out, &stab);
        mw__hwx_out_close(out, false);
    }
    mw__hwx_out_close(out, true);
}

static void show_ports(mw__hwx_out *out, const mw_hwx *hwx)
{
    mw__hwx_out_open(out, "ports", true);
    for (size_t i = 0; i < hwx->port_count; i++) {
        const mw_hwx_port *port = &hwx->ports[i];
        uint64_t extent[5];
        for (size_t k = 0; k < 5; k++)
            extent[k] = port->extent[k];
        mw__hwx_out_open(out, out->json ? NULL : port->is_output ? "output" : "input", false);
        mw__hwx_out_string(out, "name", port->name);
        mw__hwx_out_flag(out, "is_output", port->is_output);
        mw__hwx_out_number(out, "type", port->type, DECIMAL);
        mw__hwx_out_wide(out, "extent", extent, 5, DECIMAL);
        mw__hwx_out_wide(out, "stride", port->stride, 5, DECIMAL);
        mw__hwx_out_number(out, "address", port->address, HEX);
        if (port->base_register >= 0)
            mw__hwx_out_number(out, "base_register", (uint64_t)port->base_register, DECIMAL);
        mw__hwx_out_close(out, false);
    }
    mw__hwx_out_close(out, true);
}

/* ---- kernels ---- */

static void show_table(mw__hwx_out *out, const mw_hwx_table *table)
{
    const float limits[] = {table->x_low, table->x_high, table->y_low, table->y_high};
    const float low[] = {table->slope_low, table->intercept_low}, high[] = {table->slope_high, table->intercept_high};
    mw__hwx_out_floats(out, "limits", limits, 4);
    mw__hwx_out_floats(out, "line_below", low, 2);
    mw__hwx_out_floats(out, "line_above", high, 2);
    mw__hwx_out_number(out, "spacing", (uint64_t)table->spacing, DECIMAL);
    mw__hwx_out_number(out, "mode", table->mode, HEX);
    mw__hwx_out_floats(out, "knots", table->knots, sizeof table->knots / sizeof *table->knots);
}

static void show_kernel(mw__hwx_out *out, const mw_hwx *hwx, size_t index)
{
    static const char *const names[] = {"weights", "table", "opaque"};
    const mw_hwx_kernel *k = &hwx->kernels[index].public;
    const uint64_t extent[] = {k->extent[0], k->extent[1], k->extent[2], k->extent[3]};
    mw_hwx_table table;
    mw__hwx_out_open(out, out->json ? NULL : names[k->kind], false);
    mw__hwx_out_string(out, "kind", names[k->kind]);
    mw__hwx_out_number(out, "task", k->task, DECIMAL);
    mw__hwx_out_number(out, "tiles", k->tiles, DECIMAL);
    mw__hwx_out_number(out, "bytes", k->size, DECIMAL);
    if (k->note != NULL)
        mw__hwx_out_string(out, "note", k->note);
    if (k->kind == MW_HWX_WEIGHTS) {
        mw__hwx_out_wide(out, "extent", extent, 4, DECIMAL);
        mw__hwx_out_number(out, "lanes", k->lanes, DECIMAL);
        mw__hwx_out_flag(out, "bias", k->has_bias);
    }
    if (k->kind == MW_HWX_TABLE && mw_hwx_get_table(hwx, index, &table, NULL) == MW_OK)
        show_table(out, &table);
    mw__hwx_out_close(out, false);
}

/* ---- the whole ---- */

/* Runs of bytes that are not 0 and that nobody has explained; they may hold up to 15 zeros each. */
static void show_kept(mw__hwx_out *out, const mw_hwx *hwx)
{
    enum { JOIN = 16 };
    mw__hwx_out_open(out, "kept", true);
    for (size_t i = 0; i < hwx->size && hwx->coverage.kept > 0; i++) {
        if (hwx->kept[i] == 0)
            continue;
        size_t end = i + 1;
        for (size_t k = end; k < hwx->size && k < end + JOIN; k++)
            end = hwx->kept[k] != 0 ? k + 1 : end;
        mw__hwx_out_open(out, out->json ? NULL : "bytes", false);
        mw__hwx_out_number(out, "at", i, HEX);
        mw__hwx_out_bytes(out, "bytes", hwx->kept + i, end - i);
        mw__hwx_out_close(out, false);
        i = end - 1;
    }
    mw__hwx_out_close(out, true);
}

/* H18G and H19 have one. */
static bool has_runtime(const mw_hwx *hwx)
{
    for (size_t i = 0; i < hwx->section_count; i++)
        if (strcmp(hwx->sections[i]->public.segment, "__RUNTIME") == 0)
            return true;
    return false;
}

static void show_container(mw__hwx_out *out, const mw_hwx *hwx)
{
    mw__hwx_out_open(out, "header", false);
    mw__hwx_out_string(out, "chip", hwx->info.chip_name);
    mw__hwx_show_version(out, hwx);
    if (has_runtime(hwx))
        mw__hwx_out_string(out, "runtime", "how __RUNTIME, a graph of operations, is written is not published");
    mw__hwx_out_layout(out, &mw__hwx_header_layout, hwx);
    mw__hwx_out_close(out, false);
    mw__hwx_out_open(out, "commands", true);
    for (uint32_t i = 0; i < hwx->command_count; i++)
        show_command(out, hwx, &hwx->commands[i]);
    mw__hwx_out_close(out, true);
    show_symbols(out, hwx);
}

static void show_all(mw__hwx_out *out, const mw_hwx *hwx)
{
    mw__hwx_out_open(out, NULL, false);
    out->depth -= !out->json; /* lines of the outermost object are not indented */
    if (hwx->info.is_words)
        mw__hwx_show_version(out, hwx);
    else if (hwx->ane == NULL)
        show_container(out, hwx);
    else
        mw__hwx_out_layout(out, &mw__hwx_ane_layout, hwx->ane);
    show_ports(out, hwx);
    mw__hwx_show_tasks(out, hwx);
    mw__hwx_out_open(out, "kernels", true);
    for (size_t i = 0; i < hwx->kernel_count; i++)
        show_kernel(out, hwx, i);
    mw__hwx_out_close(out, true);
    show_kept(out, hwx);
    out->depth += !out->json;
    mw__hwx_out_close(out, false);
    mw__text_puts(&out->text, "\n");
}

static char *show(const mw_hwx *hwx, bool json, const char *call, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (hwx == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the file is NULL", call);
        return NULL;
    }
    if (mw__live_check(hwx, MW__LIVE_HWX, call, err) != MW_OK)
        return NULL;
    mw__hwx_out out = {.json = json};
    mw__text_init(&out.text, NULL);
    show_all(&out, hwx);
    if (mw__text_check(&out.text, err) == MW_OK)
        return out.text.data;
    mw__text_deinit(&out.text);
    return NULL;
}

char *mw_hwx_text(const mw_hwx *hwx, mw_error *err) { return show(hwx, false, __func__, err); }

char *mw_hwx_json(const mw_hwx *hwx, mw_error *err) { return show(hwx, true, __func__, err); }
