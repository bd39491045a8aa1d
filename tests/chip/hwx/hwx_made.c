#include "chip/hwx/hwx_made.h"

#include "base/number/fp16.h"
#include "chip/hwx/pack.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

bool hwx_made_open(hwx_file *file, const mw__emit_operation *op)
{
    const mw__hwx_names names = {"net", "made by a test", NULL};
    mw__emit_program program;
    void *made = NULL;
    size_t size = 0;
    mw_error err = {0};
    *file = (hwx_file){0};
    if (!check_note(mw__emit_task(op, NULL, &program, &err) == MW_OK, __FILE__, __LINE__, "emit: %s", err.message))
        return false;
    if (mw__hwx_pack(op, &program, &names, &made, &size, &err) != MW_OK)
        check_note(false, __FILE__, __LINE__, "pack: %s", err.message);
    mw__free(NULL, program.constants);
    uint8_t *data = made != NULL ? malloc(size) : NULL;
    if (data != NULL)
        memcpy(data, made, size);
    mw__free(NULL, made);
    return data != NULL && hwx_file_of(file, data, size);
}

mw__emit_operation hwx_made_unary(mw__emit_kind kind, mw__emit_extent extent)
{
    return (mw__emit_operation){.kind = kind, .inputs = {{"x", extent}}, .output = {"y", extent}, .input_count = 1};
}

mw__emit_operation hwx_made_binary(unsigned planar, mw__emit_extent extent)
{
    return (mw__emit_operation){.kind = MW__EMIT_PLANAR,
                                .inputs = {{"x", extent}, {"z", extent}},
                                .output = {"y", extent},
                                .input_count = 2,
                                .planar = planar};
}

mw__emit_operation hwx_made_conv(mw__emit_extent in, int64_t outputs, int64_t kernel, int64_t pad,
                                 const uint16_t *weights, const uint16_t *bias)
{
    const mw__emit_extent out = {outputs, in.h + 2 * pad - kernel + 1, in.w + 2 * pad - kernel + 1};
    return (mw__emit_operation){.kind = MW__EMIT_PRODUCT,
                                .inputs = {{"x", in}},
                                .output = {"y", out},
                                .input_count = 1,
                                .kernel_h = kernel,
                                .kernel_w = kernel,
                                .pad_top = pad,
                                .pad_left = pad,
                                .weights = weights,
                                .bias = bias};
}

/* The task points into the file's bytes, which are ours. */
static uint8_t *find_word(const hwx_file *file, mw__register_id id, unsigned index)
{
    const mw__register_row *row = &mw__register_rows()[id];
    const mw__task *task = &file->chain.tasks[0];
    const size_t from_start = (size_t)(task->words - file->data);
    mw__task_run run;
    if (row->unit == MW__UNIT_header)
        return file->data + from_start + row->address;
    for (size_t at = 0; mw__task_next_run(task, &at, &run);)
        if (row->address >= run.address && (row->address - run.address) / 4 + index < run.count)
            return file->data + (run.values - file->data) + (row->address - run.address) + 4 * (size_t)index;
    abort();
}

void hwx_made_put(hwx_file *file, mw__register_id id, unsigned index, uint32_t value)
{
    uint8_t *at = find_word(file, id, index);
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

uint32_t hwx_made_get(const hwx_file *file, mw__register_id id) { return mw__word_at(find_word(file, id, 0), 0); }

void hwx_made_field(hwx_file *file, mw__field_id id, uint32_t value)
{
    const mw__register_id in = mw__field_rows()[id].in;
    hwx_made_put(file, in, 0, mw__field_put(id, hwx_made_get(file, in), value));
}

static uint64_t state = 1;

void hwx_made_seed(uint64_t seed) { state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1; }

double hwx_made_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)mw__fp16_to_float(mw__fp16_from_double(((double)(state >> 11) * 0x1p-53 - 0.5) * 8.0));
}

void hwx_made_fill(hwx_file *file)
{
    for (int p = 0; p < file->port_count; p++)
        for (int64_t i = 0; !file->ports[p].is_output && i < hwx_port_count(&file->ports[p]); i++)
            hwx_port_put(&file->ports[p], i, hwx_made_number());
}

uint16_t *hwx_made_weights(size_t count, double *out_values)
{
    uint16_t *weights = calloc(count, sizeof *weights);
    for (size_t i = 0; weights != NULL && i < count; i++) {
        out_values[i] = hwx_made_number();
        weights[i] = mw__fp16_from_double(out_values[i]);
    }
    return weights;
}
