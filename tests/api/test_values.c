/* Values that functions make and change: NULL in the place of one, or in one, and structs that no function made. */
#include "support/check.h"

#include <millwright/millwright.h>
#include <string.h>

/* What is wrong with these values comes with the trainer. */
static void refuse_watch_and_group(mw_watch watch, mw_parameter_group group)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_sum(w, MW_ALL_AXES, false), mw_sgd(0.1f));
    options.watch.values = &watch;
    options.watch.count = 1;
    CHECK(mw_trainer_create(&options, &err) == NULL && err.status == MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    options.watch.count = 0;
    options.groups = &group;
    options.group_count = 1;
    CHECK(mw_trainer_create(&options, &err) == NULL && err.status == MW_ERROR_ARGUMENT);
    mw_graph_destroy(graph);
}

static void test_an_optimizer_without_a_rule_has_a_name(void)
{
    const mw_optimizer none = mw_optimizer_custom(0.1f, NULL);
    CHECK_STR(mw_optimizer_name(&none), "custom");
    CHECK(!mw_optimizer_number_at(&none, 0, NULL));
}

static void test_values_that_hold_null_are_refused_with_the_trainer(void)
{
    refuse_watch_and_group(mw_watch_tensor(NULL, NULL, MW_WATCH_NORM), mw_parameter_group_defaults(NULL));
    refuse_watch_and_group(mw_watch_parameters(MW_WATCH_GRADIENT, NULL, MW_WATCH_NORM),
                           mw_parameter_group_frozen(NULL));
}

/* Zeros, and what a caller might leave in memory that it did not fill. */
static void test_structs_that_no_function_made_are_refused(void)
{
    mw_optimizer optimizer;
    mw_init init;
    memset(&optimizer, 0x7f, sizeof optimizer);
    memset(&init, 0x7f, sizeof init);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    CHECK_STR(mw_optimizer_name(&optimizer), "?");
    CHECK(!mw_optimizer_set(&optimizer, MW_OPTIMIZER_LEARNING_RATE, 0.5));
    CHECK(mw_optimizer_get(&optimizer, MW_OPTIMIZER_LEARNING_RATE) == 0.0);
    CHECK(!mw_optimizer_number_at(&optimizer, 0, &(mw_optimizer_number_info){.name = NULL}));
    refuse_watch_and_group((mw_watch){{0}}, (mw_parameter_group){{0}});
    CHECK(mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), init) == NULL);
    CHECK_INT(mw_graph_check(graph, NULL), MW_ERROR_ARGUMENT);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    CHECK(mw_state(graph, "s", MW_F32, MW_SHAPE(2), (mw_init){{0}}) == NULL);
    CHECK_INT(mw_graph_check(graph, NULL), MW_ERROR_ARGUMENT);
    mw_graph_destroy(graph);
}

/* Copies are values of their own, which outlive what they were copied from. */
static void test_a_copy_is_a_value_of_its_own(void)
{
    mw_optimizer first = mw_adam(0.5f), copy = first;
    CHECK(mw_optimizer_set(&first, MW_OPTIMIZER_BETA1, 0.25));
    CHECK(!mw_optimizer_set(&first, MW_OPTIMIZER_MOMENTUM, 0.25));
    CHECK(mw_optimizer_get(&copy, MW_OPTIMIZER_BETA1) == (double)0.9f);
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_sum(w, MW_ALL_AXES, false), copy);
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    CHECK(trainer != NULL || err.status == MW_ERROR_UNSUPPORTED); /* without an engine */
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_an_optimizer_without_a_rule_has_a_name);
    RUN(test_values_that_hold_null_are_refused_with_the_trainer);
    RUN(test_structs_that_no_function_made_are_refused);
    RUN(test_a_copy_is_a_value_of_its_own);
    return check_finish();
}
