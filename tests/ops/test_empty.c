/* Tensors with an extent of 0: every case of the table again, with each axis of each input empty in turn, alone and
 * together with those that have to agree with it. What the shape rule takes must run, with its gradient, on both
 * devices, fused and unfused, come back from text, and be right; what it refuses is refused by the user's operation. */
#include "slope.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { VARIANTS_MAX = 3 * OP_CASE_INPUTS * MW_RANK_MAX };

/* ---- which axes are empty ---- */

static bool same_shapes(const op_case *a, const op_case *b)
{
    for (int i = 0; i < OP_CASE_INPUTS; i++)
        if (!mw_shape_equal(a->in[i].shape, b->in[i].shape))
            return false;
    return true;
}

static void add_variant(op_case *variants, size_t *count, const op_case *variant)
{
    for (size_t i = 0; i < *count; i++)
        if (same_shapes(&variants[i], variant))
            return;
    variants[(*count)++] = *variant;
}

/* Alone; with the axis of that number in every input; with all axes of the same extent. */
static size_t make_variants(const op_case *c, op_case *variants)
{
    size_t count = 0;
    for (int i = 0; i < OP_CASE_INPUTS && c->in[i].dtype != MW_DTYPE_NONE; i++)
        for (int axis = 0; axis < c->in[i].shape.rank; axis++) {
            op_case alone = *c, beside = *c, equal = *c;
            alone.in[i].shape.dim[axis] = 0;
            for (int j = 0; j < OP_CASE_INPUTS && c->in[j].dtype != MW_DTYPE_NONE; j++) {
                if (axis < c->in[j].shape.rank)
                    beside.in[j].shape.dim[axis] = 0;
                for (int k = 0; k < c->in[j].shape.rank; k++)
                    if (c->in[j].shape.dim[k] == c->in[i].shape.dim[axis])
                        equal.in[j].shape.dim[k] = 0;
            }
            add_variant(variants, &count, &alone);
            add_variant(variants, &count, &beside);
            add_variant(variants, &count, &equal);
        }
    return count;
}

static const char *describe(const op_case *c, char *buffer, size_t size)
{
    char shape[100];
    size_t used = (size_t)snprintf(buffer, size, "%s (%s) of", c->name, c->detail);
    for (int i = 0; i < OP_CASE_INPUTS && c->in[i].dtype != MW_DTYPE_NONE && used < size; i++) {
        size_t rank = 0;
        shape[0] = '\0';
        for (int k = 0; k < c->in[i].shape.rank; k++)
            rank += (size_t)snprintf(shape + rank, sizeof shape - rank, "%s%lld", k > 0 ? "," : "",
                                     (long long)c->in[i].shape.dim[k]);
        used += (size_t)snprintf(buffer + used, size - used, " [%s]", shape);
    }
    return buffer;
}

/* ---- on the engine ---- */

enum { RESULTS = 1 + OP_CASE_INPUTS }; /* y and the gradient by each input */

typedef struct empty_case {
    slope_problem problem;
    const op_case *c;
    char name[400];
    mw_tensor *result[RESULTS];
    const double *exact[RESULTS];
    bool chip;             /* the ANE takes the case with elements */
    float *first[RESULTS]; /* what the first program gave, the fused one on the CPU */
    size_t count;
} empty_case;

/* Exact where sums of nothing are 0 and copies copies; elsewhere a few units of the type. */
static bool is_close(double value, double exact, bool half)
{
    return fabs(value - exact) <= (half ? 0.01 : 1e-5) * (1.0 + fabs(exact));
}

static void compare(empty_case *e, mw_program *program, const char *where, bool half)
{
    for (size_t i = 0; i < e->count; i++) {
        char port[8];
        mw_error err = {0};
        const size_t count = (size_t)oracle_count(e->result[i]);
        float *values = malloc((count + 1) * sizeof *values);
        snprintf(port, sizeof port, "r%zu", i);
        mw_program_read(program, port, MW_F32, values, count, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s, %s: %s", e->name, where, err.message);
        for (size_t k = 0; k < count; k++)
            if (!check_note(is_close((double)values[k], e->exact[i][k], half), __FILE__, __LINE__,
                            "%s, %s: element %zu of %s %zu is %g, not %g", e->name, where, k,
                            i == 0 ? "result" : "gradient", i, (double)values[k], e->exact[i][k]))
                break;
        if (e->first[i] == NULL) {
            e->first[i] = values;
            continue;
        }
        check_note(half || memcmp(values, e->first[i], count * sizeof *values) == 0, __FILE__, __LINE__,
                   "%s, %s: other bits than fused", e->name, where);
        free(values);
    }
}

static mw_status feed(mw_program *program, const op_instance *instance, mw_error *err)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        for (size_t k = 0; k < instance->count; k++)
            if (strcmp(port.name, mw_tensor_name(instance->in[k])) == 0)
                MW_TRY(mw_program_write(program, port.name, MW_F64, instance->data[k],
                                        (size_t)oracle_count(instance->in[k]), err));
    return MW_OK;
}

static mw_program *compile(const mw_graph *graph, mw_device device, mw_error *err)
{
    return engine_compile(graph, device, 0, err);
}

static void run_on(empty_case *e, mw_device device, const char *where)
{
    const bool half = device == MW_DEVICE_ANE;
    mw_error err = {0};
    mw_program *program = compile(e->problem.instance.graph, device, &err);
    if (program == NULL && half && err.status == MW_ERROR_UNSUPPORTED)
        return; /* chips have rules of their own */
    if (program != NULL && feed(program, &e->problem.instance, &err) == MW_OK)
        mw_program_run(program, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s, %s: %s", e->name, where, err.message))
        compare(e, program, where, half);
    mw_program_destroy(program);
}

static void check_text(const empty_case *e)
{
    mw_error err = {0};
    char *text = mw_graph_print_mil(e->problem.instance.graph, NULL, &err);
    mw_graph *parsed = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err) : NULL;
    char *again = parsed != NULL ? mw_graph_print_mil(parsed, NULL, &err) : NULL;
    if (parsed != NULL)
        mw_graph_verify(parsed, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s\n%s", e->name, err.message, text != NULL ? text : "");
    check_note(err.status != MW_OK || strcmp(text, again) == 0, __FILE__, __LINE__, "%s: other text when read back",
               e->name);
    mw_string_free(again);
    mw_graph_destroy(parsed);
    mw_string_free(text);
}

/* ---- one variant ---- */

/* What a builder of the cases makes besides the operation that it is named for. */
static bool builds_too(const char *name, const char *operation)
{
    static const char *const also[][2] = {{"one_hot", "mul"},
                                          {"slice_update", "add"},
                                          {"non_zero", "add"},
                                          {"random_bernoulli", "mul"},
                                          {"range_1d", "mul"},
                                          {"fill", "add"},
                                          {"conv", "conv_transpose"},
                                          {"gather", "reshape"},
                                          {"dequantize", "mul"},
                                          {"make_list", "list_read"},
                                          {"list_gather", "list_scatter"},
                                          {"list_read", "list_scatter"},
                                          {"list_write", "list_scatter"},
                                          {"list_length", "list_scatter"},
                                          {"cond", "squeeze"},
                                          {"while_loop", "squeeze"}};
    if (strncmp(name, "constexpr_", 10) == 0) /* times the input */
        return strncmp(operation, "mul", 3) == 0;
    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        if (strcmp(also[i][0], name) == 0 && strncmp(also[i][1], operation, strlen(also[i][1])) == 0)
            return true;
    return false;
}

static void check_refusal(const empty_case *e, const mw_error *err)
{
    const size_t length = strlen(e->c->name);
    const bool named = strncmp(err->message, e->c->name, length) == 0 && strchr(": ", err->message[length]) != NULL;
    check_note(named || builds_too(e->c->name, err->message), __FILE__, __LINE__,
               "%s: what is refused is not what the user wrote: %s", e->name, err->message);
}

/* Of the sum of the gradients. */
static void check_second(const empty_case *e, mw_tensor *const *dx)
{
    const slope_problem *p = &e->problem;
    mw_error err = {0};
    mw_tensor *ddx[OP_CASE_INPUTS], *sum = slope_weighted_sum(dx[0], 17);
    for (size_t i = 1; i < p->count; i++)
        sum = mw_add(sum, slope_weighted_sum(dx[i], 17 + i));
    mw_grad(sum, p->x, p->count, ddx, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", e->name, err.message))
        slope_check(e->c, p, sum, ddx, "second");
}

static void check_gradient(empty_case *e)
{
    slope_problem *p = &e->problem;
    mw_error err = {0};
    mw_tensor *dx[OP_CASE_INPUTS];
    mw_grad(p->value, p->x, p->count, dx, &err);
    if (!check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", e->name, err.message))
        return;
    for (size_t i = 0; i < p->count; i++) {
        check_note(mw_shape_equal(mw_tensor_shape(dx[i]), mw_tensor_shape(p->x[i])), __FILE__, __LINE__,
                   "%s: gradient %zu has another shape", e->name, i);
        e->result[e->count++] = dx[i];
    }
    slope_check(e->c, p, p->value, dx, "first");
    check_second(e, dx);
}

static void check_programs(empty_case *e)
{
    oracle o;
    op_instance *instance = &e->problem.instance;
    for (size_t i = 0; i < e->count; i++) {
        char port[8];
        snprintf(port, sizeof port, "r%zu", i);
        e->result[i] = mw_output(e->result[i], port);
    }
    oracle_init(&o, instance->graph);
    op_instance_feed(instance, &o);
    if (check_note(oracle_run(&o), __FILE__, __LINE__, "the oracle does not know %s", o.missing)) {
        for (size_t i = 0; i < e->count; i++)
            e->exact[i] = oracle_get(&o, e->result[i]);
        run_on(e, MW_DEVICE_CPU, "fused");
        setting_begin("MW_ENGINE_FUSE", "0");
        run_on(e, MW_DEVICE_CPU, "unfused");
        setting_end("MW_ENGINE_FUSE");
        if (e->chip)
            run_on(e, MW_DEVICE_ANE, "ANE");
        check_text(e);
    }
    oracle_deinit(&o);
    for (size_t i = 0; i < e->count; i++)
        free(e->first[i]);
}

/* With the gradients in one of the two forms. */
static void check_variant(const op_case *c, mw__lowering lowering, bool chip)
{
    empty_case e = {.c = c, .chip = chip};
    mw_error err = {0};
    describe(c, e.name, sizeof e.name);
    const bool differentiable = slope_init(&e.problem, c);
    mw_graph *graph = e.problem.instance.graph;
    if (mw_graph_check(graph, &err) != MW_OK) {
        check_refusal(&e, &err);
    } else if (e.problem.instance.y != NULL) {
        graph->lowering = lowering;
        e.result[e.count++] = e.problem.instance.y;
        if (differentiable)
            check_gradient(&e);
        check_programs(&e);
    }
    slope_deinit(&e.problem);
}

static bool runs_on_chip(const op_case *c)
{
    op_instance instance;
    mw_error err = {0};
    mw_program *program = NULL;
    if (op_instance_init(&instance, c, MW_F32, 1)) {
        mw_output(instance.y, "y");
        program = compile(instance.graph, MW_DEVICE_ANE, &err);
    }
    mw_program_destroy(program);
    op_instance_deinit(&instance);
    return program != NULL;
}

/* Of one operation alone if MW_TEST_OPERATION names it. */
static void test_every_case_with_empty_axes(void)
{
    const op_case *c;
    const char *only = getenv("MW_TEST_OPERATION");
    static op_case variants[VARIANTS_MAX];
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        const size_t count = only == NULL || strcmp(only, c->name) == 0 ? make_variants(c, variants) : 0;
        const bool chip = count > 0 && runs_on_chip(c);
        for (size_t v = 0; v < count; v++) {
            check_variant(&variants[v], MW__LOWERING_NATIVE, chip);
            check_variant(&variants[v], MW__LOWERING_DECOMPOSED, chip);
        }
    }
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_every_case_with_empty_axes);
    return check_finish();
}
