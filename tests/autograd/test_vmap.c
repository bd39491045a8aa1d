/* One computation for each example: against a loop over the examples, operation by operation and as gradients of whole
 * networks; norms and clipping against doubles; what is refused; a step of DP-SGD. */
#include "autograd/hashed.h"
#include "graph/ir/ir.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/learn.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { B = 3, OPERANDS = 8, RESULTS = 4 };

/* A function with its operands: those that are mapped have the examples first. Types F32, or I32 below `limit`. */
typedef struct vmap_case {
    const char *name;
    mw_vmap_function *function;
    size_t count, y_count;
    struct {
        mw_shape shape; /* of one example */
        bool mapped;
        int32_t limit; /* 0 = floats */
    } x[OPERANDS];
} vmap_case;

static mw_shape with_examples(mw_shape shape)
{
    mw_shape all = {.rank = shape.rank + 1, .dim = {B}};
    for (int i = 0; i < shape.rank; i++)
        all.dim[i + 1] = shape.dim[i];
    return all;
}

static mw_shape shape_of(const vmap_case *c, size_t i)
{
    return c->x[i].mapped ? with_examples(c->x[i].shape) : c->x[i].shape;
}

/* x[b]. */
static mw_tensor *take(mw_tensor *x, int64_t b)
{
    mw_slice slices[MW_RANK_MAX] = {{.begin = b, .squeeze = true}};
    for (int i = 1; i < mw_tensor_shape(x).rank; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    return mw_slice_by_index(x, slices);
}

/* Outputs "all0" .. of vmap and "each0" .. of a loop. */
static mw_graph *build_both(const vmap_case *c, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x[OPERANDS], *all[RESULTS], *each[RESULTS][B];
    bool mapped[OPERANDS];
    char name[24];
    for (size_t i = 0; i < c->count; i++) {
        snprintf(name, sizeof name, "x%zu", i);
        mapped[i] = c->x[i].mapped;
        x[i] = mw_input(graph, name, c->x[i].limit > 0 ? MW_I32 : MW_F32, shape_of(c, i));
    }
    mw_vmap(c->function, NULL, x, mapped, c->count, all, c->y_count, err);
    for (int b = 0; b < B && err->status == MW_OK; b++) {
        mw_tensor *one[OPERANDS], *y[RESULTS] = {NULL};
        for (size_t i = 0; i < c->count; i++)
            one[i] = mapped[i] ? take(x[i], b) : x[i];
        c->function(NULL, graph, one, y, err);
        for (size_t r = 0; r < c->y_count; r++)
            each[r][b] = y[r];
    }
    for (size_t r = 0; r < c->y_count && err->status == MW_OK; r++) {
        snprintf(name, sizeof name, "all%zu", r);
        mw_output(all[r], name);
        snprintf(name, sizeof name, "each%zu", r);
        mw_output(mw_stack(each[r], B, 0), name);
    }
    mw_graph_check(graph, err);
    return graph;
}

static void feed_all(const vmap_case *c, mw_program *program, mw_error *err)
{
    for (size_t i = 0; i < c->count; i++) {
        char name[24];
        const size_t count = (size_t)mw_shape_count(shape_of(c, i));
        snprintf(name, sizeof name, "x%zu", i);
        void *data = c->x[i].limit > 0 ? (void *)hashed_integers(count, 70 + i, c->x[i].limit)
                                       : (void *)hashed_floats(count, 70 + i, 2.0f, 0.0f);
        mw_program_write(program, name, c->x[i].limit > 0 ? MW_I32 : MW_F32, data, count, err);
        free(data);
    }
}

static mw_shape shape_of_port(mw_program *program, const char *name)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        if (strcmp(port.name, name) == 0)
            return port.shape;
    return (mw_shape){.rank = -1};
}

static double largest_apart(mw_program *program, size_t result, mw_error *err)
{
    char all_name[24], each_name[24];
    snprintf(all_name, sizeof all_name, "all%zu", result);
    snprintf(each_name, sizeof each_name, "each%zu", result);
    const mw_shape shape = shape_of_port(program, all_name);
    CHECK(mw_shape_equal(shape, shape_of_port(program, each_name)));
    const size_t count = (size_t)mw_shape_count(shape);
    float *all = calloc(count + 1, sizeof *all), *each = calloc(count + 1, sizeof *each);
    mw_program_read(program, all_name, MW_F32, all, count, err);
    mw_program_read(program, each_name, MW_F32, each, count, err);
    double off = 0.0, largest = 1e-6;
    for (size_t i = 0; i < count; i++) {
        off = fmax(off, fabs((double)all[i] - (double)each[i]));
        largest = fmax(largest, fabs((double)each[i]));
    }
    free(all);
    free(each);
    return off / fmax(largest, 1.0);
}

static void check_case(const vmap_case *c, mw_device device, double tolerance)
{
    mw_error err = {0};
    mw_graph *graph = build_both(c, &err);
    mw_program *program = err.status == MW_OK ? engine_compile(graph, device, 1, &err) : NULL;
    double off = 0.0;
    if (program != NULL) {
        feed_all(c, program, &err);
        mw_program_run(program, &err);
        for (size_t r = 0; r < c->y_count && err.status == MW_OK; r++)
            off = fmax(off, largest_apart(program, r, &err));
    }
    check_note(err.status == MW_OK && off <= tolerance, __FILE__, __LINE__, "%s: off by %.3g; %s", c->name, off,
               err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* ---- operation by operation ---- */

#define ONE(name, expression)                                                                                          \
    static mw_status name(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)              \
    {                                                                                                                  \
        (void)user, (void)graph, (void)err;                                                                            \
        y[0] = expression;                                                                                             \
        return MW_OK;                                                                                                  \
    }

static mw_tensor *pool(mw_tensor *x)
{
    const mw_pool_options options = mw_pool_defaults(MW_SHAPE(2, 2));
    return mw_max_pool(x, &options);
}

ONE(f_add, mw_add(x[0], x[1]))
ONE(f_gelu, mw_gelu(mw_tanh(x[0]), MW_GELU_TANH))
ONE(f_scalar, mw_mul_scalar(mw_add_scalar(x[0], 1.5), -2.0))
ONE(f_select, mw_select(mw_greater(x[0], x[1]), x[0], x[1]))
ONE(f_matmul, mw_matmul(x[0], x[1], MW_TRANSPOSE_NONE))
ONE(f_matmul_turned, mw_matmul(x[0], x[1], MW_TRANSPOSE_X | MW_TRANSPOSE_Y))
ONE(f_linear, mw_linear(x[0], x[1], x[2]))
ONE(f_sum_all, mw_reduce_sum(x[0], MW_ALL_AXES, false))
ONE(f_sum_keep, mw_reduce_sum(x[0], MW_ALL_AXES, true))
ONE(f_mean_first, mw_reduce_mean(x[0], MW_AXES(0), false))
ONE(f_max_last, mw_reduce_max(x[0], MW_AXES(-1), true))
ONE(f_argmax, mw_cast(mw_reduce_argmax(x[0], 0, false), MW_F32))
ONE(f_softmax, mw_softmax(x[0], 0))
ONE(f_log_softmax, mw_log_softmax(x[0], -1))
ONE(f_layer_norm, mw_layer_norm(x[0], MW_AXES(1), x[1], x[2], 1e-5f))
ONE(f_rms_norm, mw_rms_norm(x[0], MW_AXES(-1), NULL, 1e-5f))
ONE(f_reshape, mw_reshape(x[0], MW_SHAPE(4, 6)))
ONE(f_transpose, mw_transpose(x[0], MW_AXES(2, 0, -2)))
ONE(f_expand, mw_squeeze(mw_expand_dims(x[0], MW_AXES(0, -1)), MW_AXES(0)))
ONE(f_squeeze_all, mw_squeeze(x[0], MW_ALL_AXES))
ONE(f_concat, mw_concat((mw_tensor *[]){x[0], x[1], x[0]}, 3, 0))
ONE(f_stack, mw_stack((mw_tensor *[]){x[0], x[1]}, 2, -1))
ONE(f_slice, mw_slice_by_index(x[0], (mw_slice[]){{.begin = 1, .end = 2},
                                                  {.begin = 2, .squeeze = true},
                                                  {.from_start = true, .to_end = true, .stride = 2}}))
ONE(f_pad, mw_pad(x[0], (const int64_t[]){1, 0, 0, 2}, 2, MW_PAD_CONSTANT, 0.5f))
ONE(f_tile, mw_tile(x[0], MW_SHAPE(2, 1, 3)))
ONE(f_reverse, mw_reverse(x[0], MW_AXES(0)))
ONE(f_cumsum, mw_cumsum(x[0], 1, false, false))
ONE(f_embedding, mw_gather(x[0], x[1], 0))
ONE(f_gather_own, mw_gather(x[0], x[1], 1))
ONE(f_gather_along, mw_gather_along_axis(x[0], x[1], 1))
ONE(f_one_hot, mw_one_hot(x[0], 5, 0, MW_F32, 1.0, 0.0))
ONE(f_conv, mw_conv(x[0], x[1], NULL, NULL))
ONE(f_pool, pool(x[0]))
ONE(f_contract, mw_contract("ij,jk,ik->k", (mw_tensor *[]){x[0], x[1], x[2]}, 3))
ONE(f_same, mw_square(x[1]))

#define F(...)                                                                                                         \
    {                                                                                                                  \
        MW_SHAPE(__VA_ARGS__), true, 0                                                                                 \
    }
#define W(...)                                                                                                         \
    {                                                                                                                  \
        MW_SHAPE(__VA_ARGS__), false, 0                                                                                \
    }
#define I(limit, ...)                                                                                                  \
    {                                                                                                                  \
        MW_SHAPE(__VA_ARGS__), true, limit                                                                             \
    }
#define CASE(function, count, ...)                                                                                     \
    {                                                                                                                  \
#function, function, count, 1, { __VA_ARGS__ }                                                                 \
    }

static void test_every_operation_is_that_of_a_loop(void)
{
    const vmap_case cases[] = {
        CASE(f_add, 2, F(2, 3), F(2, 3)),
        CASE(f_add, 2, F(2, 3), F(3)),
        CASE(f_add, 2, F(3), W(2, 3)),
        CASE(f_add, 2, W(2, 3), F(2, 1)),
        CASE(f_add, 2, {{0}, true, 0}, F(4)),
        CASE(f_gelu, 1, F(2, 3)),
        CASE(f_scalar, 1, {{0}, true, 0}),
        CASE(f_select, 2, F(2, 3), W(3)),
        CASE(f_matmul, 2, F(2, 3), W(3, 4)),
        CASE(f_matmul, 2, W(2, 3), F(3, 4)),
        CASE(f_matmul, 2, F(2, 3), F(3, 4)),
        CASE(f_matmul, 2, F(3), F(3, 4)),
        CASE(f_matmul, 2, F(2, 3), F(3)),
        CASE(f_matmul, 2, F(3), F(3)),
        CASE(f_matmul, 2, F(3), W(2, 3, 4)),
        CASE(f_matmul, 2, F(5, 2, 3), F(3, 4)),
        CASE(f_matmul_turned, 2, F(3, 2), W(4, 3)),
        CASE(f_linear, 3, F(2, 3), W(4, 3), W(4)),
        CASE(f_linear, 3, F(2, 3), F(4, 3), F(4)),
        CASE(f_sum_all, 1, F(2, 3, 4)),
        CASE(f_sum_all, 1, {{0}, true, 0}),
        CASE(f_sum_keep, 1, F(2, 3)),
        CASE(f_mean_first, 1, F(2, 3)),
        CASE(f_max_last, 1, F(2, 3)),
        CASE(f_argmax, 1, F(4, 3)),
        CASE(f_softmax, 1, F(4, 3)),
        CASE(f_log_softmax, 1, F(4, 3)),
        CASE(f_layer_norm, 3, F(4, 3), W(3), W(3)),
        CASE(f_rms_norm, 1, F(4, 3)),
        CASE(f_reshape, 1, F(2, 3, 4)),
        CASE(f_transpose, 1, F(2, 3, 4)),
        CASE(f_expand, 1, F(2, 3)),
        CASE(f_squeeze_all, 1, F(1, 3, 1)),
        CASE(f_concat, 2, F(2, 3), W(1, 3)),
        CASE(f_stack, 2, F(2, 3), F(2, 3)),
        CASE(f_slice, 1, F(2, 3, 4)),
        CASE(f_pad, 1, F(2, 3, 4)),
        CASE(f_tile, 1, F(2, 3, 4)),
        CASE(f_reverse, 1, F(4, 3)),
        CASE(f_cumsum, 1, F(2, 5)),
        CASE(f_embedding, 2, W(6, 4), I(6, 2, 3)),
        CASE(f_embedding, 2, F(6, 4), I(6, 3)),
        CASE(f_gather_own, 2, F(2, 6), I(6, 3)),
        CASE(f_gather_along, 2, F(2, 6), I(6, 2, 3)),
        CASE(f_gather_along, 2, W(2, 6), I(6, 2, 3)),
        CASE(f_one_hot, 1, I(5, 3)),
        CASE(f_conv, 2, F(2, 3, 6, 6), W(4, 3, 3, 3)),
        CASE(f_conv, 2, F(2, 3, 6, 6), F(4, 3, 3, 3)),
        CASE(f_pool, 1, F(2, 3, 6, 6)),
        CASE(f_contract, 3, F(2, 3), W(3, 4), F(2, 4)),
        CASE(f_same, 2, F(2), W(3, 2)),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], MW_DEVICE_CPU, 2e-6);
}

/* ---- gradients of networks ---- */

/* x: fc1 [H, I], bias [H], fc2 [C, H], image [I], label. */
static mw_status mlp(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)user, (void)graph;
    mw_tensor *h = mw_matmul(mw_expand_dims(x[3], MW_AXES(0)), x[0], MW_TRANSPOSE_Y);
    h = mw_tanh(mw_add(h, x[1]));
    mw_tensor *logits = mw_matmul(h, x[2], MW_TRANSPOSE_Y);
    mw_tensor *loss = mw_cross_entropy(logits, mw_expand_dims(x[4], MW_AXES(0)));
    return mw_grad(loss, x, 3, y, err);
}

/* x: kernel [K, C, 3, 3], head [N, K 4], image [C, 4, 4], label. */
static mw_status convolution(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)user, (void)graph;
    mw_tensor *h = mw_relu(mw_conv(mw_expand_dims(x[2], MW_AXES(0)), x[0], NULL, NULL));
    mw_tensor *logits = mw_matmul(mw_reshape(h, MW_SHAPE(1, -1)), x[1], MW_TRANSPOSE_Y);
    return mw_grad(mw_cross_entropy(logits, mw_expand_dims(x[3], MW_AXES(0))), x, 2, y, err);
}

/* x: table [V, D], query [D, D], gain [D], tokens [T], next tokens [T]. */
static mw_status attention(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)user, (void)graph;
    mw_tensor *h = mw_gather(x[0], x[3], 0);
    mw_tensor *n = mw_layer_norm(h, MW_AXES(-1), x[2], NULL, 1e-5f);
    mw_tensor *q = mw_matmul(n, x[1], MW_TRANSPOSE_NONE);
    mw_tensor *scores = mw_softmax(mw_mul_scalar(mw_matmul(q, n, MW_TRANSPOSE_Y), 0.5), -1);
    mw_tensor *mixed = mw_add(h, mw_matmul(scores, n, MW_TRANSPOSE_NONE));
    return mw_grad(mw_cross_entropy(mw_matmul(mixed, x[0], MW_TRANSPOSE_Y), x[4]), x, 3, y, err);
}

static void test_gradients_of_each_example_are_those_of_a_loop(void)
{
    const vmap_case networks[] = {
        {"mlp", mlp, 5, 3, {W(6, 4), W(6), W(3, 6), F(4), {{0}, true, 3}}},
        {"convolution", convolution, 4, 2, {W(2, 3, 3, 3), W(3, 8), F(3, 4, 4), {{0}, true, 3}}},
        {"attention", attention, 5, 3, {W(7, 4), W(4, 4), W(4), I(7, 5), I(7, 5)}},
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        check_case(&networks[i], MW_DEVICE_CPU, 5e-6);
        check_case(&networks[i], MW_DEVICE_ANE, 2e-2);
    }
}

/* Operations of the gradients of `examples`, with those of the labels. */
static size_t count_ops(mw_vmap_function *function, const bool *mapped, const mw_shape *one, size_t count,
                        size_t labels, int64_t examples)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[OPERANDS], *dw[RESULTS];
    for (size_t i = 0; i < count; i++) {
        char name[24];
        mw_shape shape = mapped[i] ? with_examples(one[i]) : one[i];
        shape.dim[0] = mapped[i] ? examples : shape.dim[0];
        snprintf(name, sizeof name, "x%zu", i);
        x[i] = mw_input(graph, name, i >= labels ? MW_I32 : MW_F32, shape);
    }
    CHECK_INT(mw_vmap(function, NULL, x, mapped, count, dw, 3, &err), MW_OK);
    const size_t ops = mw__graph_main(graph)->body->op_count;
    mw_graph_destroy(graph);
    return ops;
}

/* Dense layers, softmax and cross-entropy are written once, however many examples there are. */
static void test_the_program_does_not_grow_with_the_examples(void)
{
    static const bool mapped[] = {false, false, false, true, true};
    const mw_shape shapes[] = {MW_SHAPE(6, 4), MW_SHAPE(6), MW_SHAPE(3, 6), MW_SHAPE(4), {0}};
    const size_t few = count_ops(mlp, mapped, shapes, 5, 4, 3), many = count_ops(mlp, mapped, shapes, 5, 4, 50);
    check_note(few == many, __FILE__, __LINE__, "%zu operations for 3 examples, %zu for 50", few, many);
}

/* The sum of the gradients of each is the gradient of the sum, and can be differentiated again. */
static mw_status square_of_dot(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)user, (void)graph, (void)err;
    y[0] = mw_square(mw_reduce_sum(mw_mul(x[0], x[1]), MW_ALL_AXES, false));
    return MW_OK;
}

static void test_what_is_mapped_has_gradients(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_input(graph, "w", MW_F32, MW_SHAPE(4)), *x = mw_input(graph, "x", MW_F32, MW_SHAPE(B, 4)), *y,
              *dw;
    mw_vmap(square_of_dot, NULL, (mw_tensor *[]){w, x}, (const bool[]){false, true}, 2, &y, 1, &err);
    mw_grad(mw_reduce_sum(y, MW_ALL_AXES, false), &w, 1, &dw, &err);
    mw_output(dw, "dw");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    REQUIRE(program != NULL);
    float *ws = hashed_floats(4, 1, 2.0f, 0.0f), *xs = hashed_floats(4 * B, 2, 2.0f, 0.0f), got[4];
    mw_program_write(program, "w", MW_F32, ws, 4, &err);
    mw_program_write(program, "x", MW_F32, xs, 4 * B, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "dw", MW_F32, got, 4, &err);
    for (int k = 0; k < 4; k++) {
        double wanted = 0.0;
        for (int b = 0; b < B; b++) {
            double dot = 0.0;
            for (int i = 0; i < 4; i++)
                dot += (double)ws[i] * (double)xs[4 * b + i];
            wanted += 2.0 * dot * (double)xs[4 * b + k];
        }
        CHECK_NEAR(got[k], wanted, 1e-5);
    }
    CHECK_OK(err);
    free(ws);
    free(xs);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* ---- norms and clipping ---- */

static void check_clipping(mw_device device, float scale, double limit, double tolerance)
{
    enum { N = 6, M = 2 };
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *dx[] = {mw_input(graph, "a", MW_F32, MW_SHAPE(B, 2, 3)), mw_input(graph, "b", MW_F32, MW_SHAPE(B, M)),
                       mw_input(graph, "c", MW_F32, MW_SHAPE(B))};
    mw_tensor *sums[3];
    mw_output(mw_example_norms(dx, 3), "norms");
    mw_clip_examples(dx, 3, limit, sums, &err);
    mw_output(sums[0], "sa");
    mw_output(sums[1], "sb");
    mw_output(sums[2], "sc");
    mw_program *program = engine_compile(graph, device, 1, &err);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    float *values = hashed_floats(B * (N + M + 1), 9, scale, 0.0f), norms[B], sa[N], sb[M], sc;
    for (int i = 0; i < N; i++)
        values[i] = 0.0f; /* the first example has no gradient in a */
    mw_program_write(program, "a", MW_F32, values, B * N, &err);
    mw_program_write(program, "b", MW_F32, values + B * N, B * M, &err);
    mw_program_write(program, "c", MW_F32, values + B * (N + M), B, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "norms", MW_F32, norms, B, &err);
    mw_program_read(program, "sa", MW_F32, sa, N, &err);
    mw_program_read(program, "sb", MW_F32, sb, M, &err);
    mw_program_read(program, "sc", MW_F32, &sc, 1, &err);
    double a[N] = {0}, b[M] = {0}, c = 0.0;
    for (int e = 0; e < B; e++) {
        double square = 0.0;
        const float *va = values + e * N, *vb = values + B * N + e * M, *vc = values + B * (N + M) + e;
        for (int i = 0; i < N; i++)
            square += (double)va[i] * (double)va[i];
        for (int i = 0; i < M; i++)
            square += (double)vb[i] * (double)vb[i];
        square += (double)*vc * (double)*vc;
        const double factor = fmin(1.0, limit / sqrt(square));
        CHECK_NEAR(norms[e] / sqrt(square), 1.0, tolerance);
        for (int i = 0; i < N; i++)
            a[i] += factor * (double)va[i];
        for (int i = 0; i < M; i++)
            b[i] += factor * (double)vb[i];
        c += factor * (double)*vc;
    }
    for (int i = 0; i < N; i++)
        CHECK_NEAR(sa[i], a[i], tolerance * limit);
    for (int i = 0; i < M; i++)
        CHECK_NEAR(sb[i], b[i], tolerance * limit);
    CHECK_NEAR(sc, c, tolerance * limit);
    CHECK_OK(err);
    free(values);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_norms_and_clipping_are_those_of_doubles(void)
{
    check_clipping(MW_DEVICE_CPU, 2.0f, 0.5, 1e-6);
    check_clipping(MW_DEVICE_CPU, 2.0f, 100.0, 1e-6);
    check_clipping(MW_DEVICE_CPU, 2e30f, 1e30, 1e-6); /* whose squares fp32 does not hold */
    check_clipping(MW_DEVICE_CPU, 2e-30f, 1e-30, 1e-6);
    check_clipping(MW_DEVICE_ANE, 2.0f, 0.5, 6e-3);
}

/* ---- a step of DP-SGD ---- */

/* loss of one example of a linear model: (w x - y)^2. */
static mw_status linear_gradient(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **dw, mw_error *err)
{
    (void)user, (void)graph;
    mw_tensor *error = mw_sub(mw_reduce_sum(mw_mul(x[0], x[1]), MW_ALL_AXES, false), x[2]);
    return mw_grad(mw_square(error), x, 1, dw, err);
}

/* inputs: w, x, y. The mean of clipped gradients in the place of the mean's gradient. */
static mw_status clipped(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    mw_tensor *dw = NULL, *sum = NULL;
    if (mw_vmap(linear_gradient, NULL, call->inputs, (const bool[]){false, true, true}, 3, &dw, 1, err) != MW_OK ||
        mw_clip_examples(&dw, 1, 0.5, &sum, err) != MW_OK)
        return err->status;
    out_dx[0] = mw_mul(mw_mul_scalar(sum, 1.0 / B), call->dy);
    return MW_OK;
}

static void test_a_trainer_steps_along_clipped_gradients(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(4), mw_init_constant(0.5f));
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(B, 4)), *y = mw_input(graph, "y", MW_F32, MW_SHAPE(B));
    mw_tensor *error = mw_sub(mw_matmul(x, w, MW_TRANSPOSE_NONE), y);
    mw_tensor *loss = mw_reduce_mean(mw_square(error), MW_ALL_AXES, false);
    loss = mw_custom_vjp("dp", loss, (mw_tensor *[]){w, x, y}, 3, clipped, NULL);
    mw_trainer *trainer = engine_trainer(loss, mw_sgd(0.1f), MW_DEVICE_CPU, 1, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    float *xs = hashed_floats(4 * B, 5, 2.0f, 0.0f), *ys = hashed_floats(B, 6, 2.0f, 0.0f), got[4];
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = xs, .count = 4 * B},
                             {.name = "y", .dtype = MW_F32, .data = ys, .count = B}};
    mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 2, .examples = B}, NULL, &err);
    mw_trainer_read(trainer, "w", MW_F32, got, 4, &err);
    double wanted[4] = {0.5, 0.5, 0.5, 0.5};
    for (int b = 0; b < B; b++) {
        double apart = -(double)ys[b], square = 0.0;
        for (int i = 0; i < 4; i++)
            apart += 0.5 * (double)xs[4 * b + i];
        for (int i = 0; i < 4; i++)
            square += pow(2.0 * apart * (double)xs[4 * b + i], 2.0);
        for (int i = 0; i < 4; i++)
            wanted[i] -= 0.1 / B * fmin(1.0, 0.5 / sqrt(square)) * 2.0 * apart * (double)xs[4 * b + i];
    }
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(got[i], wanted[i], 1e-6);
    CHECK_OK(err);
    free(xs);
    free(ys);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* ---- what is refused ---- */

static mw_status makes_input(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)user, (void)err;
    y[0] = mw_add(x[0], mw_input(graph, "more", MW_F32, MW_SHAPE(2)));
    return MW_OK;
}

static mw_status gives_nothing(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)user, (void)graph, (void)x, (void)y, (void)err;
    return MW_OK;
}

static mw_status gives_operand_of_user(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)graph, (void)x, (void)err;
    y[0] = user;
    return MW_OK;
}

static mw_status fails(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    (void)user, (void)graph, (void)err;
    y[0] = mw_reshape(x[0], MW_SHAPE(7));
    return MW_OK;
}

static void refuse(mw_vmap_function *function, const bool *mapped, mw_shape second, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[] = {mw_input(graph, "a", MW_F32, MW_SHAPE(B, 2)), mw_input(graph, "b", MW_F32, second)}, *y = x[0];
    CHECK(mw_vmap(function, x[0], x, mapped, 2, &y, 1, &err) == status);
    CHECK(y == NULL);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(graph);
}

static void test_what_cannot_be_mapped_is_refused(void)
{
    static const bool both[] = {true, true}, none[] = {false, false};
    refuse(f_add, none, MW_SHAPE(B, 2), MW_ERROR_ARGUMENT, "no operand is mapped");
    refuse(f_add, both, MW_SHAPE(B + 1, 2), MW_ERROR_SHAPE,
           "operand 1 is mapped and [4, 2]; its first extent must be the number of examples");
    refuse(f_add, both, MW_SHAPE(-1, 2), MW_ERROR_SHAPE, "operand 1 has no known shape");
    refuse(NULL, both, MW_SHAPE(B, 2), MW_ERROR_ARGUMENT, "the function is NULL");
    refuse(makes_input, both, MW_SHAPE(B, 2), MW_ERROR_ARGUMENT, "the function made an input");
    refuse(gives_nothing, both, MW_SHAPE(B, 2), MW_ERROR_ARGUMENT, "result 0 of the function is NULL");
    refuse(gives_operand_of_user, both, MW_SHAPE(B, 2), MW_ERROR_ARGUMENT,
           "result 0 of the function is of another graph");
    refuse(fails, both, MW_SHAPE(B, 2), MW_ERROR_SHAPE, "vmap: the function: reshape");
    mw_error err = {0};
    CHECK(mw_vmap(f_add, NULL, NULL, both, 2, (mw_tensor *[1]){NULL}, 1, &err) == MW_ERROR_ARGUMENT);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(B)), *sum;
    err = (mw_error){0};
    CHECK(mw_clip_examples(&x, 1, 0.0, &sum, &err) == MW_ERROR_ARGUMENT && sum == NULL);
    CHECK_CONTAINS(err.message, "the limit is 0; it must be above 0");
    CHECK(mw_example_norms(NULL, 1) == NULL);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_every_operation_is_that_of_a_loop);
    RUN(test_gradients_of_each_example_are_those_of_a_loop);
    RUN(test_the_program_does_not_grow_with_the_examples);
    RUN(test_what_is_mapped_has_gradients);
    RUN(test_norms_and_clipping_are_those_of_doubles);
    RUN(test_a_trainer_steps_along_clipped_gradients);
    RUN(test_what_cannot_be_mapped_is_refused);
    return check_finish();
}
