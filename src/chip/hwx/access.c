/* What a container holds, by index, name and address. */
#include "chip/hwx/hwx.h"

#include "base/memory/live.h"

#include <string.h>

static bool is_open(const mw_hwx *hwx) { return mw__live_has(hwx, MW__LIVE_HWX); }

const mw_hwx_info *mw_hwx_get_info(const mw_hwx *hwx) { return is_open(hwx) ? &hwx->info : NULL; }

const mw_hwx_segment *mw_hwx_segment_at(const mw_hwx *hwx, size_t index)
{
    if (!is_open(hwx))
        return NULL;
    for (uint32_t i = 0; i < hwx->command_count; i++) {
        const mw__hwx_command *command = &hwx->commands[i];
        if (command->public.kind == MW__HWX_CMD_SEGMENT && index-- == 0)
            return &((const mw__hwx_segment *)command->state)->public;
    }
    return NULL;
}

const mw_hwx_port *mw_hwx_port_at(const mw_hwx *hwx, size_t index)
{
    return is_open(hwx) && index < hwx->port_count ? &hwx->ports[index] : NULL;
}

const mw_hwx_symbol *mw_hwx_symbol_at(const mw_hwx *hwx, size_t index)
{
    return is_open(hwx) && hwx->symtab != NULL && index < hwx->symtab->symbol_count ? &hwx->symbols[index].public
                                                                                    : NULL;
}

const mw_hwx_task *mw_hwx_task_at(const mw_hwx *hwx, size_t index)
{
    return is_open(hwx) && index < hwx->task_count ? &hwx->tasks[index].public : NULL;
}

const mw_hwx_kernel *mw_hwx_kernel_at(const mw_hwx *hwx, size_t index)
{
    return is_open(hwx) && index < hwx->kernel_count ? &hwx->kernels[index].public : NULL;
}

/* ---- inside the library ---- */

mw__hwx_section *mw__hwx_section_find(const mw_hwx *hwx, const char *segment, const char *name)
{
    for (size_t i = 0; i < hwx->section_count; i++) {
        mw__hwx_section *section = hwx->sections[i];
        if (strcmp(section->segment, segment) == 0 && strcmp(section->name, name) == 0)
            return section;
    }
    return NULL;
}

const uint64_t *mw__hwx_registers(const mw_hwx *hwx)
{
    if (hwx->program != NULL)
        return hwx->program->registers;
    return hwx->segment_program != NULL ? hwx->segment_program->registers : NULL;
}

const uint8_t *mw__hwx_bytes_at(const mw_hwx *hwx, uint64_t address, size_t *out_size)
{
    for (size_t i = 0; i < hwx->section_count; i++) {
        const mw__hwx_section_fields *s = &hwx->sections[i]->public;
        if (s->data == NULL || address < s->address || address - s->address >= s->size)
            continue;
        *out_size = (size_t)(s->size - (address - s->address));
        return (const uint8_t *)s->data + (address - s->address);
    }
    *out_size = 0;
    return NULL;
}

const mw__hwx_task *mw__hwx_task_at(const mw_hwx *hwx, size_t index)
{
    return index < hwx->task_count ? &hwx->tasks[index] : NULL;
}
