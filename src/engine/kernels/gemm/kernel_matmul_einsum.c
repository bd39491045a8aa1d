/* einsum: c[n, :, h, :] = a[n, :, h, :] b[n, :, h, :], a product of matrices that lie apart, for each n and h. A unit
 * is one of them. F16 operands are widened to fp32 by steps of their own and each result is rounded once; I32 wraps
 * around. */
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/gemm.h"

typedef struct einsum_block {
    int64_t h, c, w, u;                       /* extents; c, w, u are those of one product [c, w] [w, u] */
    int64_t a_n, a_h, a_row, b_n, b_h, b_row; /* strides in elements; 0 where broadcast */
    mw_dtype dtype;
    mw__gemm_code code;
    size_t panel; /* bytes of scratch before those of the product */
} einsum_block;

static void multiply_i32(const einsum_block *s, const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    for (int64_t i = 0; i < s->c; i++)
        for (int64_t j = 0; j < s->u; j++) {
            uint32_t sum = 0;
            for (int64_t p = 0; p < s->w; p++)
                sum += a[i * s->a_row + p] * b[p * s->b_row + j];
            out[i * s->h * s->u + j] = sum;
        }
}

static void einsum_run(const mw__kernel_call *call)
{
    const einsum_block *s = call->block;
    const mw__gemm_shape shape = {.m = s->c, .n = s->u, .k = s->w, .lda = s->a_row, .ldb = s->b_row};
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t n = unit / s->h, h = unit % s->h, step = s->h * s->u;
        const int64_t at_a = n * s->a_n + h * s->a_h, at_b = n * s->b_n + h * s->b_h;
        const int64_t at = n * s->c * step + h * s->u;
        if (s->dtype == MW_I32) {
            multiply_i32(s, (const uint32_t *)call->in[0] + at_a, (const uint32_t *)call->in[1] + at_b,
                         (uint32_t *)call->out[0] + at);
            continue;
        }
        const bool is_fp32 = s->dtype == MW_F32;
        mw__gemm_shape product = shape;
        product.ldc = is_fp32 ? step : s->u;
        float *out = is_fp32 ? (float *)call->out[0] + at : call->scratch;
        mw__gemm(&s->code, &product, (const float *)call->in[0] + at_a, (const float *)call->in[1] + at_b, out,
                 (char *)call->scratch + s->panel);
        for (int64_t i = 0; i < s->c && !is_fp32; i++)
            mw__tile_store(call->out[0], s->dtype, at + i * step, s->u, out + i * s->u);
    }
}

static void fill_block(mw__planner *planner, einsum_block *s, mw_shape a, mw_shape b, mw_shape result)
{
    const int rank = result.rank;
    const int64_t a_h = a.dim[rank - 2], b_h = b.dim[rank - 2];
    s->h = result.dim[rank - 2], s->c = result.dim[rank - 3], s->u = result.dim[rank - 1], s->w = a.dim[rank - 1];
    s->a_row = a_h * s->w > 0 ? a_h * s->w : 1; /* a BLAS refuses 0 */
    s->b_row = b_h * s->u > 0 ? b_h * s->u : 1;
    s->a_h = a_h == 1 ? 0 : s->w;
    s->b_h = b_h == 1 ? 0 : s->u;
    s->a_n = rank == 4 && a.dim[0] != 1 ? s->c * a_h * s->w : 0;
    s->b_n = rank == 4 && b.dim[0] != 1 ? s->w * b_h * s->u : 0;
    if (s->dtype != MW_I32)
        s->code = mw__plan_gemm(planner, s->c, s->u, s->w);
}

mw_status mw__kernel_einsum(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw__operand *values;
    mw__arg_values(op, "values", &values);
    const mw_tensor *operand[2] = {values[0].value, values[1].value}, *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    MW_TRY(mw__kernel_check_number(op, dtype, err));
    einsum_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    s->dtype = dtype;
    fill_block(planner, s, mw__shape_of(operand[0]), mw__shape_of(operand[1]), mw__shape_of(result));
    uint32_t buffers[2];
    for (int i = 0; i < 2; i++)
        buffers[i] = dtype == MW_I32 ? mw__plan_buffer(planner, operand[i]) : mw__plan_floats(planner, operand[i]);
    const int64_t units = mw__count_of(result) / (s->c * s->u);
    const double flops = 2.0 * (double)mw__count_of(result) * (double)s->w;
    mw__step *step =
        mw__plan_step(planner, einsum_run, "einsum", units, mw__cost(4.0 * (double)mw__count_of(result), flops));
    step->block = s;
    step->report.flops = dtype == MW_I32 ? 0.0 : flops;
    s->panel = dtype == MW_F16 ? ((size_t)(s->c * s->u) * sizeof(float) + 63) / 64 * 64 : 0;
    step->scratch = dtype == MW_I32 ? 0 : s->panel + mw__gemm_scratch(s->c, s->u, s->w);
    for (int i = 0; i < 2; i++)
        mw__step_read(planner, step, buffers[i], MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
