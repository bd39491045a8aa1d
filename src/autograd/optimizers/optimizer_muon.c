/* Muon: matrices step along their orthogonalized momentum, all other parameters by AdamW.
 *
 * source  K. Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks" (kellerjordan.github.io/posts/
 *         muon): the polynomial, its five steps, Nesterov's momentum, sqrt(max(1, rows / columns)); Liu et al. 2025,
 * "Muon is Scalable for LLM Training": 0.2 sqrt(max(rows, columns)) */
#include "autograd/optimizers/optimizer_update.h"

#include <math.h>

mw_optimizer mw_muon(float learning_rate, float weight_decay)
{
    mw__optimizer o = mw__optimizer_begin(MW__MUON, learning_rate);
    o.weight_decay = weight_decay;
    return mw__optimizer_hide(&o);
}

/* ---- rows of others ---- */

static unsigned adam_roles(const mw__optimizer *o) { return mw__optimizer_adam.usual.roles(o); }
static unsigned adam_half_roles(const mw__optimizer *o) { return mw__optimizer_adam.dithered.roles(o); }
static double adam_scalar_0(const mw__moment *m) { return mw__optimizer_adam.usual.scalars[0].value(m); }
static double adam_scalar_1(const mw__moment *m) { return mw__optimizer_adam.usual.scalars[1].value(m); }
static double adam_half_scalar_0(const mw__moment *m) { return mw__optimizer_adam.dithered.scalars[0].value(m); }
static double adam_half_scalar_1(const mw__moment *m) { return mw__optimizer_adam.dithered.scalars[1].value(m); }
static double adam_half_scalar_2(const mw__moment *m) { return mw__optimizer_adam.dithered.scalars[2].value(m); }
static mw_tensor *adam_change(mw__optimizer_update *u) { return mw__optimizer_adam.usual.update(u); }
static mw_tensor *adam_half_change(mw__optimizer_update *u) { return mw__optimizer_adam.dithered.update(u); }

/* Behind Adam's scalars. */
static mw_tensor *rate_of(const mw__optimizer_update *u)
{
    return u->scalars->scalar[mw__optimizer_dithers(u->optimizer, u->scalars->half) ? 3 : 2];
}

/* ---- matrices ---- */

static unsigned matrix_roles(const mw__optimizer *o)
{
    (void)o;
    return MW__ROLE_BIT(M);
}

/* No proof that the new weights are finite: they are looked at. */
static double muon_reach(const mw__optimizer *o, double loss_scale)
{
    (void)o, (void)loss_scale;
    return INFINITY;
}

/* x over its Frobenius norm. In fp16 over its largest element first, so that no sum of squares overflows. */
static mw_tensor *normalized(const mw__optimizer_update *u, mw_tensor *x)
{
    if (u->scalars->half) {
        mw_tensor *largest = mw_reduce_max(mw_abs(x), MW_ALL_AXES, true);
        x = mw_real_div(x, mw_maximum(largest, mw__vjp_scalar_like(x, MW__HALF_LEAST)));
    }
    const double epsilon = u->scalars->half ? 0x1p-14 : 1e-7;
    return mw_real_div(x, mw_add_scalar(mw_reduce_l2_norm(x, MW_ALL_AXES, true), epsilon));
}

/* U V^T of x = U S V^T, up to what five steps of Newton and Schulz leave of S: [0.7, 1.2] of it. The polynomial is odd,
 * so either side may have the square matrix: the shorter one. */
static mw_tensor *orthogonalized(const mw__optimizer_update *u, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    const bool tall = shape.dim[0] > shape.dim[1];
    x = normalized(u, x);
    for (int i = 0; i < 5; i++) {
        mw_tensor *a = mw_matmul(x, x, tall ? MW_TRANSPOSE_X : MW_TRANSPOSE_Y);
        mw_tensor *a2 = mw_mul_scalar(mw_matmul(a, a, MW_TRANSPOSE_NONE), 2.0315);
        mw_tensor *b = mw_add(mw_mul_scalar(a, -4.7750), a2);
        mw_tensor *bent = tall ? mw_matmul(x, b, MW_TRANSPOSE_NONE) : mw_matmul(b, x, MW_TRANSPOSE_NONE);
        x = mw_add(mw_mul_scalar(x, 3.4445), bent);
    }
    return x;
}

/* As long as a step of AdamW, or as the paper has it. */
static double scale_of(const mw__optimizer *o, mw_shape matrix)
{
    const double rows = (double)matrix.dim[0], columns = (double)matrix.dim[1];
    return o->match_rms ? 0.2 * sqrt(fmax(rows, columns)) : sqrt(fmax(1.0, rows / columns));
}

static mw_tensor *matrix_change(mw__optimizer_update *u)
{
    const mw__optimizer *o = u->optimizer;
    const double momentum = (double)o->momentum;
    const mw_shape shape = mw_tensor_shape(u->p), matrix = mw__optimizer_matrix(shape);
    mw_tensor *g = mw__update_decayed(u);
    mw_tensor *direction = mw__update_mean(u, u->state[MW__ROLE_M], g, momentum);
    u->new_state[MW__ROLE_M] = direction;
    if (o->nesterov) {
        mw_tensor *ahead = mw_mul_scalar(direction, momentum);
        direction = mw_add(ahead, mw_mul_scalar(g, 1.0 - momentum));
    }
    mw_tensor *step = orthogonalized(u, shape.rank > 2 ? mw_reshape(direction, matrix) : direction);
    step = mw_mul_scalar(step, scale_of(o, matrix));
    return mw_mul(shape.rank > 2 ? mw_reshape(step, shape) : step, rate_of(u));
}

const mw__optimizer_row mw__optimizer_muon = {
    .name = "muon",
    .numbers = MW__NUMBERS_COMMON | MW__NUMBER_BIT(MOMENTUM) | MW__NUMBER_BIT(NESTEROV) | MW__NUMBER_BIT(BETA1) |
               MW__NUMBER_BIT(BETA2) | MW__NUMBER_BIT(EPSILON) | MW__NUMBER_BIT(MATCH_RMS),
    .start =
        {.momentum = 0.95f, .nesterov = true, .beta1 = 0.9f, .beta2 = 0.999f, .decoupled = true, .match_rms = true},
    .epsilon = 1e-8,
    .reach = muon_reach,
    .usual = {adam_roles,
              {{"adam_step_size", adam_scalar_0},
               {"adam_correction", adam_scalar_1},
               {"learning_rate", mw__optimizer_value_step},
               MW__SCALAR_DECAY},
              adam_change},
    .dithered = {adam_half_roles,
                 {{"adam_step_size", adam_half_scalar_0},
                  {"adam_epsilon", adam_half_scalar_1},
                  {"adam_fall", adam_half_scalar_2},
                  {"learning_rate", mw__optimizer_value_step},
                  MW__SCALAR_DECAY},
                 adam_half_change},
    .matrix = {.roles = matrix_roles, .update = matrix_change}};
