/* Sums of matrix products, where each tile of a product is added to the sum that lies in a cache: no product is
 * written. The bits are those of products that are computed and then added. What is rounded to fp16, products or sums,
 * is so between them: then some columns of a product lie in scratch until they are added. */
#include "base/number/integer.h"
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/gemm/kernel_matmul.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/pattern_plans.h"

#include <string.h>

#define ROWS_LEAST 16  /* of a partition: with fewer, products may be split by columns instead */
#define PANEL_ROWS 256 /* of a product that waits for its rounding */
#define COLUMNS    256 /* of the sum at a time: it, a factor of a product and the product fit the second cache */

typedef struct sum_block {
    const mw__gemm_set *set;
    int64_t n;
    size_t count;
    bool has_before, rounds;
    mw__gemm_shape shape[MW__PRODUCTS_MOST];                              /* of all rows and columns */
    mw__loop1 *of_product[MW__PRODUCTS_MOST], *of_sum[MW__PRODUCTS_MOST]; /* round to fp16; NULL: nothing does */
    void (*add)(float *sum, const float *x, int64_t count);
    size_t panel; /* of `rounds`: where columns of a product begin in scratch */
} sum_block;

static mw__gemm_shape shape_of(const mw__op *product)
{
    mw__gemm_shape s = {0};
    mw__arg_bool(product, "transpose_x", &s.transpose_a);
    mw__arg_bool(product, "transpose_y", &s.transpose_b);
    const mw_shape x = mw__shape_of(mw__arg(product, "x")), out = mw__shape_of(product->results[0]);
    s.m = out.dim[0], s.n = out.dim[1], s.k = x.dim[s.transpose_a ? 0 : 1];
    s.lda = x.dim[1], s.ldb = mw__shape_of(mw__arg(product, "y")).dim[1], s.ldc = s.n;
    return s;
}

static bool is_matrix(const mw_tensor *value)
{
    return mw__shape_of(value).rank == 2 && mw__dtype_of(value) == MW_F32 && !mw__is_packed(value);
}

bool mw__matmul_sum_suits(const mw__op *product, const mw__config *config, int partitions)
{
    const mw_tensor *x = mw__arg(product, "x"), *y = mw__arg(product, "y");
    mw_error ignored = {0};
    if (mw__kernel_check(product, &ignored) != MW_OK || !is_matrix(product->results[0]) || !is_matrix(x) ||
        !is_matrix(y))
        return false;
    const mw__gemm_shape s = shape_of(product);
    const mw__gemm_code code = mw__gemm_choose(config, s.m, s.n, s.k);
    return s.m >= ROWS_LEAST * partitions && s.n > 1 && s.k > 1 && s.k <= MW__GEMM_DEPTH &&
           mw__gemm_blocks(&code) != NULL;
}

MW__INLINE void add_body(float *sum, const float *x, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) sum[i] += x[i];
}
MW__BASE_AVX2_AVX512(add, (float *sum, const float *x, int64_t count), (sum, x, count))

/* A product of which some rows and columns are computed. */
typedef struct part {
    mw__gemm_shape shape;
    const float *a, *b;
} part;

/* Rows [begin, end) and `columns` from `column` on. */
static part part_of(const sum_block *s, const mw__kernel_call *call, size_t i, int64_t column, int64_t columns)
{
    part p = {.shape = s->shape[i]};
    p.shape.m = call->end - call->begin, p.shape.n = columns;
    p.a = (const float *)call->in[2 * i] + call->begin * (p.shape.transpose_a ? 1 : p.shape.lda);
    p.b = (const float *)call->in[2 * i + 1] + column * (p.shape.transpose_b ? p.shape.ldb : 1);
    return p;
}

/* Product i in `panel`, where it has `columns`, to the sum at c: both are rounded. */
static void add_rounded(const sum_block *s, size_t i, const part *p, float *panel, float *c)
{
    for (int64_t row = 0; row < p->shape.m; row++) {
        float *const x = panel + row * p->shape.n, *const sum = c + row * s->n;
        if (s->of_product[i] != NULL)
            s->of_product[i](x, x, p->shape.n, 0, 0);
        s->add(sum, x, p->shape.n);
        if (s->of_sum[i] != NULL)
            s->of_sum[i](sum, sum, p->shape.n, 0, 0);
    }
}

/* The first product, where nothing is before it. */
static void begin_sum(const sum_block *s, const part *p, float *c, void *scratch)
{
    mw__gemm_blocked(s->set, &p->shape, p->a, p->b, c, scratch);
    for (int64_t row = 0; s->of_product[0] != NULL && row < p->shape.m; row++)
        s->of_product[0](c + row * s->n, c + row * s->n, p->shape.n, 0, 0);
}

static void add_products(const sum_block *s, const mw__kernel_call *call, int64_t column, int64_t columns)
{
    float *const c = (float *)call->out[0] + call->begin * s->n + column;
    float *const panel = (float *)(void *)((char *)call->scratch + s->panel);
    for (size_t i = 0; i < s->count; i++) {
        part p = part_of(s, call, i, column, columns);
        if (i == 0 && !s->has_before) {
            begin_sum(s, &p, c, call->scratch);
        } else if (!s->rounds) {
            mw__gemm_blocked_add(s->set, &p.shape, p.a, p.b, c, call->scratch);
        } else {
            p.shape.ldc = columns;
            mw__gemm_blocked(s->set, &p.shape, p.a, p.b, panel, call->scratch);
            add_rounded(s, i, &p, panel, c);
        }
    }
}

static void sum_rows(const mw__kernel_call *call)
{
    const sum_block *s = call->block;
    const float *before = s->has_before ? call->in[2 * s->count] : NULL;
    float *const out = call->out[0];
    for (int64_t column = 0; column < s->n; column += COLUMNS) {
        const int64_t columns = mw__i64_min(COLUMNS, s->n - column);
        for (int64_t row = call->begin; before != NULL && before != out && row < call->end; row++)
            memcpy(out + row * s->n + column, before + row * s->n + column, (size_t)columns * sizeof *out);
        add_products(s, call, column, columns);
    }
}

/* A unit is a row. */
static void sum_run(const mw__kernel_call *call)
{
    const sum_block *s = call->block;
    mw__kernel_call some = *call;
    for (int64_t end = call->end; some.begin < end; some.begin = some.end) {
        some.end = s->rounds ? mw__i64_min(end, some.begin + PANEL_ROWS) : end;
        sum_rows(&some);
    }
}

/* What its products read, and of the largest of them the scratch. */
static void read_products(mw__planner *planner, const mw__matmul_sum_match *match, const sum_block *s, mw__step *step)
{
    for (size_t i = 0; i < match->count; i++) {
        const mw__gemm_shape *shape = &s->shape[i];
        const size_t scratch = mw__gemm_scratch(shape->m, shape->n, shape->k);
        const uint32_t x = mw__plan_buffer(planner, mw__arg(match->product[i], "x"));
        if (shape->transpose_a)
            mw__step_read(planner, step, x, MW__WHOLE, 0, false);
        else
            mw__step_read(planner, step, x, MW__ROWS, (size_t)shape->lda * sizeof(float), false);
        mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(match->product[i], "y")), MW__WHOLE, 0, false);
        step->scratch = scratch > step->scratch ? scratch : step->scratch;
    }
}

/* How products and sums are rounded, and the room for that. */
static void round_products(mw__planner *planner, const mw__matmul_sum_match *match, sum_block *s, mw__step *step)
{
    const mw__level level = mw__plan_level(planner);
    for (size_t i = 0; i < match->count; i++) {
        const mw_tensor *product = match->product[i]->results[0], *sum = match->sum[i];
        s->of_product[i] = mw__round_loop(level, mw__plan_rounds(planner, product));
        s->of_sum[i] = sum != NULL ? mw__round_loop(level, mw__plan_rounds(planner, sum)) : NULL;
        s->rounds = s->rounds || s->of_product[i] != NULL || s->of_sum[i] != NULL;
    }
    step->rounds = s->rounds;
    s->add = MW__DISPATCH_BEST(add, level);
    s->panel = (step->scratch + 63) / 64 * 64;
    if (s->rounds)
        step->scratch =
            s->panel + (size_t)(mw__i64_min(PANEL_ROWS, s->shape[0].m) * mw__i64_min(COLUMNS, s->n)) * sizeof(float);
}

mw_status mw__plan_matmul_sum(mw__planner *planner, const mw__matmul_sum_match *match, mw_error *err)
{
    sum_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    s->has_before = match->before != NULL, s->count = match->count;
    double cost = 0.0, flops = 0.0;
    for (size_t i = 0; i < match->count; i++) {
        const mw__gemm_shape shape = s->shape[i] = shape_of(match->product[i]);
        const mw__gemm_code code = mw__gemm_choose(mw__plan_config(planner), shape.m, shape.n, shape.k);
        const double work = 2.0 * (double)shape.m * (double)shape.n * (double)shape.k;
        s->set = mw__gemm_blocks(&code), s->n = shape.n;
        flops += work, cost += mw__product_cost(4.0 * (double)shape.k * (double)(shape.m + shape.n), work);
    }
    mw__step *step = mw__plan_step(planner, sum_run, "matmul.sum", s->shape[0].m, cost);
    step->block = s;
    step->report.flops = flops + (double)mw__count_of(match->result) * (double)(match->count - !s->has_before);
    const size_t row = (size_t)s->n * sizeof(float);
    read_products(planner, match, s, step);
    round_products(planner, match, s, step);
    if (s->has_before)
        mw__step_read(planner, step, mw__plan_buffer(planner, match->before), MW__ROWS, row, true);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->result), MW__ROWS, row);
    return mw__plan_check(planner, err);
}
