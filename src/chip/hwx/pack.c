/* A program that was made here is put into a .ane, which is read, gets its names and is laid out as any other. */
#include "chip/hwx/pack.h"

#include "base/number/integer.h"
#include "chip/hwx/layout.h"
#include "chip/hwx/write.h"

#include <string.h>

enum { PAYLOAD = 0x1000 };

/* By base register: the output, then inputs from the last one. */
static const mw__emit_port *port_at(const mw__emit_operation *op, int base)
{
    return base == MW__EMIT_BASE_OUTPUT ? &op->output : &op->inputs[op->input_count + MW__EMIT_BASE_OUTPUT - base];
}

static void fill_header(const mw__emit_operation *op, const mw__emit_program *program, mw__hwx_ane *ane)
{
    const uint64_t kernels_at = mw__u64_round_up(program->text_size, MW__TILE_ALIGNMENT);
    *ane = (mw__hwx_ane){.size = kernels_at + program->constants_size,
                         .first_size = 4 * MW__EMIT_WORDS,
                         .task_count = (uint32_t)program->tasks,
                         .task_size = program->text_size,
                         .kernel_size = program->constants_size,
                         .input_count = (uint32_t)op->input_count,
                         .output_count = 1};
    for (int base = MW__EMIT_BASE_OUTPUT; base <= MW__EMIT_BASE_OUTPUT + op->input_count; base++) {
        const mw__emit_extent *e = &port_at(op, base)->extent;
        const int64_t shape[] = {1, e->c, e->h, e->w, mw__emit_plane(e), mw__emit_row(e)};
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
            ane->nchw[base][i] = (uint64_t)shape[i];
        ane->tiles[base] = (uint32_t)(mw__u64_round_up((uint64_t)mw__emit_bytes(e), MW__HWX_PAGE) / MW__HWX_PAGE);
    }
}

static mw_hwx *read_program(const mw__emit_operation *op, const mw__emit_program *program, mw_error *err)
{
    mw__hwx_ane ane;
    fill_header(op, program, &ane);
    const size_t size = (size_t)(PAYLOAD + ane.size);
    uint8_t *bytes = mw__alloc(NULL, size, 1, err);
    if (bytes == NULL)
        return NULL;
    mw__hwx_layout_write(&mw__hwx_ane_layout, &ane, bytes);
    memcpy(bytes + PAYLOAD, program->text, program->text_size);
    if (program->constants_size > 0)
        memcpy(bytes + size - program->constants_size, program->constants, program->constants_size);
    mw_hwx *hwx = mw__hwx_read(bytes, size, PAYLOAD, NULL, err);
    mw__free(NULL, bytes);
    return hwx;
}

mw_status mw__hwx_pack(const mw__emit_operation *op, const mw__emit_program *program, const mw__hwx_names *names,
                       void **out, size_t *out_size, mw_error *err)
{
    mw_hwx *hwx = read_program(op, program, err);
    if (hwx == NULL)
        return err->status;
    for (size_t i = 0; i < hwx->port_count; i++)
        hwx->ports[i].name = hwx->ports[i].symbol = port_at(op, hwx->ports[i].base_register)->name;
    hwx->info.procedure = names->procedure;
    hwx->info.ident = names->ident;
    const mw_status status = mw__hwx_lay_out(hwx, names->kernel, out, out_size, err);
    mw_hwx_destroy(hwx);
    return status;
}
