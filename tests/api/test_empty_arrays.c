/* Numbers of elements that come with NULL. */
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>

/* A number of elements, and NULL for them: what they are of is empty, or the call is refused. */
static void test_arrays_that_are_not_there_have_no_elements(void)
{
    mw_error err = {0};
    mw_chip_rates rates;
    REQUIRE(mw_chip_rates_find(MW_CHIP_H13, MW_CHIP_ANE, MW_CHIP_FITTED, &rates));
    CHECK_NEAR(mw_chip_program_us(&rates, NULL, 5), mw_chip_program_us(&rates, NULL, 0), 0);
    const mw_function_description function = {.name = "main", .input_count = 3, .output_count = 2, .state_count = 1};
    CHECK(mw_description_find(&function, "x") == NULL);
    mw_description description = mw_description_defaults();
    description.pair_count = 4;
    char *text = mw_description_print(&description, &err);
    CHECK_STR(text, "");
    mw_string_free(text);
    description.functions = &function;
    description.function_count = 1;
    text = mw_description_print(&description, &err);
    CHECK_CONTAINS(text, "function main");
    mw_string_free(text);
    description.functions = NULL;
    text = mw_description_print(&description, &err);
    CHECK_STR(text, "");
    mw_string_free(text);
    CHECK_OK(err);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    CHECK(mw_split(mw_input(graph, "x", MW_F32, MW_SHAPE(4)), 2, 0, NULL) != MW_OK);
    CHECK(mw_graph_check(graph, &err) != MW_OK);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_arrays_that_are_not_there_have_no_elements);
    return check_finish();
}
