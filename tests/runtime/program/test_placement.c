/* Where the operations of a program run, as the program tells it. */
#include "support/check.h"
#include "support/on_engine.h"

static mw_graph *make_graph(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 4, 8));
    mw_tensor *h = mw_name(mw_relu(x), "hidden");
    mw_output(mw_cumsum(h, 1, false, false), "y");
    return g;
}

static bool find(const mw_program *program, const char *operation, mw_placement *out)
{
    for (size_t i = 0; mw_program_placement_at(program, i, out); i++)
        if (strcmp(out->operation, operation) == 0)
            return true;
    return false;
}

static void test_every_operation_of_the_text_is_listed(void)
{
    mw_error err = {0};
    mw_placement p;
    mw_graph *g = make_graph();
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, &err);
    CHECK_OK(err);
    REQUIRE(mw_program_placement_at(program, 0, &p));
    CHECK_STR(p.operation, "relu");
    CHECK_STR(p.tensor, "hidden");
    CHECK_STR(p.provider, "engine");
    CHECK(p.device == MW_DEVICE_CPU && p.elsewhere == NULL);
    CHECK_CONTAINS(p.reason, "compiled for the CPU alone (device mask 1)");
    REQUIRE(mw_program_placement_at(program, 1, &p));
    CHECK_STR(p.operation, "cumsum");
    CHECK(!mw_program_placement_at(program, 2, &p) && !mw_program_placement_at(program, 0, NULL));
    mw_program_destroy(program);
    mw_graph_destroy(g);
}

static void test_the_ane_runs_what_the_text_became(void)
{
    mw_error err = {0};
    mw_placement p;
    mw_graph *g = make_graph();
    mw_program *program = engine_compile(g, MW_DEVICE_ANE, 1, &err);
    CHECK_OK(err);
    CHECK(mw_program_placement_at(program, 1, &p));
    REQUIRE(find(program, "relu", &p));
    CHECK(p.device == MW_DEVICE_ANE && p.elsewhere == NULL);
    CHECK_CONTAINS(p.reason, "device mask 4");
    CHECK_CONTAINS(p.reason, "model");
    mw_program_destroy(program);
    mw_graph_destroy(g);
}

/* Tensors of six axes are none of the ANE: the rule that says so is the reason. */
static void test_what_the_chip_refuses_says_why(void)
{
    mw_error err = {0};
    mw_placement p;
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 3, 2, 2, 2, 2));
    mw_output(mw_tanh(x), "y"); /* of six axes */
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, &err);
    CHECK_OK(err);
    REQUIRE(find(program, "tanh", &p));
    REQUIRE(p.elsewhere != NULL);
    CHECK_CONTAINS(p.elsewhere, "at most 5 dimensions");
    mw_program_destroy(program);
    mw_graph_destroy(g);
}

static void test_open_shapes_have_no_place_yet(void)
{
    mw_error err = {0};
    mw_placement p;
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(g, "x", MW_F32, MW_SHAPE(MW_DIM_UNKNOWN, 4))), "y");
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, &err);
    if (program == NULL)
        SKIP("the builder makes no open shapes");
    CHECK(!mw_program_placement_at(program, 0, &p));
    const mw_input_shape shape = {"x", MW_SHAPE(3, 4)};
    mw_program_set_shapes(program, &shape, 1, &err);
    CHECK_OK(err);
    CHECK(!mw_program_placement_at(program, 1, &p) && mw_program_placement_at(program, 0, &p));
    CHECK_STR(p.operation, "relu");
    mw_program_destroy(program);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_every_operation_of_the_text_is_listed);
    RUN(test_the_ane_runs_what_the_text_became);
    RUN(test_what_the_chip_refuses_says_why);
    RUN(test_open_shapes_have_no_place_yet);
    return check_finish();
}
