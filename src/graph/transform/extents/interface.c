/* One program for any number of examples is made of the same program for three numbers of them (generalize.h). */
#include "graph/transform/extents/interface.h"

#include "graph/transform/extents/generalize.h"

#include <inttypes.h>
#include <millwright/function.h>
#include <stdio.h>
#include <string.h>

/* The first choice is larger than any table that is folded. */
static const int64_t choices[][MW__WITNESSES] = {{64, 96, 160}, {2, 3, 5}};

/* ---- names ---- */

/* "batch", or "batch*3" of an extent with three rows of each example. */
static mw_status name_extent(mw_graph *graph, mw__port_note *note, int axis, int64_t rows)
{
    char text[40] = "batch";
    if (rows != 1)
        snprintf(text, sizeof text, "batch*%" PRId64, rows);
    note->extents[axis] = mw__arena_string(&graph->arena, text, strlen(text), &graph->error);
    return graph->error.status;
}

/* What is `?` and has no name yet gets one if it follows the examples; `one` and `two` are the port in two witnesses.
 */
static mw_status name_port(mw_graph *graph, mw_tensor *port, const mw_tensor *one, const mw_tensor *two,
                           const int64_t *examples)
{
    const mw_shape shape = mw_tensor_shape(port), a = mw_tensor_shape(one), b = mw_tensor_shape(two);
    mw__port_note *note = mw__arena_alloc(&graph->arena, 1, sizeof *note, &graph->error);
    if (note == NULL)
        return graph->error.status;
    *note = port->note != NULL ? *port->note : (mw__port_note){0};
    for (int i = 0; i < shape.rank && a.rank == shape.rank && b.rank == shape.rank; i++) {
        const int64_t rows = a.dim[i] / examples[1];
        if (shape.dim[i] < 0 && note->extents[i] == NULL && rows * examples[1] == a.dim[i] &&
            rows * examples[2] == b.dim[i])
            MW_TRY(name_extent(graph, note, i, rows));
    }
    port->note = note;
    return MW_OK;
}

/* Types of the first witness are not its own any more. */
static mw_status name_ports(mw_graph *graph, mw_graph *const witness[MW__WITNESSES], const int64_t *examples)
{
    const mw__block *body = graph->functions[0]->body, *one = witness[1]->functions[0]->body,
                    *two = witness[2]->functions[0]->body;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->role == MW__INPUT)
            MW_TRY(name_port(graph, body->inputs[i], one->inputs[i], two->inputs[i], examples));
    for (size_t i = 0; i < body->output_count; i++)
        if (body->outputs[i]->type->kind == MW__TENSOR)
            MW_TRY(name_port(graph, body->outputs[i], one->outputs[i], two->outputs[i], examples));
    return MW_OK;
}

/* ---- copies ---- */

static mw_graph *open_with(const mw_graph *graph, const int64_t *examples, mw_error *err)
{
    mw_graph *witness[MW__WITNESSES] = {0}, *made = NULL;
    bool good = true;
    for (int k = 0; good && k < MW__WITNESSES; k++)
        good = (witness[k] = mw_graph_rebatch(graph, examples[k], err)) != NULL;
    if (good)
        made = mw__generalize(witness, err);
    if (made != NULL && name_ports(made, witness, examples) != MW_OK) {
        mw_graph_check(made, err);
        mw__graph_free(made);
        made = NULL;
    }
    for (int k = 0; k < MW__WITNESSES; k++)
        mw_graph_destroy(witness[k]);
    return mw__graph_publish(made, err);
}

mw_graph *mw__for_examples(const mw_graph *graph, mw__examples examples, mw_error *err)
{
    mw_error why = {0};
    mw_graph *made = NULL;
    for (size_t i = 0; examples == MW__EXAMPLES_ANY && made == NULL && i < sizeof choices / sizeof *choices; i++) {
        mw_error_clear(&why);
        made = open_with(graph, choices[i], &why);
    }
    if (made != NULL || why.status != MW_ERROR_MEMORY)
        return made != NULL ? made : mw_graph_rebatch(graph, 1, err);
    mw__fail(err, MW_ERROR_MEMORY, "%s", why.message);
    return NULL;
}
