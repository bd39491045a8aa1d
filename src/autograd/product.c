/* Products with the Jacobian and the Hessian, made of the reverse driver alone. It holds no rules. */
#include "autograd/vjp/rules.h"
#include "base/number/float_mode.h"

void mw__autograd_clear(mw_tensor **out, size_t count)
{
    for (size_t i = 0; out != NULL && i < count; i++)
        out[i] = NULL;
}

mw_status mw_vjp(mw_tensor *const *y, mw_tensor *const *u, size_t y_count, mw_tensor *const *x, size_t count,
                 mw_tensor **out_dx, mw_error *err)
{
    MW__FLOAT_SCOPE;
    static const mw__gradient_words words = {"mw_vjp", "y", "u", false};
    const mw_pullback pullback = {.roots = y, .seeds = u, .root_count = y_count};
    mw__autograd_clear(out_dx, count);
    if (mw__skips(err))
        return err->status;
    return mw__gradient(&words, &pullback, x, count, out_dx, err);
}

/* ---- forward mode ---- */

/* A cotangent to differentiate by, the same for every y. Its value is of no effect. An identity, so that it is a value
 * of its own also where constants are shared. */
static mw_tensor *placeholder(mw_tensor *y)
{
    mw_shape shape = mw_tensor_shape(y);
    if (shape.rank == 0)
        return mw_identity(mw__vjp_scalar_like(y, 0.0));
    return mw_fill(mw_tensor_graph(y), mw_tensor_dtype(y), shape, 0.0);
}

/* The arguments of mw_jvp, and memory. */
typedef struct pushforward {
    mw_tensor *const *y;
    size_t y_count;
    mw_tensor *const *x, *const *v;
    size_t count;
    mw_tensor **u; /* [y_count] */
    mw_tensor **g; /* [count] */
} pushforward;

static mw_status transpose_twice(const pushforward *p, mw_tensor **out_dy, mw_error *err)
{
    for (size_t i = 0; i < p->y_count; i++) {
        if (p->y[i] == NULL)
            return mw__fail_null(err, "mw_jvp: y %zu is NULL", i);
        p->u[i] = placeholder(p->y[i]);
        MW_TRY(mw_graph_check(p->y[i]->graph, err));
    }
    static const mw__gradient_words directions = {"mw_jvp", "x", "v", false}, words = {"mw_jvp", "y", "u", false};
    const mw_pullback first = {.roots = p->y, .seeds = p->u, .root_count = p->y_count};
    const mw_pullback second = {.roots = p->g, .seeds = p->v, .root_count = p->count};
    MW_TRY(mw__gradient_check(&directions, p->y[0]->graph, p->x, p->v, p->count, err));
    MW_TRY(mw__gradient(&words, &first, p->x, p->count, p->g, err));
    return mw_backward(&second, p->u, p->y_count, out_dy, err);
}

mw_status mw_jvp(mw_tensor *const *y, size_t y_count, mw_tensor *const *x, mw_tensor *const *v, size_t count,
                 mw_tensor **out_dy, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error local = {0};
    err = err != NULL ? err : &local;
    mw__autograd_clear(out_dy, y_count);
    if (mw__skips(err))
        return err->status;
    if (y == NULL || x == NULL || out_dy == NULL || y_count == 0 || count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_jvp: y, x and the place for the results must be given");
    if (y[0] == NULL)
        return mw__fail_null(err, "mw_jvp: y 0 is NULL");
    const mw_allocator *allocator = y[0]->graph->allocator;
    pushforward p = {.y = y, .y_count = y_count, .x = x, .v = v, .count = count};
    p.u = mw__alloc(allocator, y_count, sizeof(mw_tensor *), err);
    p.g = mw__alloc(allocator, count, sizeof(mw_tensor *), err);
    mw_status status = MW_ERROR_MEMORY;
    if (p.u != NULL && p.g != NULL)
        status = transpose_twice(&p, out_dy, err);
    mw__free(allocator, p.u);
    mw__free(allocator, p.g);
    if (status != MW_OK)
        mw__autograd_clear(out_dy, y_count);
    return status;
}

/* ---- second derivatives ---- */

mw_status mw_hvp(mw_tensor *loss, mw_tensor *const *x, mw_tensor *const *v, size_t count, mw_tensor **out_hv,
                 mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error local = {0};
    err = err != NULL ? err : &local;
    mw__autograd_clear(out_hv, count);
    if (mw__skips(err))
        return err->status;
    if (x == NULL || out_hv == NULL || count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_hvp: x and the place for the results must be given");
    if (loss == NULL)
        return mw__fail_null(err, "mw_hvp: the loss is NULL");
    static const mw__gradient_words directions = {"mw_hvp", "x", "v", false}, words = {"mw_hvp", "loss", NULL, false};
    const mw_pullback first = {.roots = &loss, .root_count = 1};
    MW_TRY(mw__gradient_check(&directions, loss->graph, x, v, count, err));
    const mw_allocator *allocator = loss->graph->allocator;
    mw_tensor **g = mw__alloc(allocator, count, sizeof(mw_tensor *), err);
    if (g == NULL)
        return MW_ERROR_MEMORY;
    const mw_pullback second = {.roots = g, .seeds = v, .root_count = count};
    mw_status status = mw__gradient(&words, &first, x, count, g, err);
    if (status == MW_OK)
        status = mw_backward(&second, x, count, out_hv, err);
    mw__free(allocator, g);
    return status;
}
