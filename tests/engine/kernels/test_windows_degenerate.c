/* Windows at the edge of what the shape rules admit: kernels that reach no element of an axis, extents of 1, strides
 * and dilations beyond the extent, borders wider than the kernel. Each case is drawn; its result and its gradients by
 * the engine are those of the oracle, and the gradients are what the oracle's own results say. MW_NIGHTLY draws many
 * more. */
#include "base/number/random.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/oracles/oracle.h"

#include <math.h>
#include <stdlib.h>

enum { ELEMENTS = 65536 };

typedef enum kind { CONV, TRANSPOSE, MAX, AVERAGE, L2, KINDS } kind;
static const char *const names[KINDS] = {"conv", "conv_transpose", "max_pool", "avg_pool", "l2_pool"};

typedef struct problem {
    kind kind;
    int axes;
    int64_t in[3], kernel[3], stride[3], dilation[3], pad[6];
    int64_t batch, groups, inputs, outputs; /* channels of a group */
    bool decomposed, constant_weight, bias, same;
    mw__random random;
    char text[400];
} problem;

static int64_t draw(problem *p, int64_t count) { return (int64_t)mw__random_below(&p->random, (uint64_t)count); }

/* A half of the borders reach beyond the kernel. */
static void draw_problem(problem *p, uint64_t number)
{
    *p = (problem){.random = {.seed = number}};
    p->kind = (kind)draw(p, KINDS);
    const bool pool = p->kind >= MAX;
    p->axes = (int)(1 + draw(p, pool ? 2 : 3));
    const bool large = draw(p, 3) == 0; /* enough for the kernels of many positions and channels */
    p->batch = 1 + draw(p, 2);
    p->groups = 1 + draw(p, large ? 2 : 3);
    p->inputs = 1 + draw(p, large ? 5 : 2);
    p->outputs = 1 + draw(p, large ? 12 : 3);
    p->decomposed = draw(p, 3) == 0;
    p->constant_weight = draw(p, 2) == 0;
    p->bias = draw(p, 2) == 0;
    p->same = draw(p, 5) == 0;
    for (int i = 0; i < p->axes; i++) {
        p->in[i] = 1 + draw(p, p->axes - i == 3 ? 2 : large ? 9 : 4);
        p->kernel[i] = 1 + draw(p, 3);
        p->stride[i] = 1 + draw(p, 4);
        p->dilation[i] = pool || draw(p, 2) == 0 ? 1 : 1 + draw(p, 3);
        const int64_t widest = pool ? p->kernel[i] : 4; /* a window of padding alone has no largest element */
        p->pad[2 * i] = p->same ? 0 : draw(p, widest);
        p->pad[2 * i + 1] = p->same ? 0 : draw(p, widest);
    }
}

static void describe(problem *p, uint64_t number)
{
    size_t at = (size_t)snprintf(
        p->text, sizeof p->text, "%d: %s, batch %d, %d groups of %d to %d%s%s%s%s", (int)number, names[p->kind],
        (int)p->batch, (int)p->groups, (int)p->inputs, (int)p->outputs, p->decomposed ? ", for chips" : "",
        p->constant_weight ? ", constant" : "", p->bias ? ", bias" : "", p->same ? ", same" : "");
    for (int i = 0; i < p->axes; i++)
        at += (size_t)snprintf(p->text + at, sizeof p->text - at, "; in %d kernel %d stride %d dilation %d pad %d %d",
                               (int)p->in[i], (int)p->kernel[i], (int)p->stride[i], (int)p->dilation[i],
                               (int)p->pad[2 * i], (int)p->pad[2 * i + 1]);
}

/* ---- the graph ---- */

typedef struct built {
    mw_graph *graph;
    mw_tensor *leaf[3], *y, *dx[3], *sum;
    size_t count; /* of leaves */
} built;

static mw_tensor *random_constant(problem *p, mw_graph *graph, mw_shape shape)
{
    static float values[ELEMENTS];
    for (int64_t i = 0; i < mw_shape_count(shape); i++)
        values[i] = mw__random_uniform(&p->random) - 0.5F;
    return mw_constant(graph, MW_F32, shape, values);
}

static mw_shape with_spatial(const problem *p, int64_t a, int64_t b, const int64_t *extents)
{
    mw_shape shape = {.rank = p->axes + 2, .dim = {a, b}};
    for (int i = 0; i < p->axes; i++)
        shape.dim[2 + i] = extents[i];
    return shape;
}

static mw_tensor *convolve(problem *p, built *b)
{
    mw_conv_options o = mw_conv_defaults();
    o.groups = p->groups;
    o.pad_type = p->same ? MW_PAD_SAME : MW_PAD_CUSTOM;
    for (int i = 0; i < p->axes; i++)
        o.stride[i] = p->stride[i], o.dilation[i] = p->dilation[i];
    for (int i = 0; i < 2 * p->axes; i++)
        o.pad[i] = p->pad[i];
    const bool transposed = p->kind == TRANSPOSE;
    const mw_shape shape = with_spatial(p, p->groups * (transposed ? p->inputs : p->outputs),
                                        transposed ? p->outputs : p->inputs, p->kernel);
    mw_tensor *weight = p->constant_weight ? random_constant(p, b->graph, shape)
                                           : (b->leaf[b->count++] = mw_input(b->graph, "w", MW_F32, shape));
    mw_tensor *bias = p->bias ? random_constant(p, b->graph, MW_SHAPE(p->groups * p->outputs)) : NULL;
    return transposed ? mw_conv_transpose(b->leaf[0], weight, bias, &o) : mw_conv(b->leaf[0], weight, bias, &o);
}

static mw_tensor *pool(const problem *p, const built *b)
{
    mw_shape kernel = {.rank = p->axes};
    for (int i = 0; i < p->axes; i++)
        kernel.dim[i] = p->kernel[i];
    mw_pool_options o = mw_pool_defaults(kernel);
    o.pad_type = p->same ? MW_PAD_SAME : MW_PAD_CUSTOM;
    o.exclude_padding = p->kind == AVERAGE && p->bias;
    for (int i = 0; i < p->axes; i++)
        o.stride[i] = p->stride[i];
    for (int i = 0; i < 2 * p->axes; i++)
        o.pad[i] = p->pad[i];
    return p->kind == MAX       ? mw_max_pool(b->leaf[0], &o)
           : p->kind == AVERAGE ? mw_avg_pool(b->leaf[0], &o)
                                : mw_l2_pool(b->leaf[0], &o);
}

/* False if the shape rule refuses the case. */
static bool build(problem *p, built *b)
{
    *b = (built){.graph = mw_graph_create(NULL, NULL)};
    b->graph->lowering = p->decomposed ? MW__LOWERING_DECOMPOSED : MW__LOWERING_NATIVE;
    b->leaf[b->count++] = mw_input(b->graph, "x", MW_F32, with_spatial(p, p->batch, p->groups * p->inputs, p->in));
    b->y = p->kind <= TRANSPOSE ? convolve(p, b) : pool(p, b);
    return mw_graph_check(b->graph, NULL) == MW_OK && mw_shape_count(mw_tensor_shape(b->y)) > 0;
}

static bool differentiate(problem *p, built *b)
{
    static const char *const outputs[3] = {"dx0", "dx1", "dx2"};
    mw_error err = {0};
    mw_tensor *u = random_constant(p, b->graph, mw_tensor_shape(b->y));
    b->sum = mw_reduce_sum(mw_mul(u, b->y), MW_ALL_AXES, false);
    mw_grad(b->sum, b->leaf, b->count, b->dx, &err);
    for (size_t i = 0; i < b->count; i++)
        mw_output(mw_identity(b->dx[i]), outputs[i]);
    mw_output(mw_identity(b->y), "y");
    mw_graph_check(b->graph, &err);
    return check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", p->text, err.message);
}

/* ---- the engine against the oracle ---- */

static void compare(const problem *p, mw_program *program, const char *name, const mw_tensor *of, const oracle *o)
{
    static float got[ELEMENTS];
    mw_error err = {0};
    double worst = 0.0;
    const int64_t count = oracle_count(of);
    mw_program_read(program, name, MW_F32, got, (size_t)count, &err);
    for (int64_t i = 0; i < count; i++) {
        const double wanted = oracle_get(o, of)[i], apart = fabs((double)got[i] - wanted) / (1.0 + fabs(wanted));
        worst = apart <= worst ? worst : isnan(apart) ? INFINITY : apart;
    }
    check_note(err.status == MW_OK && worst <= 1e-4, __FILE__, __LINE__, "%s: %s is %g from the oracle %s", p->text,
               name, worst, err.message);
}

static void run_engine(const problem *p, const built *b, float (*data)[ELEMENTS], const oracle *o)
{
    static const char *const inputs[2] = {"x", "w"}, *const outputs[2] = {"dx0", "dx1"};
    mw_error err = {0};
    mw_program *program = engine_compile(b->graph, MW_DEVICE_CPU, 1, &err);
    for (size_t i = 0; i < b->count && program != NULL; i++)
        mw_program_write(program, inputs[i], MW_F32, data[i], (size_t)oracle_count(b->leaf[i]), &err);
    if (program != NULL)
        mw_program_run(program, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", p->text, err.message)) {
        compare(p, program, "y", b->y, o);
        for (size_t i = 0; i < b->count; i++)
            compare(p, program, outputs[i], b->dx[i], o);
    }
    mw_program_destroy(program);
}

/* The sum along a direction, by the gradient and by differences of the oracle. */
static void check_slope(problem *p, const built *b, float (*data)[ELEMENTS], oracle *o)
{
    static double moved[2][ELEMENTS], direction[ELEMENTS];
    const double h = 1e-6;
    double analytic = 0.0, ends[2];
    for (size_t i = 0; i < b->count; i++)
        for (int64_t k = 0; k < oracle_count(b->leaf[i]); k++) {
            direction[k] = (double)mw__random_uniform(&p->random) - 0.5;
            analytic += direction[k] * oracle_get(o, b->dx[i])[k];
            moved[i][k] = direction[k];
        }
    for (int sign = 0; sign < 2; sign++) {
        for (size_t i = 0; i < b->count; i++) {
            for (int64_t k = 0; k < oracle_count(b->leaf[i]); k++)
                direction[k] = (double)data[i][k] + (sign == 0 ? -h : h) * moved[i][k];
            oracle_set(o, b->leaf[i], direction);
        }
        ends[sign] = oracle_run(o) ? oracle_get(o, b->sum)[0] : NAN;
    }
    const double numeric = (ends[1] - ends[0]) / (2.0 * h);
    check_note(fabs(numeric - analytic) <= 1e-4 * (1.0 + fabs(numeric)), __FILE__, __LINE__,
               "%s: the slope is %.9g, by differences %.9g", p->text, analytic, numeric);
}

/* No two of them are nearer than 1 / PRIME, so that no difference takes another element for the largest. */
static float spaced(int64_t k)
{
    enum { PRIME = 65537 };
    return 0.25F + (float)(k * 40503 % PRIME) / (float)PRIME;
}

static bool check_problem(uint64_t number)
{
    static float data[2][ELEMENTS];
    static double wide[ELEMENTS];
    problem p;
    built b;
    draw_problem(&p, number);
    describe(&p, number);
    const bool admitted = build(&p, &b);
    if (admitted && differentiate(&p, &b)) {
        oracle o;
        oracle_init(&o, b.graph);
        for (size_t i = 0; i < b.count; i++) {
            for (int64_t k = 0; k < oracle_count(b.leaf[i]); k++)
                wide[k] = (double)(data[i][k] = spaced(k));
            oracle_set(&o, b.leaf[i], wide);
        }
        if (check_note(oracle_run(&o), __FILE__, __LINE__, "%s: the oracle does not know %s", p.text, o.missing)) {
            run_engine(&p, &b, data, &o);
            check_slope(&p, &b, data, &o);
        }
        oracle_deinit(&o);
    }
    mw_graph_destroy(b.graph);
    return admitted;
}

static void test_windows_at_the_edge_of_what_is_admitted(void)
{
    const char *nightly = getenv("MW_NIGHTLY");
    const uint64_t count = nightly != NULL && nightly[0] == '1' ? 20000 : 500;
    size_t admitted = 0;
    for (uint64_t i = 0; i < count; i++)
        admitted += check_problem(i) ? 1 : 0;
    CHECK(admitted > count / 3);
}

int main(void)
{
    RUN(test_windows_at_the_edge_of_what_is_admitted);
    return check_finish();
}
