/* VJPs of ops/image.def. A resized image is A x B^T with one matrix of interpolation per axis, so that
 * dx = A^T dy B. */
#include "autograd/vjp/rules.h"
#include "base/memory/alloc.h"
#include "base/number/fp16.h"
#include "graph/geometry/resample.h"

/* The matrix [out, in] of an axis as a constant in the element type of x; NULL with the error on the graph. */
static mw_tensor *interpolation(const mw__resample *axis, mw_tensor *x)
{
    mw_graph *graph = mw_tensor_graph(x);
    const bool half = mw_tensor_dtype(x) == MW_F16;
    mw_error err = {0};
    float *rows = mw__arena_alloc(&graph->arena, (size_t)axis->out, (size_t)axis->in * sizeof *rows, &err); // [out, in]
    uint16_t *halves =
        half ? mw__arena_alloc(&graph->arena, (size_t)axis->out, (size_t)axis->in * sizeof *halves, &err) : NULL;
    if (mw__failed(&err))
        return mw__graph_fail(graph, err.status, "%s", err.message);
    for (int64_t i = 0; i < axis->out; i++) {
        const mw__tap tap = mw__resample_tap(axis, i);
        for (int64_t j = 0; j < axis->in; j++)
            rows[i * axis->in + j] = 0.0f;
        rows[i * axis->in + tap.high] = (float)tap.weight;
        rows[i * axis->in + tap.low] = (float)(1.0 - tap.weight);
    }
    if (half)
        mw__fp16_from_float_n(halves, rows, (size_t)(axis->out * axis->in));
    return mw_constant(graph, mw_tensor_dtype(x), MW_SHAPE(axis->out, axis->in), half ? (const void *)halves : rows);
}

void mw__vjp_resample(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *dx = vjp->dy[0];
    mw__resample axes[2];
    mw_error err = {0};
    if (mw__resample_plan(vjp->op, mw_tensor_shape(x), axes, &err) != MW_OK) {
        mw__graph_fail(vjp->graph, err.status, "%s", err.message);
        return;
    }
    dx = mw_matmul(dx, interpolation(&axes[1], x), MW_TRANSPOSE_NONE);
    if (axes[0].in != 1 || axes[0].out != 1)
        dx = mw_matmul(interpolation(&axes[0], x), dx, MW_TRANSPOSE_X);
    mw__vjp_set(vjp, "x", dx);
}

void mw__vjp_crop(mw__vjp *vjp)
{
    int64_t pad[4];
    size_t count;
    mw__arg_ints(vjp->op, "crop_height", &pad[0], 2, &count);
    mw__arg_ints(vjp->op, "crop_width", &pad[2], 2, &count);
    mw__vjp_set(vjp, "x", mw_pad(vjp->dy[0], pad, 2, MW_PAD_CONSTANT, 0.0f));
}
