/* The embedding pattern: both forms give the gradient that plain loops give, none has in it what its side refuses, and
 * the layer trains its table. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>
#include <string.h>

enum { V = 5, D = 3, J = 7 };

static const double tokens_at[J] = {3, 0, 3, 4, -1, 9, 3}; /* two are outside */

/* dw[v, d] = sum of dy[j, d] over the tokens j that are v, with dy[j, d] = j + 10 d. */
static double expected(int v, int d)
{
    double sum = 0.0;
    for (int j = 0; j < J; j++)
        sum += tokens_at[j] == (double)v ? j + 10.0 * d : 0.0;
    return sum;
}

static bool has_operation(const mw_graph *graph, const char *kind)
{
    const mw__block *body = graph->current->body;
    for (size_t i = 0; i < body->op_count; i++)
        if (strcmp(body->ops[i]->kind, kind) == 0)
            return true;
    return false;
}

typedef mw_tensor *taking(mw_tensor *table, mw_tensor *tokens);

static mw_tensor *rows(mw_tensor *table, mw_tensor *tokens) { return mw_gather(table, tokens, 0); }

static mw_tensor *rows_in_a_batch(mw_tensor *table, mw_tensor *tokens)
{
    mw_graph *graph = mw_tensor_graph(table);
    mw_tensor *x = mw_reshape(table, MW_SHAPE(1, V, D)), *indices = mw_reshape(tokens, MW_SHAPE(1, J));
    mw_tensor *two[2] = {x, x}, *both[2] = {indices, indices}, *y = NULL, *part[2];
    mw_tensor *xs = mw_concat(two, 2, 0), *is = mw_concat(both, 2, 0);
    mw_tensor *axis = mw_scalar(graph, MW_I32, 1), *batch = mw_scalar(graph, MW_I32, 1);
    const mw_argument arguments[] = {{"axis", &axis, 1}, {"batch_dims", &batch, 1}, {"indices", &is, 1}, {"x", &xs, 1}};
    mw_op(graph, "gather", arguments, 4, &y, 1, NULL);
    if (y == NULL || mw_split(y, 2, 0, part) != MW_OK)
        return NULL;
    return mw_reshape(mw_mul_scalar(mw_add(part[0], part[1]), 0.5), MW_SHAPE(J, D));
}

static mw_tensor *elements(mw_tensor *table, mw_tensor *tokens)
{
    mw_tensor *column = mw_reshape(tokens, MW_SHAPE(J, 1));
    return mw_gather_along_axis(table, mw_tile(column, MW_SHAPE(1, D)), 0);
}

static void check_form(mw__lowering lowering, taking *take)
{
    double table_at[V * D] = {0}, dy_at[J * D];
    for (int i = 0; i < J * D; i++)
        dy_at[i] = i / D + 10.0 * (i % D);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    graph->lowering = lowering;
    mw_tensor *table = mw_input(graph, "table", MW_F32, MW_SHAPE(V, D)), *dx = NULL;
    mw_tensor *tokens = mw_input(graph, "tokens", MW_I32, MW_SHAPE(J));
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, MW_SHAPE(J, D)), *y = take(table, tokens);
    mw_backward(&(mw_pullback){.roots = &y, .seeds = &dy, .root_count = 1}, &table, 1, &dx, &err);
    CHECK_OK(err);
    oracle o;
    oracle_init(&o, graph);
    oracle_set(&o, table, table_at);
    oracle_set(&o, tokens, tokens_at);
    oracle_set(&o, dy, dy_at);
    if (dx != NULL && CHECK(oracle_run(&o)))
        for (int i = 0; i < V * D; i++)
            CHECK_NEAR(oracle_get(&o, dx)[i], expected(i / D, i % D), 1e-12);
    const bool scatters = has_operation(graph, "scatter") || has_operation(graph, "scatter_along_axis");
    CHECK(scatters == (lowering == MW__LOWERING_NATIVE));
    oracle_deinit(&o);
    mw_graph_destroy(graph);
}

static void test_both_forms_give_the_same_gradient(void)
{
    taking *const all[] = {rows, rows_in_a_batch, elements};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        check_form(MW__LOWERING_NATIVE, all[i]);
        check_form(MW__LOWERING_DECOMPOSED, all[i]);
    }
}

static mw_trainer *make_trainer(mw_graph *graph, mw_error *err)
{
    mw_tensor *tokens = mw_input(graph, "tokens", MW_I32, MW_SHAPE(J));
    mw_tensor *wanted = mw_input(graph, "wanted", MW_F32, MW_SHAPE(J, D));
    mw_tensor *loss = mw_mse(mw_embedding(tokens, V, D, "tokens"), wanted);
    return engine_trainer(loss, mw_sgd(0.5f), MW_DEVICE_CPU, 0, err);
}

static float step(mw_trainer *trainer, const int32_t *tokens, mw_error *err)
{
    const float wanted[J * D] = {0};
    const mw_feed feeds[] = {{.name = "tokens", .dtype = MW_I32, .data = tokens, .count = J},
                             {.name = "wanted", .dtype = MW_F32, .data = wanted, .count = (size_t)J * D}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2};
    float loss = NAN;
    mw_trainer_step(trainer, &batch, &loss, err);
    return loss;
}

static void test_the_layer_trains_and_checks_what_is_fed(void)
{
    static const int32_t good[J] = {3, 0, 3, 4, 1, 2, 3}, bad[J] = {3, 0, 5, 4, 1, 2, 3};
    mw_error err = {0}, refused = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer *trainer = make_trainer(graph, &err);
    CHECK_OK(err);
    if (trainer != NULL) {
        const float first = step(trainer, good, &err);
        float last = first;
        for (int i = 0; i < 50; i++)
            last = step(trainer, good, &err);
        CHECK_OK(err);
        CHECK(first > 0.0f && last < 0.5f * first);
        step(trainer, bad, &refused);
        CHECK(refused.status != MW_OK);
        CHECK_CONTAINS(refused.message, "tokens");
    }
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_both_forms_give_the_same_gradient);
    RUN(test_the_layer_trains_and_checks_what_is_fed);
    return check_finish();
}
