/* The pictures of docs/report.md. MW_UPDATE_GOLDENS=1 writes them anew. */
#include "networks.h"
#include "support/check.h"
#include "support/page.h"

static void test_the_picture_of_a_transformer_is_fresh(void)
{
    mw_error err = {0};
    mw_graph *graph = transformer_make(12);
    mw_draw_options options = mw_draw_defaults();
    options.title = "a small transformer";
    char *svg = mw_graph_print_svg(graph, &options, &err);
    CHECK_OK(err);
    if (svg != NULL)
        page_check(MW_TESTS_DIR "/../docs/graph_transformer.svg", svg);
    mw_string_free(svg);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_the_picture_of_a_transformer_is_fresh);
    return check_finish();
}
