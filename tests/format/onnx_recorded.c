#include "onnx_recorded.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <stdlib.h>

float *onnx_recorded_values(const onnx_recorded *r)
{
    char path[512];
    const size_t count =
        (size_t)(mw_shape_count(r->x) + mw_shape_count(r->y)) + (r->head != NULL ? (size_t)ONNX_STEPS : 0);
    snprintf(path, sizeof path, MW_TESTS_DIR "/data/onnx/%s.f32", r->name);
    float *values = calloc(count, sizeof *values);
    FILE *file = fopen(path, "rb");
    const size_t got = file != NULL ? fread(values, sizeof *values, count, file) : 0;
    if (file != NULL)
        fclose(file);
    if (got == count)
        return values;
    free(values);
    return NULL;
}

static mw_graph *read_graph(const onnx_recorded *r, bool open, mw_error *err)
{
    char path[512];
    const mw_onnx_extent extents[] = {{"batch", r->x.dim[0]}, {"time", r->x.dim[1]}};
    mw_onnx_options options = mw_onnx_defaults();
    options.extents = extents;
    options.extent_count = open ? 0 : 2;
    snprintf(path, sizeof path, MW_TESTS_DIR "/data/onnx/%s.onnx", r->name);
    return mw_graph_open_onnx(path, &options, err);
}

mw_graph *onnx_recorded_graph(const onnx_recorded *r, mw_error *err) { return read_graph(r, false, err); }
mw_graph *onnx_recorded_open(const onnx_recorded *r, mw_error *err) { return read_graph(r, true, err); }

static void feed(mw_program *program, const onnx_recorded *r, const float *x, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(r->x);
    int64_t *whole = calloc(count, sizeof *whole);
    for (size_t i = 0; i < count; i++)
        whole[i] = (int64_t)x[i];
    mw_program_write(program, "x", r->integers ? MW_I64 : MW_F32, r->integers ? (const void *)whole : x, count, err);
    free(whole);
}

float *onnx_recorded_run(const onnx_recorded *r, const mw_graph *graph, const float *x, mw_error *err)
{
    const size_t outputs = (size_t)mw_shape_count(r->y);
    float *y = calloc(outputs, sizeof *y);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
    if (program != NULL) {
        const mw_input_shape shape = {"x", r->x};
        if (mw_shape_count(mw_tensor_shape(mw_graph_find(graph, "x"))) < 0)
            mw_program_set_shapes(program, &shape, 1, err);
        feed(program, r, x, err);
        mw_program_run(program, err);
        mw_program_read(program, "y", MW_F32, y, outputs, err);
    }
    mw_program_destroy(program);
    return y;
}

void onnx_recorded_compare(const onnx_recorded *r, const float *actual, const float *expected, double tolerance,
                           const char *what)
{
    double worst = 0;
    for (int64_t i = 0; i < mw_shape_count(r->y); i++) {
        const double off = fabs((double)actual[i] - (double)expected[i]) / (1 + fabs((double)expected[i]));
        worst = off <= worst ? worst : off;
    }
    check_note(worst <= tolerance, __FILE__, __LINE__, "%s is off %s by %g, more than %g", r->name, what, worst,
               tolerance);
}
