#include "onnx_run.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdlib.h>

mw_graph *onnx_read_bytes(const onnx_bytes *model, const mw_onnx_options *options, mw_error *err)
{
    FILE *file = fopen("model.onnx", "wb");
    if (file == NULL || fwrite(model->data, 1, model->size, file) != model->size || fclose(file) != 0)
        abort();
    mw_error_clear(err);
    return mw_graph_open_onnx("model.onnx", options, err);
}

onnx_bytes onnx_begin(const int64_t *extents, int rank)
{
    onnx_bytes graph = {.size = 0}, x = onnx_port("x", extents, rank), y = {.size = 0};
    onnx_text(&y, 1, "y");
    onnx_message(&graph, 11, &x);
    onnx_message(&graph, 12, &y);
    return graph;
}

static void check_values(const char *what, const double *made, const double *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_note(made[i] == wanted[i] || fabs(made[i] - wanted[i]) <= 1e-5 * (1 + fabs(wanted[i])), __FILE__,
                   __LINE__, "%s: element %zu is %g, not %g", what, i, made[i], wanted[i]);
}

void onnx_check_run(const char *what, const onnx_bytes *model, const float *x, size_t x_count, const double *y,
                    size_t y_count)
{
    mw_error err = {0};
    double made[256] = {0};
    mw_graph *graph = onnx_read_bytes(model, NULL, &err);
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, &err) : NULL;
    if (program != NULL && x_count > 0)
        mw_program_write(program, "x", MW_F32, x, x_count, &err);
    if (program != NULL && mw_program_run(program, &err) == MW_OK)
        mw_program_read(program, "y", MW_F64, made, y_count, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", what, err.message);
    if (err.status == MW_OK)
        check_values(what, made, y, y_count);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}
