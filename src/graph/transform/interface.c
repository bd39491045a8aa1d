/* One program for any number of examples is made of the same program for three numbers of them (generalise.h). */
#include "graph/transform/interface.h"

#include "graph/transform/generalise.h"

#include <millwright/function.h>

/* The first choice is larger than any table that is folded. */
static const int64_t choices[][MW__WITNESSES] = {{64, 96, 160}, {2, 3, 5}};

static mw_graph *open_with(const mw_graph *graph, const int64_t *examples, mw_error *err)
{
    mw_graph *witness[MW__WITNESSES] = {0}, *made = NULL;
    bool good = true;
    for (int k = 0; good && k < MW__WITNESSES; k++)
        good = (witness[k] = mw_graph_rebatch(graph, examples[k], err)) != NULL;
    if (good)
        made = mw__generalise(witness, err);
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
