/* The two forms of attention: both give one value and one gradient, evaluated in double; graphs of older opsets have
 * the composed form; a row without any key is NaN in both on the engine. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { B = 2, L = 3, S = 4, E = 5, V = 2, INPUTS = 4 };

typedef struct attention {
    mw_graph *graph;
    mw_tensor *in[INPUTS]; /* query, key, value, mask */
    mw_tensor *y, *dx[INPUTS];
    size_t count; /* inputs with a gradient */
} attention;

static attention make(mw_opset opset, mw__lowering lowering, bool boolean)
{
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    attention a = {.graph = mw_graph_create(&options, NULL), .count = boolean ? 3 : 4};
    a.graph->lowering = lowering;
    a.in[0] = mw_input(a.graph, "q", MW_F32, MW_SHAPE(B, L, E));
    a.in[1] = mw_input(a.graph, "k", MW_F32, MW_SHAPE(B, S, E));
    a.in[2] = mw_input(a.graph, "v", MW_F32, MW_SHAPE(B, S, V));
    a.in[3] = mw_input(a.graph, "m", boolean ? MW_BOOL : MW_F32, MW_SHAPE(L, S));
    a.y = mw_scaled_dot_product_attention(a.in[0], a.in[1], a.in[2], a.in[3]);
    mw_error err = {0};
    mw_grad(mw_reduce_sum(mw_square(a.y), MW_ALL_AXES, false), a.in, a.count, a.dx, &err);
    CHECK_OK(err);
    return a;
}

static bool evaluate(const attention *a, bool boolean, oracle *o)
{
    oracle_init(o, a->graph);
    for (size_t i = 0; i < INPUTS; i++) {
        double data[64];
        for (int64_t k = 0; k < oracle_count(a->in[i]); k++)
            data[k] = i == 3 && boolean ? (double)((k % S + k / S) % 3 != 1) : sin((double)(k + 1) * (1.3 + (double)i));
        oracle_set(o, a->in[i], data);
    }
    return check_note(oracle_run(o), __FILE__, __LINE__, "the oracle does not know %s", o->missing);
}

static bool has(const mw_graph *graph, const char *kind)
{
    bool found = false;
    for (size_t i = 0; i < graph->current->body->op_count; i++)
        found = found || strcmp(graph->current->body->ops[i]->kind, kind) == 0;
    return found;
}

static void same(const oracle *a, const mw_tensor *x, const oracle *b, const mw_tensor *y)
{
    for (int64_t i = 0; i < oracle_count(x); i++)
        CHECK_NEAR(oracle_get(a, x)[i], oracle_get(b, y)[i],
                   1e-6); /* 1 / sqrt(E) is an fp32 constant in one lowering */
}

static void compare_forms(mw_opset opset, bool boolean)
{
    attention compact = make(MW_IOS18, MW__LOWERING_NATIVE, boolean),
              chip = make(opset, MW__LOWERING_DECOMPOSED, boolean);
    oracle a, b;
    CHECK(has(compact.graph, "scaled_dot_product_attention"));
    CHECK(!has(chip.graph, "scaled_dot_product_attention") && has(chip.graph, "softmax"));
    const bool first = evaluate(&compact, boolean, &a), second = evaluate(&chip, boolean, &b);
    if (first && second) {
        same(&a, compact.y, &b, chip.y);
        for (size_t i = 0; i < compact.count; i++)
            same(&a, compact.dx[i], &b, chip.dx[i]);
    }
    oracle_deinit(&a);
    oracle_deinit(&b);
    mw_graph_destroy(compact.graph);
    mw_graph_destroy(chip.graph);
}

static void test_both_forms_give_one_gradient(void) { compare_forms(MW_IOS18, false); }

static void test_both_forms_give_one_gradient_under_a_boolean_mask(void) { compare_forms(MW_IOS18, true); }

static void test_older_opsets_compose(void)
{
    attention a = make(MW_IOS17, MW__LOWERING_NATIVE, true);
    CHECK(!has(a.graph, "scaled_dot_product_attention"));
    mw_graph_destroy(a.graph);
    compare_forms(MW_IOS15, false);
}

/* ---- rows without a key ---- */

static void check_masked_rows(mw_opset opset)
{
    static const float x[B * S * E] = {1.0f, 2.0f, -1.0f};
    static const uint8_t mask[L * S] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1}; /* row 1 sees nothing */
    mw_error err = {0};
    attention a = make(opset, MW__LOWERING_NATIVE, true);
    mw_output(a.y, "y");
    mw_program *program = engine_compile(a.graph, MW_DEVICE_CPU, 1, &err);
    mw_program_write(program, "q", MW_F32, x, B * L * E, &err);
    mw_program_write(program, "k", MW_F32, x, B * S * E, &err);
    mw_program_write(program, "v", MW_F32, x, B * S * V, &err);
    mw_program_write(program, "m", MW_BOOL, mask, L * S, &err);
    mw_program_run(program, &err);
    const float *y = mw_program_view(program, "y", &err);
    CHECK_OK(err);
    for (int i = 0; y != NULL && i < B * L * V; i++)
        CHECK_INT(isnan(y[i]), i / V % L == 1);
    mw_program_destroy(program);
    mw_graph_destroy(a.graph);
}

static void test_row_without_a_key_is_nan(void)
{
    check_masked_rows(MW_IOS18);
    check_masked_rows(MW_IOS17);
}

int main(void)
{
    RUN(test_both_forms_give_one_gradient);
    RUN(test_both_forms_give_one_gradient_under_a_boolean_mask);
    RUN(test_older_opsets_compose);
    RUN(test_row_without_a_key_is_nan);
    return check_finish();
}
