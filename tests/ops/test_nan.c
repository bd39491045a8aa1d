/* One rule for NaN, PyTorch's: what is compared keeps it. A NaN operand, or a NaN among the elements that a maximum is
 * taken of, is the result; where numbers are ordered it is the largest. In every kernel: each width of vectors and what
 * it leaves over, fused regions and joined steps, and fp16 on both devices. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { ELEMENTS = 4096 };

typedef mw_tensor *make_result(mw_tensor *x);

/* ---- where it runs ---- */

typedef struct setting {
    const char *name, *variable, *value;
} setting;

static const setting settings[] = {
    {"fused", "MW_ENGINE_FUSE", "1"},  {"unfused", "MW_ENGINE_FUSE", "0"},        {"plain loops", "MW_ENGINE_REF", "1"},
    {"narrow", "MW_ENGINE_WIDE", "0"}, {"at most AVX2", "MW_ENGINE_WIDE", "256"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct type {
    const char *name;
    mw_dtype dtype;
    mw_device device;
} type;

static const type types[] = {
    {"fp32", MW_F32, MW_DEVICE_CPU}, {"fp16", MW_F16, MW_DEVICE_CPU}, {"the ANE", MW_F32, MW_DEVICE_ANE}};
enum { TYPES = sizeof types / sizeof *types };

typedef struct place {
    mw_program *program;
    size_t in, out;
    bool whole; /* the results are int32 */
} place;

/* Without a program if the device has no such operation. */
static place make_place(make_result *make, mw_shape shape, const type *t, const setting *s)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *y = make(mw_input(graph, "x", t->dtype, shape));
    place p = {.in = (size_t)mw_shape_count(shape), .out = (size_t)mw_shape_count(mw_tensor_shape(y))};
    p.whole = mw_tensor_dtype(y) == MW_I32;
    mw_output(y, "y");
    setting_begin(s->variable, s->value);
    p.program = engine_compile(graph, t->device, 0, &err);
    setting_end(s->variable);
    if (p.program == NULL)
        CHECK(t->device == MW_DEVICE_ANE && err.status == MW_ERROR_UNSUPPORTED);
    mw_graph_destroy(graph);
    return p;
}

static void run(const place *p, const float *x, float *y)
{
    mw_error err = {0};
    mw_program_write(p->program, "x", MW_F32, x, p->in, &err);
    mw_program_run(p->program, &err);
    if (p->whole) {
        int32_t numbers[ELEMENTS];
        mw_program_read(p->program, "y", MW_I32, numbers, p->out, &err);
        for (size_t i = 0; i < p->out; i++)
            y[i] = (float)numbers[i];
    } else {
        mw_program_read(p->program, "y", MW_F32, y, p->out, &err);
    }
    CHECK_OK(err);
}

static void fill(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)((i * 37) % 64) / 8.0f - 4.0f;
}

/* ---- element by element ---- */

static mw_tensor *leaky(mw_tensor *x) { return mw_leaky_relu(x, 0.25f); }
static mw_tensor *clamped(mw_tensor *x) { return mw_clamped_relu(x, 0.25f, 2.0f); }
static mw_tensor *thresholded(mw_tensor *x) { return mw_thresholded_relu(x, 0.5f); }
static mw_tensor *threshold(mw_tensor *x) { return mw_threshold(x, 0.5f); }
static mw_tensor *clip(mw_tensor *x) { return mw_clip(x, -1.0f, 1.0f); }
static mw_tensor *hard(mw_tensor *x) { return mw_sigmoid_hard(x, 0.25f, 0.5f); }
static mw_tensor *elu(mw_tensor *x) { return mw_elu(x, 1.5f); }
static mw_tensor *number(mw_tensor *x, double v) { return mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), v); }
static mw_tensor *over(mw_tensor *x) { return mw_maximum(x, number(x, 0.5)); }
static mw_tensor *over_by(mw_tensor *x) { return mw_maximum(number(x, 0.5), x); }
static mw_tensor *under(mw_tensor *x) { return mw_minimum(x, number(x, 0.5)); }
static mw_tensor *under_by(mw_tensor *x) { return mw_minimum(number(x, 0.5), x); }
static mw_tensor *over_other(mw_tensor *x) { return mw_maximum(mw_square(x), x); }
static mw_tensor *with_bias(mw_tensor *x) { return mw_relu(mw_add(x, mw_square(x))); } /* a hot region */
static mw_tensor *chain(mw_tensor *x) { return mw_minimum(mw_relu(mw_mul(x, number(x, 2.0))), number(x, 3.0)); }
static mw_tensor *gelu(mw_tensor *x) { return mw_gelu(x, MW_GELU_TANH); }
static mw_tensor *gelu_exact(mw_tensor *x) { return mw_gelu(x, MW_GELU_EXACT); }

typedef struct function {
    const char *name;
    make_result *make;
} function;

static const function functions[] = {
    {"relu", mw_relu},
    {"relu6", mw_relu6},
    {"leaky_relu", leaky},
    {"clamped_relu", clamped},
    {"threshold", threshold},
    {"clip", clip},
    {"sigmoid_hard", hard},
    {"thresholded_relu", thresholded},
    {"elu", elu},
    {"softplus", mw_softplus},
    {"sigmoid", mw_sigmoid},
    {"tanh", mw_tanh},
    {"erf", mw_erf},
    {"exp", mw_exp},
    {"gelu, tanh", gelu},
    {"gelu", gelu_exact},
    {"silu", mw_silu},
    {"sign", mw_sign},
    {"abs", mw_abs},
    {"maximum(x, c)", over},
    {"maximum(c, x)", over_by},
    {"minimum(x, c)", under},
    {"minimum(c, x)", under_by},
    {"maximum(x^2, x)", over_other},
    {"relu(x + x^2)", with_bias},
    {"min(relu(2 x), 3)", chain},
    {"sqrt", mw_sqrt},
    {"round", mw_round},
};

/* NaN exactly where x is; the others are what they are without it. */
static void check_function(const function *f, int64_t count, const type *t, const setting *s)
{
    float x[ELEMENTS], y[ELEMENTS], pure[ELEMENTS];
    const place p = make_place(f->make, MW_SHAPE(count), t, s);
    if (p.program == NULL)
        return;
    fill(x, p.in);
    for (size_t i = 0; strcmp(f->name, "sqrt") == 0 && i < p.in; i++)
        x[i] = fabsf(x[i]);
    run(&p, x, pure);
    for (int64_t at = 0; at < count; at += at < 20 ? 1 : 13) {
        const float kept = x[at];
        bool good = true;
        x[at] = at % 2 == 0 ? NAN : -NAN;
        run(&p, x, y);
        for (int64_t i = 0; i < count; i++)
            good = good && (i == at ? isnan(y[i]) : y[i] == pure[i]);
        check_note(good, __FILE__, __LINE__, "%s, %s, %s: element %d of %d", f->name, t->name, s->name, (int)at,
                   (int)count);
        x[at] = kept;
    }
    mw_program_destroy(p.program);
}

static void test_functions_of_nan(void)
{
    static const int64_t counts[] = {1, 7, 37, 530}; /* a rest, vectors and a rest, tiles and a rest */
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (int t = 0; t < TYPES; t++)
            for (int s = 0; s < SETTINGS; s++)
                for (int c = 0; c < 4; c++)
                    check_function(&functions[i], counts[c], &types[t], &settings[s]);
}

/* ---- the largest of many ---- */

static mw_tensor *max_rows(mw_tensor *x) { return mw_reduce_max(x, MW_AXES(1), false); }
static mw_tensor *min_rows(mw_tensor *x) { return mw_reduce_min(x, MW_AXES(1), false); }
static mw_tensor *max_columns(mw_tensor *x) { return mw_reduce_max(x, MW_AXES(0), false); }
static mw_tensor *min_columns(mw_tensor *x) { return mw_reduce_min(x, MW_AXES(0), false); }
static mw_tensor *softmax(mw_tensor *x) { return mw_reduce_max(mw_softmax(x, 1), MW_AXES(1), false); }
static mw_tensor *log_softmax(mw_tensor *x) { return mw_reduce_min(mw_log_softmax(x, 1), MW_AXES(1), false); }
static mw_tensor *log_sum_rows(mw_tensor *x) { return mw_reduce_log_sum_exp(x, MW_AXES(1), false); }
static mw_tensor *log_sum_columns(mw_tensor *x) { return mw_reduce_log_sum_exp(x, MW_AXES(0), false); }

typedef struct reduction {
    const char *name;
    make_result *make;
    bool columns;
} reduction;

static const reduction reductions[] = {
    {"reduce_max", max_rows, false},
    {"reduce_min", min_rows, false},
    {"reduce_max of columns", max_columns, true},
    {"reduce_min of columns", min_columns, true},
    {"softmax", softmax, false},
    {"log_softmax", log_softmax, false},
    {"reduce_log_sum_exp", log_sum_rows, false},
    {"reduce_log_sum_exp of columns", log_sum_columns, true},
};

/* The row or column of the NaN is NaN, and no other. */
static void check_reduction(const reduction *r, int64_t rows, int64_t columns, const type *t, const setting *s)
{
    float x[ELEMENTS], y[ELEMENTS];
    const place p = make_place(r->make, MW_SHAPE(rows, columns), t, s);
    if (p.program == NULL)
        return;
    fill(x, p.in);
    for (size_t at = 0; at < p.in; at += at < 40 ? 1 : 29) {
        const size_t where = r->columns ? at % (size_t)columns : at / (size_t)columns;
        const float kept = x[at];
        bool good = true;
        x[at] = at % 2 == 0 ? NAN : -NAN;
        run(&p, x, y);
        for (size_t i = 0; i < p.out; i++)
            good = good && (isnan(y[i]) != 0) == (i == where);
        check_note(good, __FILE__, __LINE__, "%s, %s, %s: element %zu of [%d, %d]", r->name, t->name, s->name, at,
                   (int)rows, (int)columns);
        x[at] = kept;
    }
    mw_program_destroy(p.program);
}

static void test_extremes_with_nan(void)
{
    static const int64_t shapes[][2] = {{3, 5}, {2, 70}, {33, 2}, {1, 1}, {2, 600}};
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        for (int t = 0; t < TYPES; t++)
            for (int s = 0; s < SETTINGS; s++)
                for (int c = 0; c < 5; c++)
                    check_reduction(&reductions[i], shapes[c][0], shapes[c][1], &types[t], &settings[s]);
}

/* More elements than one chunk of a reduction to one number has. */
static mw_tensor *max_all(mw_tensor *x) { return mw_reduce_max(x, MW_ALL_AXES, false); }

static void test_the_largest_of_very_many_with_nan(void)
{
    enum { MANY = 40001 };
    static float x[MANY];
    for (int s = 0; s < SETTINGS; s++) {
        const place p = make_place(max_all, MW_SHAPE(MANY), &types[0], &settings[s]);
        for (size_t at = 0; p.program != NULL && at < MANY; at += 8000) {
            float y = 0.0f;
            memset(x, 0, sizeof x);
            x[at] = NAN;
            run(&p, x, &y);
            CHECK(isnan(y));
        }
        mw_program_destroy(p.program);
    }
}

/* ---- windows ---- */

static mw_pool_options windows(int kernel, int stride, mw_pad_type pad)
{
    mw_pool_options options = mw_pool_defaults(MW_SHAPE(kernel, kernel));
    options.stride[0] = options.stride[1] = stride;
    options.pad_type = pad;
    return options;
}

static mw_tensor *pool(mw_tensor *x, int kernel, int stride, mw_pad_type pad)
{
    const mw_pool_options options = windows(kernel, stride, pad);
    return mw_max_pool(x, &options);
}

static mw_tensor *two(mw_tensor *x) { return pool(x, 2, 2, MW_PAD_VALID); }
static mw_tensor *two_of_relu(mw_tensor *x) { return pool(mw_relu(x), 2, 2, MW_PAD_VALID); }
static mw_tensor *three(mw_tensor *x) { return pool(x, 3, 1, MW_PAD_VALID); }
static mw_tensor *three_of_relu(mw_tensor *x) { return pool(mw_relu(x), 3, 2, MW_PAD_VALID); }
static mw_tensor *padded(mw_tensor *x) { return pool(x, 3, 2, MW_PAD_SAME); }

/* A convolution that copies each of two channels to 9, so that the joined kernel is taken where there is one. */
static mw_tensor *copies(mw_tensor *x)
{
    float weight[9 * 2 * 9] = {0};
    for (int o = 0; o < 9; o++)
        weight[(o * 2 + o % 2) * 9 + 4] = 1.0f;
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_tensor *w = mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(9, 2, 3, 3), weight);
    return mw_conv(x, mw_tensor_dtype(x) == MW_F32 ? w : mw_cast(w, MW_F16), NULL, &same);
}
static mw_tensor *convolved(mw_tensor *x) { return two(copies(x)); }
static mw_tensor *convolved_relu(mw_tensor *x) { return two_of_relu(copies(x)); }

typedef struct pooling {
    const char *name;
    make_result *make;
    int kernel, stride, before, reach; /* of the windows, and of the convolution */
} pooling;

static const pooling poolings[] = {
    {.name = "windows of two", .make = two, .kernel = 2, .stride = 2},
    {.name = "relu, windows of two", .make = two_of_relu, .kernel = 2, .stride = 2},
    {.name = "windows of three", .make = three, .kernel = 3, .stride = 1},
    {.name = "relu, windows of three", .make = three_of_relu, .kernel = 3, .stride = 2},
    {.name = "padded windows", .make = padded, .kernel = 3, .stride = 2, .before = -1},
    {.name = "conv, windows of two", .make = convolved, .kernel = 2, .stride = 2, .reach = 1},
    {.name = "conv, relu, windows of two", .make = convolved_relu, .kernel = 2, .stride = 2, .reach = 1},
};

/* A result is NaN exactly where its window, widened by the reach of the convolution, holds the NaN. */
static void check_pooling(const pooling *w, int64_t height, int64_t width, const type *t, const setting *s)
{
    float x[ELEMENTS], y[ELEMENTS];
    const place p = make_place(w->make, MW_SHAPE(2, 2, height, width), t, s);
    if (p.program == NULL)
        return;
    const int64_t out[2] = {w->before < 0 ? (height + 1) / 2 : (height - w->kernel) / w->stride + 1,
                            w->before < 0 ? (width + 1) / 2 : (width - w->kernel) / w->stride + 1};
    const int64_t before[2] = {w->before < 0 ? ((out[0] - 1) * 2 + 3 - height) / 2 : 0,
                               w->before < 0 ? ((out[1] - 1) * 2 + 3 - width) / 2 : 0};
    const int64_t channels = (int64_t)p.out / 2 / (out[0] * out[1]);
    fill(x, p.in);
    for (int64_t at = 0; at < (int64_t)p.in; at += at < height * width ? 1 : 31) {
        const int64_t n = at / (2 * height * width), row = at / width % height, column = at % width;
        const int64_t channel = at / (height * width) % 2;
        const float kept = x[at];
        bool good = true;
        x[at] = at % 2 == 0 ? NAN : -NAN;
        run(&p, x, y);
        for (int64_t i = 0; i < (int64_t)p.out; i++) {
            const int64_t top = i / out[1] % out[0] * w->stride - before[0], left = i % out[1] * w->stride - before[1];
            const bool inside = row >= top - w->reach && row < top + w->kernel + w->reach &&
                                column >= left - w->reach && column < left + w->kernel + w->reach;
            const int64_t c = i / (out[0] * out[1]) % channels, example = i / (out[0] * out[1] * channels);
            const bool same = example == n && (w->reach > 0 || c == channel);
            good = good && (isnan(y[i]) != 0) == (inside && same);
        }
        check_note(good, __FILE__, __LINE__, "%s, %s, %s: element %d of [2, 2, %d, %d]", w->name, t->name, s->name,
                   (int)at, (int)height, (int)width);
        x[at] = kept;
    }
    mw_program_destroy(p.program);
}

static void test_windows_with_nan(void)
{
    static const int64_t shapes[][2] = {{6, 6}, {5, 9}, {4, 22}, {6, 40}};
    for (size_t i = 0; i < sizeof poolings / sizeof *poolings; i++)
        for (int t = 0; t < TYPES; t++)
            for (int s = 0; s < SETTINGS; s++)
                for (int c = 0; c < 4; c++)
                    check_pooling(&poolings[i], shapes[c][0], shapes[c][1], &types[t], &settings[s]);
}

/* ---- order ---- */

static mw_tensor *first_largest(mw_tensor *x) { return mw_reduce_argmax(x, 1, false); }
static mw_tensor *first_smallest(mw_tensor *x) { return mw_reduce_argmin(x, 1, false); }

/* Of a row with a NaN the largest and the smallest are the NaN, as in PyTorch and NumPy. */
static void test_the_place_of_nan(void)
{
    float x[ELEMENTS], y[ELEMENTS];
    for (int t = 0; t < TYPES; t++)
        for (int s = 0; s < SETTINGS; s++)
            for (int least = 0; least < 2; least++) {
                const place p =
                    make_place(least ? first_smallest : first_largest, MW_SHAPE(2, 37), &types[t], &settings[s]);
                fill(x, 74);
                for (int at = 0; p.program != NULL && at < 36; at++) {
                    const float kept = x[at];
                    x[at] = x[36] = NAN; /* the first of two */
                    run(&p, x, y);
                    check_note(y[0] == (float)at, __FILE__, __LINE__, "%s, %s: the NaN is at %d, not %g", types[t].name,
                               settings[s].name, at, (double)y[0]);
                    x[at] = kept;
                }
                mw_program_destroy(p.program);
            }
}

static mw_tensor *order(mw_tensor *x) { return mw_argsort(x, 1, true); }
static mw_tensor *three_largest(mw_tensor *x)
{
    mw_tensor *values = NULL, *indices = NULL;
    mw_topk(x, 3, 1, false, &values, &indices);
    return indices;
}

/* NaN is the largest number: the last in order, among the first of topk. */
static void test_the_order_of_nan(void)
{
    float x[ELEMENTS], y[ELEMENTS];
    for (int t = 0; t < TYPES; t++)
        for (int s = 0; s < SETTINGS; s++) {
            const place sorted = make_place(order, MW_SHAPE(1, 37), &types[t], &settings[s]);
            const place most = make_place(three_largest, MW_SHAPE(1, 37), &types[t], &settings[s]);
            for (int at = 0; at < 37; at++) {
                fill(x, 37);
                x[at] = NAN;
                if (sorted.program != NULL) {
                    run(&sorted, x, y);
                    CHECK_INT(y[36], at);
                }
                if (most.program != NULL) {
                    run(&most, x, y);
                    CHECK_INT(y[0], at);
                }
            }
            mw_program_destroy(sorted.program);
            mw_program_destroy(most.program);
        }
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE", "ieee"); /* no chip knows a NaN (rules/arithmetic.def) */
    RUN(test_functions_of_nan);
    RUN(test_extremes_with_nan);
    RUN(test_the_largest_of_very_many_with_nan);
    RUN(test_windows_with_nan);
    RUN(test_the_place_of_nan);
    RUN(test_the_order_of_nan);
    return check_finish();
}
