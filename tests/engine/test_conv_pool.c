/* A convolution with a pooling behind it, and the gradients of both, at odd sizes. The operations one by one
 * (MW_ENGINE_FUSE=0) and the plain kernels (MW_ENGINE_REF=1) must give the bytes of the joined steps: the latter, and
 * the gradients by weight and bias, for numbers whose sums are exact in any order. */
#include "base/random.h"
#include "config_here.h"
#include "engine/core/kernel.h"
#include "run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

typedef struct shapes {
    const char *what;
    mw_shape x, weight;
    int64_t stride, dilation, groups, pad;
    bool relu;
    bool watched; /* somebody else needs the result of the convolution: nothing is joined */
    bool joined;  /* with AVX-512 */
} shapes;

/* clang-format off */
static const shapes cases[] = {
    {"one channel", {4, {5, 1, 28, 28}}, {4, {16, 1, 3, 3}}, 1, 1, 1, 1, true, false, true},
    {"two panels", {4, {3, 16, 14, 14}}, {4, {48, 16, 3, 3}}, 1, 1, 1, 1, true, false, true},
    {"odd extents", {4, {3, 18, 9, 13}}, {4, {33, 18, 3, 3}}, 1, 1, 1, 1, true, false, true},
    {"odd channels", {4, {2, 19, 11, 17}}, {4, {23, 19, 3, 3}}, 1, 1, 1, 1, true, false, true},
    {"few channels", {4, {2, 3, 11, 37}}, {4, {11, 3, 5, 3}}, 1, 1, 1, 2, true, false, true},
    {"too few channels", {4, {2, 3, 12, 10}}, {4, {5, 3, 3, 3}}, 1, 1, 1, 1, true, false, false},
    {"no border", {4, {4, 12, 12, 10}}, {4, {14, 12, 3, 3}}, 1, 1, 1, 0, true, false, true},
    {"wide kernel", {4, {2, 5, 15, 16}}, {4, {16, 5, 7, 5}}, 1, 1, 1, 3, true, false, true},
    {"one element", {4, {2, 20, 8, 9}}, {4, {16, 20, 1, 1}}, 1, 1, 1, 0, true, false, true},
    {"strides", {4, {3, 6, 25, 31}}, {4, {13, 6, 3, 4}}, 2, 1, 1, 1, true, false, true},
    {"dilation", {4, {3, 6, 18, 21}}, {4, {16, 6, 3, 2}}, 1, 2, 1, 2, true, false, true},
    {"groups", {4, {3, 8, 14, 12}}, {4, {24, 4, 3, 3}}, 1, 1, 2, 1, true, false, true},
    {"long rows", {4, {1, 2, 6, 270}}, {4, {16, 2, 3, 3}}, 1, 1, 1, 1, true, false, true},
    {"without relu", {4, {3, 8, 10, 14}}, {4, {16, 8, 3, 3}}, 1, 1, 1, 1, false, false, true},
    {"watched", {4, {3, 8, 10, 14}}, {4, {16, 8, 3, 3}}, 1, 1, 1, 1, true, true, false},
};
/* clang-format on */

enum { Y, DX, DWEIGHT, DBIAS, RESULTS };
static const char *const names[RESULTS] = {"y", "dx", "dweight", "dbias"};

typedef struct results {
    size_t size[RESULTS];
    char *data[RESULTS];
} results;

static mw_shape bias_shape(const shapes *s) { return MW_SHAPE(s->weight.dim[0]); }

static mw_tensor *forward(const shapes *s, mw_tensor *x, mw_tensor *weight, mw_tensor *bias)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_CUSTOM;
    options.groups = s->groups;
    for (int i = 0; i < 2; i++) {
        options.stride[i] = s->stride;
        options.dilation[i] = s->dilation;
        options.pad[2 * i] = options.pad[2 * i + 1] = s->pad;
    }
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    mw_tensor *y = mw_conv(x, weight, bias, &options);
    if (s->watched)
        mw_output(mw_mul_scalar(y, 2.0), "watched");
    return mw_max_pool(s->relu ? mw_relu(y) : y, &two);
}

static mw_graph *build(const shapes *s, mw_shape *out_y)
{
    mw_graph *graph = mw_graph_create(NULL);
    mw_error err = {0};
    mw_tensor *given[3] = {mw_input(graph, "x", MW_F32, s->x), mw_input(graph, "weight", MW_F32, s->weight),
                           mw_input(graph, "bias", MW_F32, bias_shape(s))};
    mw_tensor *y = forward(s, given[0], given[1], given[2]), *gradients[3] = {NULL};
    *out_y = mw_tensor_shape(y);
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, *out_y);
    mw_vjp(&y, &dy, 1, given, 3, gradients, &err);
    CHECK_OK(err);
    mw_output(y, names[Y]);
    for (int i = 0; i < 3; i++)
        mw_output(gradients[i], names[DX + i]);
    return graph;
}

/* Multiples of 1 / steps in [-1, 1), and one element of x that is NaN. */
typedef struct numbers {
    float steps;
    bool nan;
} numbers;

static const numbers exact = {.steps = 8.0f}; /* few, so that windows have ties and sums are exact */
static const numbers rounded = {.steps = 1e6f}, with_nan = {.steps = 8.0f, .nan = true};

static void feed(mw_program *program, const char *name, mw_shape shape, const numbers *fed, mw_error *err)
{
    const float steps = fed->steps;
    const int64_t count = mw_shape_count(shape);
    float *data = malloc((size_t)count * sizeof *data);
    mw__random random = {.seed = 5, .stream = (uint64_t)name[0]};
    for (int64_t i = 0; data != NULL && i < count; i++)
        data[i] = floorf(2.0f * steps * mw__random_uniform(&random)) / steps - 1.0f;
    if (data != NULL && fed->nan && strcmp(name, "x") == 0)
        data[count / 3] = NAN;
    mw_program_write(program, name, MW_F32, data, (size_t)count, err);
    free(data);
}

static void check_label(const shapes *s, const mw_program *program)
{
    const size_t count = run_count_label_in(mw_program_mil(program), s->relu ? "conv.relu.max_pool" : "conv.max_pool");
    const size_t wanted = s->joined && level_here() == MW__LEVEL_AVX512 ? 1 : 0;
    check_note(count == wanted, __FILE__, __LINE__, "%s: joined %zu times", s->what, count);
}

static results compute(const shapes *s, const numbers *fed, int threads, bool look)
{
    mw_error err = {0};
    mw_shape y = {0};
    mw_graph *graph = build(s, &y);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    results out = {{0}, {NULL}};
    if (check_note(program != NULL, __FILE__, __LINE__, "%s: %s", s->what, err.message)) {
        if (look)
            check_label(s, program);
        feed(program, "x", s->x, fed, &err);
        feed(program, "weight", s->weight, fed, &err);
        feed(program, "bias", bias_shape(s), fed, &err);
        feed(program, "dy", y, fed, &err);
        for (int turn = 0; turn < 2; turn++) /* the second finds the scratch of the first */
            mw_run(program, &err);
    }
    const mw_shape of[RESULTS] = {y, s->x, s->weight, bias_shape(s)};
    for (int i = 0; i < RESULTS; i++) {
        out.size[i] = (size_t)mw_shape_count(of[i]) * sizeof(float);
        out.data[i] = calloc(1, out.size[i]);
        const void *data = mw_program_view(program, names[i], &err);
        if (data != NULL && out.data[i] != NULL)
            memcpy(out.data[i], data, out.size[i]);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return out;
}

static results compute_with(const shapes *s, const numbers *fed, int threads, const char *variable, const char *value)
{
    setting_begin(variable, value);
    const results out = compute(s, fed, threads, false);
    setting_end(variable);
    return out;
}

static void compare(const shapes *s, const char *what, const results *a, const results *b, int count)
{
    for (int i = 0; i < count; i++)
        check_note(memcmp(a->data[i], b->data[i], a->size[i]) == 0, __FILE__, __LINE__, "%s: %s differs %s", s->what,
                   names[i], what);
}

static void destroy(results *r)
{
    for (int i = 0; i < RESULTS; i++)
        free(r->data[i]);
}

static void test_joined_steps_give_the_bytes_of_the_operations(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int threads = 1; threads <= 3; threads++) {
            results joined = compute(&cases[i], &exact, threads, true);
            results apart = compute_with(&cases[i], &exact, threads, "MW_ENGINE_FUSE", "0");
            compare(&cases[i], "without fusion", &joined, &apart, RESULTS);
            destroy(&joined);
            destroy(&apart);
        }
}

static void test_rounded_sums_are_those_of_the_operations(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        results joined = compute(&cases[i], &rounded, 2, false);
        results apart = compute_with(&cases[i], &rounded, 2, "MW_ENGINE_FUSE", "0");
        compare(&cases[i], "without fusion, rounded", &joined, &apart, DWEIGHT);
        destroy(&joined);
        destroy(&apart);
    }
}

/* Of the gradients only that by x: the one by the weight leaves out products of NaN and zero. */
static void test_nan_is_pooled_as_by_the_operations(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        results joined = compute(&cases[i], &with_nan, 2, false);
        results apart = compute_with(&cases[i], &with_nan, 2, "MW_ENGINE_FUSE", "0");
        compare(&cases[i], "without fusion, with NaN", &joined, &apart, DWEIGHT);
        destroy(&joined);
        destroy(&apart);
    }
}

static void test_joined_steps_agree_with_the_plain_kernels(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        results joined = compute(&cases[i], &exact, 2, false);
        results plain = compute_with(&cases[i], &exact, 2, "MW_ENGINE_REF", "1");
        compare(&cases[i], "from the plain kernels", &joined, &plain, RESULTS);
        destroy(&joined);
        destroy(&plain);
    }
}

int main(void)
{
    RUN(test_joined_steps_give_the_bytes_of_the_operations);
    RUN(test_rounded_sums_are_those_of_the_operations);
    RUN(test_nan_is_pooled_as_by_the_operations);
    RUN(test_joined_steps_agree_with_the_plain_kernels);
    return check_finish();
}
