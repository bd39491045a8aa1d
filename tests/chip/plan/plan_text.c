#include "plan_text.h"
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

mw_chip_plan_options plan_options(void)
{
    mw_chip_plan_options options = mw_chip_plan_defaults();
    options.as_it_is = true;
    return options;
}

mw_chip_plan *plan_of_text(const char *inputs, const char *body, const char *outputs, mw_chip chip,
                           const mw_chip_plan_options *options)
{
    static char text[TEXT_MAX];
    mw_error err = {0};
    const mw_chip_plan_options plain = plan_options();
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(%s) {%s} -> (%s);}", inputs, body, outputs);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    mw_chip_plan *plan =
        graph != NULL ? mw_chip_plan_create(graph, chip, options != NULL ? options : &plain, &err) : NULL;
    check_note(plan != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    mw_graph_destroy(graph);
    return plan;
}

static bool is(const char *a, const char *b) { return a != NULL && strcmp(a, b) == 0; }

const mw_chip_plan_op *plan_op(const mw_chip_plan *plan, const char *tensor)
{
    for (size_t i = 0; mw_chip_plan_op_at(plan, i) != NULL; i++)
        if (is(mw_chip_plan_op_at(plan, i)->tensor, tensor))
            return mw_chip_plan_op_at(plan, i);
    return NULL;
}

const mw_chip_layer *plan_layer(const mw_chip_plan *plan, const char *name)
{
    for (size_t i = 0; mw_chip_plan_layer_at(plan, i) != NULL; i++)
        if (is(mw_chip_plan_layer_at(plan, i)->name, name))
            return mw_chip_plan_layer_at(plan, i);
    return NULL;
}

const mw_chip_value *plan_value(const mw_chip_plan *plan, const char *name)
{
    for (size_t i = 0; mw_chip_plan_value_at(plan, i) != NULL; i++)
        if (is(mw_chip_plan_value_at(plan, i)->name, name))
            return mw_chip_plan_value_at(plan, i);
    return NULL;
}
