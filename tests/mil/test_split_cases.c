/* Every case of the operation table, and its gradient, with its longest axis cut in two: the same numbers. */
#include "mil/legalize/split.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"
#include <millwright/millwright.h>
#include <stdlib.h>

/* Operations that must have been met on a long axis. */
static const char *const ruled[] = {
    "add",
    "sub",
    "mul",
    "real_div",
    "floor_div",
    "mod",
    "maximum",
    "minimum",
    "pow",
    "abs",
    "sign",
    "square",
    "sqrt",
    "rsqrt",
    "inverse",
    "exp",
    "log",
    "erf",
    "tanh",
    "exp2",
    "floor",
    "ceil",
    "round",
    "sin",
    "cos",
    "threshold",
    "clip",
    "cast",
    "relu",
    "sigmoid",
    "silu",
    "gelu",
    "relu6",
    "leaky_relu",
    "clamped_relu",
    "thresholded_relu",
    "elu",
    "softplus",
    "softsign",
    "scaled_tanh",
    "sigmoid_hard",
    "linear_activation",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "select",
    "identity",
    "matmul",
    "reduce_sum",
    "reduce_mean",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_sum_square",
    "reduce_l1_norm",
    "reduce_l2_norm",
    "reduce_log_sum_exp",
    "softmax",
    "transpose",
    "reshape",
    "expand_dims",
    "squeeze",
    "concat",
    "tile",
    "slice_by_index",
    "linear",
    "gather",
    "one_hot",
    "scatter",
    "gather_along_axis",
};
enum { RULED = sizeof ruled / sizeof ruled[0], OUTPUTS = 1 + OP_CASE_INPUTS };

static bool met[RULED];

static void meet(const char *name)
{
    for (int i = 0; i < RULED; i++)
        met[i] = met[i] || strcmp(ruled[i], name) == 0;
}

static int64_t longest(const mw_graph *graph)
{
    int64_t most = 0;
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw_shape shape = mw_tensor_shape(graph->values[i]);
        for (int k = 0; k < shape.rank; k++)
            most = shape.dim[k] > most ? shape.dim[k] : most;
    }
    return most;
}

/* ---- running ---- */

typedef struct results {
    float *data[OUTPUTS];
    size_t count[OUTPUTS];
} results;

static void release(results *r)
{
    for (int i = 0; i < OUTPUTS; i++)
        free(r->data[i]);
}

static void read_outputs(mw_program *program, results *out, mw_error *err)
{
    mw_port port;
    size_t next = 0;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        if (!port.is_output)
            continue;
        out->count[next] = (size_t)mw_shape_count(port.shape);
        out->data[next] = calloc(out->count[next] + 1, sizeof(float));
        mw_program_read(program, port.name, MW_F32, out->data[next], out->count[next], err);
        next++;
    }
}

static bool run(const mw_graph *graph, const op_instance *instance, results *out)
{
    static const char *const names[OP_CASE_INPUTS] = {"a", "b", "c", "d"};
    mw_error err = {0};
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 0, &err);
    for (size_t i = 0; program != NULL && i < instance->count; i++)
        mw_program_write(program, names[i], MW_F64, instance->data[i], (size_t)oracle_count(instance->in[i]), &err);
    mw_program_run(program, &err);
    if (program != NULL)
        read_outputs(program, out, &err);
    mw_program_destroy(program);
    return CHECK_OK(err);
}

/* ---- cases ---- */

/* y, and its gradients where there are any: "y", "d0" .. */
static void add_outputs(op_instance *instance)
{
    mw_tensor *x[OP_CASE_INPUTS], *dx[OP_CASE_INPUTS] = {NULL};
    size_t count = 0;
    mw_error err = {0};
    for (size_t i = 0; i < instance->count; i++)
        if (mw_tensor_dtype(instance->in[i]) == MW_F32)
            x[count++] = instance->in[i];
    mw_tensor *ones = mw_tensor_dtype(instance->y) == MW_F32
                          ? mw_fill(instance->graph, MW_F32, mw_tensor_shape(instance->y), 1.0)
                          : NULL;
    if (ones != NULL && count > 0)
        mw_vjp(&instance->y, &ones, 1, x, count, dx, &err);
    mw_output(instance->y, "y");
    for (size_t i = 0; err.status == MW_OK && i < count && dx[i] != NULL; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%zu", i);
        mw_output(dx[i], name);
    }
}

static bool is_near(float a, float b)
{
    const double gap = fabs((double)a - (double)b);
    return a == b || (isnan(a) && isnan(b)) || gap <= 2e-5 * fabs((double)a) + 2e-6;
}

static void compare(const op_case *c, const results *whole, const results *parts)
{
    for (int i = 0; i < OUTPUTS; i++) {
        size_t wrong = 0;
        check_note(whole->count[i] == parts->count[i], __FILE__, __LINE__, "%s (%s): output %d", c->name, c->detail, i);
        for (size_t k = 0; k < whole->count[i] && whole->count[i] == parts->count[i]; k++)
            wrong += !is_near(whole->data[i][k], parts->data[i][k]);
        check_note(wrong == 0, __FILE__, __LINE__, "%s (%s): %d elements of output %d differ", c->name, c->detail,
                   (int)wrong, i);
    }
}

/* ---- cases of our own: where those of the table have no axis that is the longest ---- */

static mw_tensor *as_numbers(mw_tensor *hit, mw_tensor *x) { return mw_select(hit, mw_exp(x), mw_square(x)); }

static mw_tensor *not_equal(mw_tensor *const *in) { return as_numbers(mw_not_equal(in[0], in[1]), in[0]); }

static mw_tensor *less_equal(mw_tensor *const *in) { return as_numbers(mw_less_equal(in[0], in[1]), in[0]); }

static mw_tensor *greater_equal(mw_tensor *const *in) { return as_numbers(mw_greater_equal(in[0], in[1]), in[0]); }

static mw_tensor *joined(mw_tensor *const *in) { return mw_concat(in, 2, 0); }

static mw_tensor *repeated(mw_tensor *const *in) { return mw_tile(in[0], MW_SHAPE(2, 1)); }

static mw_tensor *reshaped(mw_tensor *const *in) { return mw_reshape(mw_exp(in[0]), MW_SHAPE(1, 3, 1, 7)); }

static mw_tensor *sliced(mw_tensor *const *in)
{
    return mw_slice_by_index(mw_exp(in[0]),
                             (mw_slice[]){{.begin = 1, .squeeze = true}, {.from_start = true, .to_end = true}});
}

static mw_tensor *given_out(mw_tensor *const *in)
{
    float weight[14], bias[7];
    for (int i = 0; i < 14; i++)
        weight[i] = bias[i / 2] = (float)(i % 5) - 2.0f;
    mw_graph *graph = mw_tensor_graph(in[0]);
    return mw_linear(in[0], mw_constant(graph, MW_F32, MW_SHAPE(7, 2), weight),
                     mw_constant(graph, MW_F32, MW_SHAPE(7), bias));
}

#define MATRIX                                                                                                         \
    {                                                                                                                  \
        MW_F32, {2, {3, 7}}, -1, 1                                                                                     \
    }

static const op_case own_cases[] = {
    {.name = "not_equal", .detail = "own", .build = not_equal, .in = {MATRIX, MATRIX}},
    {.name = "less_equal", .detail = "own", .build = less_equal, .in = {MATRIX, MATRIX}},
    {.name = "greater_equal", .detail = "own", .build = greater_equal, .in = {MATRIX, MATRIX}},
    {.name = "concat", .detail = "own", .build = joined, .in = {MATRIX, MATRIX}},
    {.name = "tile", .detail = "own", .build = repeated, .in = {MATRIX, MATRIX}},
    {.name = "reshape", .detail = "own", .build = reshaped, .in = {MATRIX, MATRIX}},
    {.name = "slice_by_index", .detail = "own", .build = sliced, .in = {MATRIX, MATRIX}},
    {.name = "linear", .detail = "own", .build = given_out, .in = {{MW_F32, {2, {3, 2}}, -1, 1}}},
};

static const op_case *case_at(size_t index)
{
    const size_t own = sizeof own_cases / sizeof own_cases[0];
    return index < own ? &own_cases[index] : op_case_at(index - own);
}

/* True if it was cut. */
static bool check_case(const op_case *c)
{
    op_instance instance;
    bool any = false;
    mw_error err = {0};
    if (!op_instance_init(&instance, c, MW_F32, 5) || mw_shape_count(mw_tensor_shape(instance.y)) < 0) {
        op_instance_deinit(&instance);
        return false;
    }
    add_outputs(&instance);
    mw_graph_options options = mw_graph_defaults();
    options.opset = mw__graph_main(instance.graph)->opset;
    mw_graph *to = mw_graph_create(&options, NULL);
    const int64_t most = longest(instance.graph);
    if (most > 1)
        mw__mil_split(instance.graph, to, &(mw__split_options){.axis_max = most - 1}, &any, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message);
    if (any && err.status == MW_OK) {
        results whole = {0}, parts = {0};
        if (run(instance.graph, &instance, &whole) && run(to, &instance, &parts))
            compare(c, &whole, &parts);
        release(&whole);
        release(&parts);
    }
    mw_graph_destroy(to);
    op_instance_deinit(&instance);
    return any;
}

static void test_an_axis_may_be_cut_under_every_operation_with_a_rule(void)
{
    const op_case *c;
    int cut = 0;
    for (size_t i = 0; (c = case_at(i)) != NULL; i++)
        if (check_case(c)) {
            meet(c->name);
            cut++;
        }
    printf("%d cases were cut\n", cut);
    for (int i = 0; i < RULED; i++)
        check_note(met[i], __FILE__, __LINE__, "no case of %s was cut", ruled[i]);
}

int main(void)
{
    RUN(test_an_axis_may_be_cut_under_every_operation_with_a_rule);
    return check_finish();
}
