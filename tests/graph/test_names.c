/* Identifiers: kept, mapped, suffixed, numbered, scoped. */
#include "graph_check.h"

#include "graph/ir/names.h"

#include <unistd.h>

#define S MW_SHAPE

static void expect_name(const mw__names *names, const mw_tensor *value, const char *wanted)
{
    const char *name = mw__names_get(names, value);
    check_note(name != NULL && strcmp(name, wanted) == 0, __FILE__, __LINE__, "name is \"%s\", not \"%s\"",
               name != NULL ? name : "(none)", wanted);
}

static void test_user_names_become_identifiers(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    static const char *const given[] = {"fc1.weight", "fc1_weight", "9lives", "tensor",     "fp16",
                                        "a@b",        "@x",         "func",   "fc1-weight", "b\xc3\xa9"};
    static const char *const wanted[] = {"fc1_weight_2", "fc1_weight", "_9lives", "tensor_2",     "fp16_2",
                                         "a@b",          "_@x",        "func_2",  "fc1_weight_3", "b__"};
    mw_tensor *values[10];
    for (int i = 0; i < 10; i++)
        values[i] = mw_input(g, given[i], MW_F32, S(1));
    mw__names names;
    mw_error err = {0};
    CHECK_INT(mw__names_assign(g->current, &names, &err), MW_OK);
    for (int i = 0; i < 10; i++)
        expect_name(&names, values[i], wanted[i]);
    CHECK(mw__names_get(&names, NULL) == NULL);
    mw__names_deinit(&names);
    CHECK(mw__names_get(&names, values[0]) == NULL);
    mw_graph_destroy(g);
}

static void test_automatic_names_avoid_given_ones(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(1));
    mw_tensor *first = mw_exp(x), *second = mw_exp(first), *named = mw_name(mw_exp(second), "exp_0");
    mw_tensor *third = mw_softmax(named, 0);
    mw__names names;
    CHECK_INT(mw__names_assign(g->current, &names, NULL), MW_OK);
    expect_name(&names, first, "exp_1");
    expect_name(&names, second, "exp_2");
    expect_name(&names, named, "exp_0");
    expect_name(&names, third, "softmax_0");
    expect_name(&names, mw__arg(third->op, "axis"), "axis_0");
    mw__names_deinit(&names);
    mw_graph_destroy(g);
}

static void test_assignment_is_deterministic_and_outlives_the_graph(void)
{
    mw__names names[2];
    uint32_t count = 0;
    for (int k = 0; k < 2; k++) {
        mw_graph *g = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(g, "x", MW_F32, S(2, 3));
        mw_output(mw_softmax(mw_dense(mw_relu(mw_dense(x, 4, "a")), 2, "b"), -1), "y");
        count = (uint32_t)g->value_count;
        CHECK_INT(mw__names_assign(g->current, &names[k], NULL), MW_OK);
        mw_graph_destroy(g);
    }
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(names[0].by_id[i] != NULL && names[1].by_id[i] != NULL);
        CHECK_STR(names[0].by_id[i], names[1].by_id[i]);
        for (uint32_t k = 0; k < i; k++)
            CHECK(strcmp(names[0].by_id[i], names[0].by_id[k]) != 0);
    }
    mw__names_deinit(&names[0]);
    mw__names_deinit(&names[1]);
}

/* Two blocks inside one operation, as parsed; each holds a value `inner`. */
static void test_sibling_blocks_reuse_names_but_outer_ones_are_seen(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_name(mw_relu(mw_input(g, "x", MW_F32, S(1))), "h");
    mw__op *owner = x->op;
    mw__block *blocks[3];
    mw_tensor *values[3];
    static const char *const given[] = {"inner", "inner", "h"};
    for (int i = 0; i < 3; i++) {
        blocks[i] = mw__block_create(g->current, owner, NULL);
        g->block = blocks[i];
        values[i] = mw_exp(x);
        values[i]->name = given[i];
    }
    g->block = g->current->body;
    mw_tensor *after = mw_exp(x);
    after->op->blocks = blocks; /* after `h` was defined, so that the third block shadows it */
    after->op->block_count = 3;
    after->name = "inner";
    mw__names names;
    CHECK_INT(mw__names_assign(g->current, &names, NULL), MW_OK);
    expect_name(&names, values[0], "inner");
    expect_name(&names, values[1], "inner");
    expect_name(&names, values[2], "h_2");
    expect_name(&names, after, "inner"); /* the blocks' names are not visible outside */
    mw__names_deinit(&names);
    mw_graph_destroy(g);
}

/* Names that become one identifier: each needs a look or two, not one at every name before it (20,000 of them took 26
 * s, so that these would take minutes). */
static void test_many_names_of_one_stem_get_suffixes_in_order(void)
{
    enum { COUNT = 60000, SECONDS = 60 };
    static const char marks[] = " .-/:;,<>!#$%^&*";
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(1)), *first = NULL, *last = x;
    for (int i = 0; i < COUNT; i++) {
        char name[8] = "a";
        for (int k = 0; k < 4; k++)
            name[1 + k] = marks[i >> 4 * k & 15];
        last = mw_name(mw_relu(last), name);
        first = i == 0 ? last : first;
    }
    mw__names names;
    mw_error err = {0};
    alarm(SECONDS);
    CHECK_INT(mw__names_assign(g->current, &names, &err), MW_OK);
    alarm(0);
    expect_name(&names, first, "a____");
    char wanted[32];
    snprintf(wanted, sizeof wanted, "a_____%d", COUNT);
    expect_name(&names, last, wanted);
    mw__names_deinit(&names);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_user_names_become_identifiers);
    RUN(test_automatic_names_avoid_given_ones);
    RUN(test_assignment_is_deterministic_and_outlives_the_graph);
    RUN(test_sibling_blocks_reuse_names_but_outer_ones_are_seen);
    RUN(test_many_names_of_one_stem_get_suffixes_in_order);
    return check_finish();
}
