/* The MIL reader against any bytes: it refuses with a status, or reads a program whose printed text reads back and
 * prints as itself again. The verifier, the unrolling of loops, the lowering of lists and states, the choice of
 * shapes, the check for chips, the placement and the plan only have to survive. */
#include "fuzz/replay.h"
#include "graph/transform/lower.h"

#include <millwright/chip_all.h>
#include <millwright/function.h>
#include <millwright/inspect.h>
#include <millwright/mil.h>
#include <millwright/tune.h>
#include <stdlib.h>
#include <string.h>

static char *print(const mw_graph *graph)
{
    mw_error err = {0};
    char *text = mw_graph_print_mil(graph, NULL, &err);
    if (text == NULL && err.status == MW_OK)
        abort();
    return text;
}

/* Printing may refuse a program (as one with an initial value that no text can hold), but must not change its mind. */
static void round_trip(const char *text)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    if (graph == NULL)
        abort();
    char *again = print(graph);
    if (again == NULL || strcmp(again, text) != 0)
        abort();
    mw_string_free(again);
    mw_graph_destroy(graph);
}

/* Every `?` of an input gets a number. */
static void specialize(const mw_graph *graph)
{
    enum { INPUTS = 8 };
    mw_input_shape shapes[INPUTS];
    size_t count = 0;
    for (size_t i = 0; count < INPUTS && mw_graph_input_at(graph, i) != NULL; i++) {
        const mw_tensor *input = mw_graph_input_at(graph, i);
        mw_shape shape = mw_tensor_shape(input);
        for (int d = 0; d < shape.rank; d++)
            shape.dim[d] = shape.dim[d] == MW_DIM_UNKNOWN ? 3 : shape.dim[d];
        if (mw_shape_count(mw_tensor_shape(input)) < 0)
            shapes[count++] = (mw_input_shape){mw_tensor_name(input), shape};
    }
    mw_graph_destroy(mw_graph_specialize(graph, shapes, count, NULL));
    mw_graph_destroy(mw_graph_specialize(graph, NULL, 0, NULL));
    mw_graph_destroy(mw_graph_function(graph, mw_graph_function_at(graph, 0), NULL));
}

/* Lists as tensors and states as values; functions may share names, so that each has a graph. */
static void lower(const mw_graph *graph)
{
    for (size_t i = 0; i < graph->function_count; i++) {
        mw_graph *to = mw_graph_create(NULL, NULL);
        const mw__lower_options options = {.role = i % 2 == 0 ? MW__INPUT : MW__RESIDENT};
        mw__lowered lowered;
        if (to != NULL)
            mw__lower(graph->functions[i], to, &options, &lowered, NULL);
        mw_graph_destroy(to);
    }
}

/* The oldest chip that runs MIL, for which most is written otherwise, and one before it. */
static void check_chips(const mw_graph *graph)
{
    for (int as_it_is = 0; as_it_is < 2; as_it_is++) {
        mw_error err = {0};
        mw_chip_check_options options = mw_chip_check_defaults();
        options.as_it_is = as_it_is != 0;
        options.function = mw_graph_function_at(graph, 0);
        mw_chip_report *report =
            mw_chip_report_create(graph, as_it_is != 0 ? MW_CHIP_H12 : MW_CHIP_H13, &options, &err);
        mw_string_free(mw_chip_report_print(report, &err));
        if (report == NULL && err.status == MW_OK)
            abort();
        mw_chip_report_destroy(report);
    }
}

/* Where each operation goes, by each segmenter; a placement that there is has a text of both kinds. */
static void place(const mw_graph *graph)
{
    for (unsigned segmenter = 0; segmenter <= MW_CHIP_SHORTEST_PATH; segmenter++) {
        mw_error err = {0};
        mw_chip_place_options options = mw_chip_place_defaults();
        options.as_it_is = segmenter != MW_CHIP_GRAPH;
        options.segmenter = (mw_chip_segmenter)segmenter;
        options.function = mw_graph_function_at(graph, 0);
        mw_chip_placement *placement = mw_chip_placement_create(graph, MW_CHIP_H14, &options, &err);
        const double us = mw_chip_placement_get_totals(placement).us;
        if ((placement == NULL) != (err.status != MW_OK) || !(us >= 0.0))
            abort();
        mw_string_free(mw_chip_placement_print(placement, &err));
        mw_string_free(mw_chip_placement_json(placement, &err));
        mw_chip_placement_destroy(placement);
    }
}

/* As it stands and rewritten; a plan that there is has a text, JSON and a picture. */
static void plan(const mw_graph *graph)
{
    for (int as_it_is = 0; as_it_is < 2; as_it_is++) {
        mw_error err = {0};
        mw_chip_plan_options options = mw_chip_plan_defaults();
        options.as_it_is = as_it_is != 0;
        options.function = mw_graph_function_at(graph, 0);
        mw_chip_plan *made = mw_chip_plan_create(graph, as_it_is != 0 ? MW_CHIP_H13 : MW_CHIP_H17, &options, &err);
        if ((made == NULL) != (err.status != MW_OK))
            abort();
        mw_string_free(mw_chip_plan_print(made, &err));
        mw_string_free(mw_chip_plan_print_json(made, &err));
        mw_string_free(mw_chip_plan_print_svg(made, &err));
        mw_chip_plan_destroy(made);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil((const char *)data, size, NULL, NULL, &err);
    if (graph == NULL) {
        if (err.status == MW_OK)
            abort();
        return 0;
    }
    mw_graph_verify(graph, NULL);
    lower(graph);
    mw_graph_destroy(mw_graph_flatten(graph, NULL));
    specialize(graph);
    check_chips(graph);
    place(graph);
    plan(graph);
    char *text = print(graph);
    mw_graph_destroy(graph);
    if (text != NULL)
        round_trip(text);
    mw_string_free(text);
    return 0;
}
