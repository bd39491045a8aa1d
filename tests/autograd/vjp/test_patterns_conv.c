/* The two forms of convolution and its gradients: equal values and equal gradients, which are those of the definition,
 * and no operation in the decomposed lowering that the ANE refuses. */
#include "support/check.h"
#include "support/oracles/oracle.h"

#include "base/number/random.h"
#include "graph/patterns/conv.h"
#include "mil/legalize/legalize.h"
#include <millwright/millwright.h>
#include <stdlib.h>

typedef struct setting {
    const char *what;
    int64_t batch, inputs, outputs; /* channels of a group */
    mw__conv conv;                  /* out is found from `after` */
    int64_t after[3];
} setting;

/* clang-format off */
static const setting settings[] = {
    {.what = "1-D", .batch = 2, .inputs = 3, .outputs = 2,
     .conv = {.axes = 1, .groups = 1, .kernel = {3}, .stride = {1}, .dilation = {1}, .in = {6}}},
    {.what = "1-D strides, pads, dilations", .batch = 2, .inputs = 2, .outputs = 3, .after = {2},
     .conv = {.axes = 1, .groups = 1, .kernel = {3}, .stride = {2}, .dilation = {2}, .before = {1}, .in = {8}}},
    {.what = "1-D groups", .batch = 2, .inputs = 2, .outputs = 1,
     .conv = {.axes = 1, .groups = 3, .kernel = {2}, .stride = {1}, .dilation = {1}, .before = {1}, .in = {4}}},
    {.what = "kernel of one", .batch = 2, .inputs = 3, .outputs = 2,
     .conv = {.axes = 2, .groups = 1, .kernel = {1, 1}, .stride = {2, 1}, .dilation = {1, 1}, .before = {0, 0},
              .in = {4, 3}}},
    {.what = "2-D", .batch = 3, .inputs = 2, .outputs = 2, .after = {1, 1},
     .conv = {.axes = 2, .groups = 1, .kernel = {3, 2}, .stride = {1, 1}, .dilation = {1, 1}, .before = {1, 0},
              .in = {4, 4}}},
    {.what = "2-D strides", .batch = 2, .inputs = 2, .outputs = 2, .after = {1, 0},
     .conv = {.axes = 2, .groups = 1, .kernel = {2, 3}, .stride = {3, 2}, .dilation = {1, 1}, .before = {0, 2},
              .in = {7, 6}}},
    {.what = "2-D dilations", .batch = 2, .inputs = 2, .outputs = 2, .after = {2, 1},
     .conv = {.axes = 2, .groups = 1, .kernel = {2, 3}, .stride = {1, 2}, .dilation = {3, 2}, .before = {1, 2},
              .in = {5, 6}}},
    {.what = "2-D depthwise", .batch = 2, .inputs = 1, .outputs = 2, .after = {0, 1},
     .conv = {.axes = 2, .groups = 3, .kernel = {2, 2}, .stride = {1, 2}, .dilation = {1, 1}, .before = {1, 1},
              .in = {4, 4}}},
    {.what = "2-D elements left over", .batch = 2, .inputs = 2, .outputs = 2,
     .conv = {.axes = 2, .groups = 1, .kernel = {2, 1}, .stride = {4, 3}, .dilation = {1, 1}, .before = {0, 0},
              .in = {9, 6}}},
    {.what = "2-D pads beyond the kernel", .batch = 1, .inputs = 2, .outputs = 2, .after = {1, 5},
     .conv = {.axes = 2, .groups = 1, .kernel = {2, 2}, .stride = {2, 1}, .dilation = {1, 1}, .before = {4, 0},
              .in = {3, 3}}},
    {.what = "3-D", .batch = 2, .inputs = 2, .outputs = 2, .after = {0, 0, 1},
     .conv = {.axes = 3, .groups = 1, .kernel = {2, 1, 2}, .stride = {1, 2, 1}, .dilation = {1, 1, 2},
              .before = {1, 0, 0},
              .in = {2, 3, 4}}},
    {.what = "3-D groups", .batch = 2, .inputs = 2, .outputs = 1, .after = {1, 0, 1},
     .conv = {.axes = 3, .groups = 2, .kernel = {1, 2, 2}, .stride = {2, 1, 1}, .dilation = {1, 2, 1},
              .before = {0, 1, 0},
              .in = {3, 3, 2}}},
    {.what = "2-D of more positions than an axis holds", .batch = 1, .inputs = 1, .outputs = 1, .after = {0, 1},
     .conv = {.axes = 2, .groups = 1, .kernel = {2, 2}, .stride = {1, 1}, .dilation = {1, 1}, .before = {1, 0},
              .in = {150, 130}}},
};
/* clang-format on */

/* The operands of a setting and what one form makes of them. */
typedef struct operands {
    mw_graph *graph;
    mw__conv conv;
    mw_tensor *x, *weight, *dy;
} operands;

typedef struct maps {
    mw_tensor *y, *dx, *dweight, *dbias;
} maps;

static mw_shape shape_of(int64_t a, int64_t b, const int64_t *spatial, int axes)
{
    mw_shape shape = {.rank = 2 + axes, .dim = {a, b}};
    for (int i = 0; i < axes; i++)
        shape.dim[2 + i] = spatial[i];
    return shape;
}

static operands make(const setting *s, mw_dtype dtype)
{
    operands o = {.graph = mw_graph_create(NULL, NULL), .conv = s->conv};
    mw__conv *c = &o.conv;
    for (int i = 0; i < c->axes; i++)
        c->out[i] = (c->in[i] + c->before[i] + s->after[i] - mw__conv_cover(c, i)) / c->stride[i] + 1;
    const int64_t in = s->inputs * c->groups, out = s->outputs * c->groups;
    o.x = mw_input(o.graph, "x", dtype, shape_of(s->batch, in, c->in, c->axes));
    o.weight = mw_input(o.graph, "weight", dtype, shape_of(out, s->inputs, c->kernel, c->axes));
    o.dy = mw_input(o.graph, "dy", dtype, shape_of(s->batch, out, c->out, c->axes));
    return o;
}

static maps write_form(operands *o, mw__lowering lowering)
{
    o->graph->lowering = lowering;
    maps m = {.y = mw__conv_y(&o->conv, o->x, o->weight)};
    m.dx = mw__conv_dx(&o->conv, o->dy, o->weight);
    m.dweight = mw__conv_dweight(&o->conv, o->x, o->dy);
    m.dbias = mw__conv_dbias(o->dy);
    return m;
}

static void feed(oracle *o, const mw_tensor *value, uint64_t stream)
{
    const int64_t count = oracle_count(value);
    double *data = malloc((size_t)(count + 1) * sizeof *data);
    mw__random random = {.seed = 9, .stream = stream};
    for (int64_t i = 0; i < count; i++)
        data[i] = (double)mw__random_uniform(&random) - 0.5;
    oracle_set(o, value, data);
    free(data);
}

static bool evaluate(const operands *o, oracle *out)
{
    oracle_init(out, o->graph);
    feed(out, o->x, 1);
    feed(out, o->weight, 2);
    feed(out, o->dy, 3);
    return check_note(oracle_run(out), __FILE__, __LINE__, "the oracle does not know %s", out->missing);
}

/* Doubles whose sums of up to 20,000 terms run in another order. */
static void check_equal(const oracle *o, const mw_tensor *a, const mw_tensor *b, const char *what, const char *map)
{
    if (!check_note(a != NULL && b != NULL && mw_shape_equal(mw_tensor_shape(a), mw_tensor_shape(b)), __FILE__,
                    __LINE__, "%s: the shapes of %s differ", what, map))
        return;
    for (int64_t i = 0; i < oracle_count(a); i++)
        if (!check_note(fabs(oracle_get(o, a)[i] - oracle_get(o, b)[i]) < 1e-12 * (1.0 + fabs(oracle_get(o, a)[i])),
                        __FILE__, __LINE__, "%s: %s[%lld] is %.15g in native lowering, %.15g in chip lowering", what,
                        map, (long long)i, oracle_get(o, a)[i], oracle_get(o, b)[i]))
            return;
}

static double dot(const oracle *o, const mw_tensor *a, const mw_tensor *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < oracle_count(a); i++)
        sum += oracle_get(o, a)[i] * oracle_get(o, b)[i];
    return sum;
}

/* y from the sum of its definition. */
static double defined_y(const oracle *o, const operands *in, const int64_t *p)
{
    const mw__conv *c = &in->conv;
    const mw_shape xs = mw_tensor_shape(in->x), ws = mw_tensor_shape(in->weight);
    double sum = 0.0;
    for (int64_t j = 0; j < mw_shape_count(ws); j++) {
        int64_t k[MW_RANK_MAX], at[MW_RANK_MAX];
        oracle_unravel(ws, j, k);
        bool inside = k[0] == p[1];
        at[0] = p[0];
        at[1] = p[1] / (ws.dim[0] / c->groups) * ws.dim[1] + k[1];
        for (int i = 0; i < c->axes; i++) {
            at[i + 2] = p[i + 2] * c->stride[i] + k[i + 2] * c->dilation[i] - c->before[i];
            inside = inside && at[i + 2] >= 0 && at[i + 2] < c->in[i];
        }
        if (inside)
            sum += oracle_get(o, in->x)[oracle_ravel(xs, at)] * oracle_get(o, in->weight)[j];
    }
    return sum;
}

static void test_forms_give_the_definition(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const setting *s = &settings[i];
        operands in = make(s, MW_F32);
        oracle o;
        maps a = write_form(&in, MW__LOWERING_NATIVE), b = write_form(&in, MW__LOWERING_DECOMPOSED);
        mw_error err = {0};
        check_note(mw_graph_check(in.graph, &err) == MW_OK, __FILE__, __LINE__, "%s: %s", s->what, err.message);
        if (err.status == MW_OK && evaluate(&in, &o)) {
            check_equal(&o, a.y, b.y, s->what, "y");
            check_equal(&o, a.dx, b.dx, s->what, "dx");
            check_equal(&o, a.dweight, b.dweight, s->what, "dweight");
            check_equal(&o, a.dbias, b.dbias, s->what, "dbias");
            for (int64_t e = 0; e < oracle_count(a.y); e++) {
                int64_t p[MW_RANK_MAX];
                oracle_unravel(mw_tensor_shape(a.y), e, p);
                CHECK_NEAR(oracle_get(&o, a.y)[e], defined_y(&o, &in, p), 1e-12);
            }
            /* one bilinear form: dy . y = dx . x = dweight . weight */
            CHECK_NEAR(dot(&o, in.x, a.dx), dot(&o, in.dy, a.y), 1e-11);
            CHECK_NEAR(dot(&o, in.weight, a.dweight), dot(&o, in.dy, a.y), 1e-11);
            oracle_deinit(&o);
        }
        mw_graph_destroy(in.graph);
    }
}

/* Gradients of sum(map * map) for each map of one form; six of them. */
static void differentiate(const operands *in, const maps *m, mw_tensor *out[6], mw_error *err)
{
    mw_tensor *const values[3] = {m->y, m->dx, m->dweight};
    mw_tensor *const sources[3][2] = {{in->x, in->weight}, {in->dy, in->weight}, {in->x, in->dy}};
    for (int i = 0; i < 3; i++) {
        mw_tensor *squares = mw_square(values[i]);
        mw_grad(mw_reduce_sum(squares, MW_ALL_AXES, false), sources[i], 2, out + 2 * i, err);
    }
}

static void test_forms_have_equal_gradients(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const setting *s = &settings[i];
        operands in = make(s, MW_F32);
        mw_error err = {0};
        mw_tensor *a[6] = {0}, *b[6] = {0};
        const maps compact = write_form(&in, MW__LOWERING_NATIVE);
        differentiate(&in, &compact, a, &err);
        const maps chip = write_form(&in, MW__LOWERING_DECOMPOSED);
        differentiate(&in, &chip, b, &err);
        oracle o;
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", s->what, err.message);
        if (err.status == MW_OK && evaluate(&in, &o)) {
            for (int k = 0; k < 6; k++)
                check_equal(&o, a[k], b[k], s->what, "a second derivative");
            oracle_deinit(&o);
        }
        mw_graph_destroy(in.graph);
    }
}

/* 16384 on the older chips: ANEForge, limits by chip. */
static void check_axes(const mw_graph *graph, const char *what)
{
    const mw__block *body = graph->current->body;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw_shape shape = mw_tensor_shape(body->ops[i]->results[0]);
        for (int k = 0; k < shape.rank; k++)
            check_note(shape.dim[k] <= 16384, __FILE__, __LINE__, "%s: axis %d of a %s has %lld elements", what, k,
                       body->ops[i]->kind, (long long)shape.dim[k]);
    }
}

/* Ports are fp16 and at most rank 5; the rows of rules see every operation. */
static void test_the_decomposed_form_is_legal_on_the_ane(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        operands in = make(&settings[i], MW_F16);
        const maps m = write_form(&in, MW__LOWERING_DECOMPOSED);
        mw_error err = {0};
        mw_output(m.y, "out.y");
        mw_output(m.dx, "out.dx");
        mw_output(m.dweight, "out.dweight");
        mw_output(m.dbias, "out.dbias");
        mw_graph_check(in.graph, &err);
        mw__mil_check_legal(in.graph, mw__device_find(MW_DEVICE_ANE), &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", settings[i].what, err.message);
        check_axes(in.graph, settings[i].what);
        mw_graph_destroy(in.graph);
    }
}

/* A computed weight cannot be dilated in MIL: the native lowering writes a conv without dilation. */
static void test_the_compact_form_verifies(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        operands in = make(&settings[i], MW_F32);
        write_form(&in, MW__LOWERING_NATIVE);
        mw_error err = {0};
        mw_graph_check(in.graph, &err);
        check_note(err.status == MW_OK && mw_graph_verify(in.graph, &err) == MW_OK, __FILE__, __LINE__, "%s: %s",
                   settings[i].what, err.message);
        mw_graph_destroy(in.graph);
    }
}

int main(void)
{
    RUN(test_forms_give_the_definition);
    RUN(test_forms_have_equal_gradients);
    RUN(test_the_decomposed_form_is_legal_on_the_ane);
    RUN(test_the_compact_form_verifies);
    return check_finish();
}
