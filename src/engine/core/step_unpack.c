/* The step that expands a constant which stays as it is stored, for kernels that want the whole of it. */
#include "engine/core/kernel.h"
#include "engine/core/planner.h"
#include "engine/core/unpack.h"

typedef struct unpack_block {
    const mw__compressed *packed;
    int64_t elements, count;
    mw_dtype dtype;
    mw__level level;
} unpack_block;

bool mw__is_packed(const mw_tensor *value)
{
    return value != NULL && value->packed != NULL && value->payload != NULL && value->payload->data == NULL;
}

static void unpack_run(const mw__kernel_call *call)
{
    const unpack_block *block = call->block;
    float tile[MW__TILE];
    int64_t at, end;
    mw__units_range(call, block->elements, block->count, &at, &end);
    if (block->dtype == MW_F32) {
        mw__unpack(block->level, block->packed, at, end - at, (float *)call->out[0] + at);
        return;
    }
    for (int64_t run; at < end; at += run) {
        run = end - at < MW__TILE ? end - at : MW__TILE;
        mw__unpack(block->level, block->packed, at, run, tile);
        mw__tile_store(call->out[0], block->dtype, at, run, tile);
    }
}

uint32_t mw__plan_unpack(mw__planner *planner, const mw_tensor *value, size_t size)
{
    const mw__units split = mw__units_of(planner, mw__shape_of(value));
    const uint32_t buffer =
        mw__planner_add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_LOCAL, .size = size, .value = value});
    unpack_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return buffer;
    *block = (unpack_block){.packed = value->packed,
                            .elements = split.elements,
                            .count = mw__count_of(value),
                            .dtype = mw__dtype_of(value),
                            .level = mw__plan_level(planner)};
    mw__step *step = mw__plan_step(planner, unpack_run, "unpack", split.units,
                                   mw__cost((double)size, 2.0 * (double)mw__count_of(value)));
    step->block = block;
    step->report.helper = true;
    step->rounds = true; /* its numbers are those of the constant */
    mw__step_write(planner, step, buffer, MW__ROWS, (size_t)split.elements * mw__dtype_size(block->dtype));
    return buffer;
}
