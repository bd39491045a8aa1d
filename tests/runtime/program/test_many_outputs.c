/* One result that a text gives very often: each has a name of its own, and the work grows with their number. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUTS = 20000 };

static mw_graph *give_often(mw_error *err)
{
    static const char head[] = "program(1.0)\n{\n    func main<ios16>(tensor<fp32, [2]> x) {\n"
                               "        tensor<fp32, [2]> y = relu(x = x)[name = string(\"y\")];\n    } -> (y";
    char *text = malloc(sizeof head + 3 * OUTPUTS + 16);
    if (text == NULL)
        return NULL;
    char *at = text + sprintf(text, "%s", head);
    for (int i = 1; i < OUTPUTS; i++, at += 3)
        memcpy(at, ", y", 3);
    at += sprintf(at, ");\n}\n");
    mw_graph *graph = mw_graph_parse_mil(text, (size_t)(at - text), NULL, NULL, err);
    free(text);
    return graph;
}

static void test_a_result_is_given_as_often_as_a_text_says(void)
{
    mw_error err = {0};
    mw_graph *graph = give_often(&err);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    const float x[2] = {-1, 3};
    mw_program_write(program, "x", MW_F32, x, 2, &err);
    mw_program_run(program, &err);
    static const char *const names[] = {"y", "y_out", "y_out_2", "y_out_19999"};
    for (int i = 0; i < 4; i++) {
        float y[2] = {0};
        mw_program_read(program, names[i], MW_F32, y, 2, &err);
        CHECK_NEAR((double)y[0], 0, 0);
        CHECK_NEAR((double)y[1], 3, 0);
    }
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK(plan != NULL);
    CHECK_OK(err);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_result_is_given_as_often_as_a_text_says);
    return check_finish();
}
