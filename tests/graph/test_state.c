/* States in a graph: what is refused, what clones keep, how they are printed. */
#include "graph/transform/clone/clone.h"
#include "support/check.h"

#include <millwright/millwright.h>

static void check_refused(mw_graph *graph, mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK_INT(mw_graph_check(graph, &err), status);
    check_note(strstr(err.message, part) != NULL, __FILE__, __LINE__, "\"%s\" lacks \"%s\"", err.message, part);
    mw_graph_destroy(graph);
}

static mw_tensor *state_of(mw_graph *graph) { return mw_state(graph, "s", MW_F32, MW_SHAPE(2), mw_init_zeros()); }

static void test_bad_states_are_refused(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    CHECK(mw_state(g, "s", MW_I32, MW_SHAPE(2), mw_init_zeros()) == NULL);
    check_refused(g, MW_ERROR_DTYPE, "state \"s\": int32 cannot be kept");
    g = mw_graph_create(NULL, NULL);
    CHECK(mw_state(g, "s", MW_F32, MW_SHAPE(MW_DIM_UNKNOWN), mw_init_zeros()) == NULL);
    check_refused(g, MW_ERROR_SHAPE, "state \"s\": every extent must be known");
    g = mw_graph_create(NULL, NULL);
    state_of(g);
    CHECK(state_of(g) == NULL);
    check_refused(g, MW_ERROR_ARGUMENT, "\"s\" is taken");
}

static void test_bad_assignments_are_refused(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *p = mw_parameter(g, "p", MW_F32, MW_SHAPE(2), mw_init_zeros());
    CHECK(mw_state_assign(p, p) == NULL);
    check_refused(g, MW_ERROR_ARGUMENT, "\"p\" is no state");
    g = mw_graph_create(NULL, NULL);
    mw_tensor *s = state_of(g);
    CHECK(mw_state_assign(s, mw_exp(s)) == s);
    CHECK(mw_state_assign(s, mw_exp(s)) == NULL);
    check_refused(g, MW_ERROR_ARGUMENT, "\"s\": it is assigned already");
    g = mw_graph_create(NULL, NULL);
    mw_state_assign(state_of(g), mw_input(g, "x", MW_F16, MW_SHAPE(2)));
    check_refused(g, MW_ERROR_DTYPE, "\"s\": the value is fp16, the state fp32");
    g = mw_graph_create(NULL, NULL);
    mw_state_assign(state_of(g), mw_input(g, "x", MW_F32, MW_SHAPE(3)));
    check_refused(g, MW_ERROR_SHAPE, "\"s\": the value is [3], the state [2]");
    g = mw_graph_create(NULL, NULL);
    mw_graph *other = mw_graph_create(NULL, NULL);
    mw_state_assign(state_of(g), mw_input(other, "x", MW_F32, MW_SHAPE(2)));
    check_refused(g, MW_ERROR_ARGUMENT, "belongs to another graph");
    mw_graph_destroy(other);
}

static void test_bad_layers_are_refused(void)
{
    const struct {
        mw_shape shape;
        float momentum, epsilon;
        mw_status status;
        const char *part;
    } cases[] = {
        {.shape = MW_SHAPE(4),
         .momentum = 0.1f,
         .epsilon = 1e-5f,
         .status = MW_ERROR_SHAPE,
         .part = "x [4] has rank 1, at least 2"},
        {.shape = MW_SHAPE(MW_DIM_UNKNOWN, 4),
         .momentum = 0.1f,
         .epsilon = 1e-5f,
         .status = MW_ERROR_SHAPE,
         .part = "every extent of x"},
        {.shape = MW_SHAPE(1, 4),
         .momentum = 0.1f,
         .epsilon = 1e-5f,
         .status = MW_ERROR_SHAPE,
         .part = "has one element per channel"},
        {.shape = MW_SHAPE(0, 4),
         .momentum = 0.1f,
         .epsilon = 1e-5f,
         .status = MW_ERROR_SHAPE,
         .part = "has no element per channel"},
        {.shape = MW_SHAPE(2, 4),
         .momentum = 1.5f,
         .epsilon = 1e-5f,
         .status = MW_ERROR_ARGUMENT,
         .part = "momentum is 1.5"},
        {.shape = MW_SHAPE(2, 4),
         .momentum = 0.1f,
         .epsilon = -1.0f,
         .status = MW_ERROR_ARGUMENT,
         .part = "epsilon is -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_graph *g = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(g, "x", MW_F32, cases[i].shape);
        CHECK(mw_batch_norm_layer(x, cases[i].momentum, cases[i].epsilon, "bn") == NULL);
        check_refused(g, cases[i].status, cases[i].part);
    }
    const float rates[] = {-0.1f, 1.0f, (float)NAN};
    for (int i = 0; i < 3; i++) {
        mw_graph *g = mw_graph_create(NULL, NULL);
        CHECK(mw_dropout(mw_input(g, "x", MW_F32, MW_SHAPE(2, 2)), rates[i], "drop") == NULL);
        check_refused(g, MW_ERROR_ARGUMENT, "it must be in [0, 1)");
    }
    mw_graph *g = mw_graph_create(NULL, NULL);
    CHECK(mw_dropout(mw_input(g, "x", MW_F32, MW_SHAPE(MW_DIM_UNKNOWN)), 0.5f, "drop") == NULL);
    check_refused(g, MW_ERROR_SHAPE, "every extent of x");
    g = mw_graph_create(NULL, NULL);
    CHECK(mw_dropout(mw_input(g, "x", MW_I32, MW_SHAPE(2)), 0.5f, "drop") == NULL);
    check_refused(g, MW_ERROR_DTYPE, "int32");
}

/* A state that nothing but its own assignment reads is not copied; one that is read brings the assigned value. */
static void test_a_clone_takes_assignments_of_wanted_states_along(void)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *s = state_of(g), *x = mw_input(g, "x", MW_F32, MW_SHAPE(2));
    mw_tensor *other = mw_state(g, "other", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_tensor *y = mw_add(s, s);
    mw_state_assign(s, mw_name(mw_mul(s, x), "after"));
    mw_state_assign(other, mw_exp(other));
    mw_tensor *copy = NULL;
    mw__clone_options options = {.roots = &y, .root_count = 1};
    mw_graph *whole = mw__clone_graph(NULL, g, &options, &copy, &err);
    REQUIRE(whole != NULL);
    mw_tensor *there = mw_graph_find(whole, "s");
    REQUIRE(there != NULL);
    CHECK(there->role == MW__RESIDENT && there->init != NULL && there->next != NULL);
    CHECK(there->next == mw_graph_find(whole, "after"));
    CHECK(mw_graph_find(whole, "x") != NULL && mw_graph_find(whole, "other") == NULL);
    options.form = MW__CLONE_EVALUATION;
    mw_graph *evaluation = mw__clone_graph(NULL, g, &options, &copy, &err);
    REQUIRE(evaluation != NULL);
    there = mw_graph_find(evaluation, "s");
    CHECK(there != NULL && there->next == NULL && mw_graph_find(evaluation, "x") == NULL);
    CHECK_OK(err);
    mw__graph_free(whole);
    mw__graph_free(evaluation);
    mw_graph_destroy(g);
}

static void test_the_evaluation_form_computes_evaluation(void)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(4, 3));
    mw_tensor *h = mw_batch_norm_layer(x, 0.1f, 1e-5f, "bn");
    mw_output(mw_dropout(h, 0.5f, "drop"), "y");
    mw_graph *form = mw_graph_evaluation(g, &err);
    mw_graph *again = mw_graph_evaluation(form, &err); /* has nothing more to give */
    CHECK_OK(err);
    CHECK(mw_graph_find(form, "drop.generator") == NULL && mw_graph_find(form, "bn.running_var") != NULL);
    char *text = mw_graph_print(form, &err), *same = mw_graph_print(again, &err);
    CHECK(text != NULL && strstr(text, "reduce_mean") == NULL && strstr(text, "-> (y)") != NULL);
    CHECK_STR(text, same);
    mw_string_free(text);
    mw_string_free(same);
    text = mw_graph_print(g, &err);
    CHECK(text != NULL && strstr(text, "state, next ") != NULL && strstr(text, "2 parameter tensors, 6 parameters"));
    mw_string_free(text);
    mw_graph_destroy(again);
    mw_graph_destroy(form);
    mw_graph *empty = mw_graph_create(NULL, NULL);
    CHECK(mw_graph_evaluation(empty, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_ARGUMENT);
    mw_graph_destroy(empty);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_bad_states_are_refused);
    RUN(test_bad_assignments_are_refused);
    RUN(test_bad_layers_are_refused);
    RUN(test_a_clone_takes_assignments_of_wanted_states_along);
    RUN(test_the_evaluation_form_computes_evaluation);
    return check_finish();
}
