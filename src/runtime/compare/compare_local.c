/* Local errors: each operation as a program of its own on both sides, on what the reference computed. */
#include "base/number/fp16.h"
#include "base/text/printable.h"
#include "graph/ir/ir.h"
#include "runtime/compare/compare.h"
#include "runtime/program/lowered.h"

#include <stdio.h>
#include <string.h>

/* One operation on both sides. */
typedef struct local {
    const mw__compare_run *run;
    mw__compare_alone alone;
    mw_program *programs[2];
} local;

static const char *port_of(const mw__compare_run *run, const mw_tensor *value)
{
    for (size_t i = 0; value->op != NULL && i < run->comparison->count; i++)
        if (run->values[i].value == value)
            return run->values[i].port;
    return value->name; /* an input */
}

/* Both sides get the same: what the narrower type holds. */
static void round_alike(const local *l, const char *port, double *data, size_t count)
{
    bool half = false;
    for (int side = 0; side < 2; side++)
        half = half || l->programs[side]->ports[mw__program_find(l->programs[side], port)].dtype == MW_F16;
    for (size_t i = 0; half && i < count; i++)
        data[i] = (double)mw__fp16_to_float(mw__fp16_from_double(data[i]));
}

static mw_status feed(const local *l, size_t index, mw_error *err)
{
    mw_program *reference = l->run->programs[0];
    char name[32];
    size_t count = 0;
    snprintf(name, sizeof name, "in%zu", index);
    double *data = mw__compare_read(reference, port_of(l->run, l->alone.inputs[index]), &count, err);
    if (data == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    const mw_dtype dtype = l->alone.inputs[index]->type->dtype;
    if (dtype == MW_F16 || dtype == MW_F32)
        round_alike(l, name, data, count);
    mw_status status = MW_OK;
    for (int side = 0; side < 2 && status == MW_OK; side++)
        status = mw_program_write(l->programs[side], name, MW_F64, data, count, err);
    mw__free(reference->allocator, data);
    return status;
}

static mw_status run_both(local *l, const mw__op *op, mw_error *err)
{
    const mw__compare_run *run = l->run;
    MW_TRY(mw__compare_isolate(op, run->comparison->allocator, &l->alone, err));
    for (int side = 0; side < 2; side++) {
        const mw__program_request request = {
            .graph = l->alone.graph, .options = &run->sides[side], .target = &run->targets[side]};
        l->programs[side] = mw__lowered_create(&request, err);
        if (l->programs[side] == NULL)
            return mw__status_or(err, MW_ERROR_DEVICE);
    }
    for (size_t i = 0; i < l->alone.input_count; i++)
        MW_TRY(feed(l, i, err));
    for (int side = 0; side < 2; side++)
        MW_TRY(mw_program_run(l->programs[side], err));
    return MW_OK;
}

static mw_status compare_results(const local *l, size_t first, size_t count, mw_error *err)
{
    const mw__compare_run *run = l->run;
    for (size_t i = first; i < first + count; i++) {
        char name[32];
        snprintf(name, sizeof name, "out%u", (unsigned)run->values[i].value->result);
        mw_compared *item = &run->comparison->items[i];
        MW_TRY(mw__difference_of_ports(l->programs[0], l->programs[1], name, item->dtype, run->request->options,
                                       &item->local, err));
    }
    return MW_OK;
}

/* That an operation does not run alone is a result, not an error; only memory that is short ends the comparison. */
static mw_status note_failure(const mw__compare_run *run, size_t first, size_t count, const mw_error *why,
                              mw_error *err)
{
    char text[sizeof why->message];
    if (why->status == MW_ERROR_MEMORY)
        return mw__fail(err, MW_ERROR_MEMORY, "%s", why->message);
    const size_t length = mw__printable_printf(text, sizeof text, "%s", why->message);
    const char *copy = mw__arena_string(&run->comparison->arena, text, length, err);
    for (size_t i = first; copy != NULL && i < first + count; i++)
        run->comparison->items[i].skipped = copy;
    return copy != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status compare_operation(const mw__compare_run *run, size_t first, size_t count, mw_error *err)
{
    local l = {.run = run};
    mw_error why = {0};
    mw_status status = run_both(&l, run->values[first].op, &why);
    if (status == MW_OK)
        status = compare_results(&l, first, count, &why);
    if (status != MW_OK)
        status = note_failure(run, first, count, &why, err);
    mw_program_destroy(l.programs[0]);
    mw_program_destroy(l.programs[1]);
    mw__graph_free(l.alone.graph);
    return status;
}

mw_status mw__compare_locally(const mw__compare_run *run, mw_error *err)
{
    const size_t count = run->comparison->count;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && run->values[end].op == run->values[first].op;)
            end++;
        MW_TRY(compare_operation(run, first, end - first, err));
    }
    return MW_OK;
}
