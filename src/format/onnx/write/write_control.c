/* Branches and loops: their blocks are graphs in nodes. What a block takes from outside it sees there too, and its
 * constants are initializers of the whole graph. */
#include "format/onnx/write/write_args.h"

/* A graph whose nodes are written next; `out_outside` keeps those of the graph around it. */
static Mw__Onnx__Graph *begin_graph(mw__onnx_writer *w, char *name, size_t inputs, size_t outputs,
                                    mw__onnx_list *out_outside)
{
    Mw__Onnx__Graph *graph = mw__onnx_alloc(w, 1, sizeof *graph);
    if (graph == NULL)
        return NULL;
    mw__onnx__graph__init(graph);
    graph->name = name;
    graph->input = mw__onnx_alloc(w, inputs, sizeof *graph->input);
    graph->output = mw__onnx_alloc(w, outputs, sizeof *graph->output);
    *out_outside = w->nodes;
    w->nodes = (mw__onnx_list){0};
    return graph->input != NULL && graph->output != NULL ? graph : NULL;
}

static bool add_input(mw__onnx_writer *w, Mw__Onnx__Graph *graph, const mw__type *type, const char *name)
{
    Mw__Onnx__ValueInfo *port = mw__onnx_port(w, type, name);
    if (port == NULL)
        return false;
    graph->input[graph->n_input++] = port;
    return true;
}

/* Under a name of its own: it may be a value from outside, or twice the same. */
static bool add_output(mw__onnx_writer *w, Mw__Onnx__Graph *graph, mw_tensor *value)
{
    const char *name = mw__onnx_make(w, "Identity", NULL, mw__onnx_name_of(w, value), NULL);
    Mw__Onnx__ValueInfo *port = name != NULL ? mw__onnx_port(w, value->type, name) : NULL;
    if (port == NULL)
        return false;
    graph->output[graph->n_output++] = port;
    return true;
}

/* MIL takes a condition of one element in any shape, ONNX a scalar. */
static const char *scalar_of(mw__onnx_writer *w, const mw__op *op, mw_tensor *condition)
{
    static const mw_shape scalar = {0};
    const char *name = mw__onnx_name_of(w, condition);
    return condition->type->shape.rank == 0 || name == NULL ? name : mw__onnx_reshape_to(w, op, NULL, name, scalar);
}

static bool add_condition(mw__onnx_writer *w, const mw__op *op, Mw__Onnx__Graph *graph, mw_tensor *condition)
{
    static const mw__type truth = {.kind = MW__TENSOR, .dtype = MW_BOOL};
    const char *name = scalar_of(w, op, condition);
    name = name != NULL ? mw__onnx_make(w, "Identity", NULL, name, NULL) : NULL;
    Mw__Onnx__ValueInfo *port = name != NULL ? mw__onnx_port(w, &truth, name) : NULL;
    if (port == NULL)
        return false;
    graph->output[graph->n_output++] = port;
    return true;
}

static void add_results(mw__onnx_writer *w, const mw__op *op, pb_node *node)
{
    for (size_t i = 1; i < op->result_count; i++)
        mw__onnx_put_result(w, node, mw__onnx_result(w, op, i));
}

/* ---- branches ---- */

static Mw__Onnx__Graph *branch(mw__onnx_writer *w, const mw__block *body, char *name)
{
    mw__onnx_list outside = w->nodes;
    Mw__Onnx__Graph *graph = begin_graph(w, name, 0, body->output_count, &outside);
    bool good = graph != NULL && mw__onnx_write_ops(w, body) == MW_OK;
    for (size_t i = 0; good && i < body->output_count; i++)
        good = add_output(w, graph, body->outputs[i]);
    good = good && mw__onnx_fill_nodes(w, graph) == MW_OK;
    w->nodes = outside;
    return good ? graph : NULL;
}

void mw__onnx_write_cond(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    static char yes[] = "yes", no[] = "no";
    const char *predicate = scalar_of(w, op, mw__arg(op, "pred"));
    Mw__Onnx__Graph *then_branch = branch(w, op->blocks[0], yes), *else_branch = branch(w, op->blocks[1], no);
    if (then_branch == NULL || else_branch == NULL)
        return;
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), &predicate, 1);
    add_results(w, op, node);
    mw__onnx_put_graph(w, node, "then_branch", then_branch);
    mw__onnx_put_graph(w, node, "else_branch", else_branch);
}

/* ---- loops ----
 * MIL asks before each trip, ONNX is told by the one before: the condition is written twice, of what the loop starts
 * with, and behind the body. */

static void name_afresh(mw__onnx_writer *w, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t k = 0; k < op->result_count; k++)
            if (w->names[op->results[k]->id] != NULL && !mw__is_constant(op->results[k]))
                w->names[op->results[k]->id] = mw__onnx_fresh(w);
        for (size_t k = 0; k < op->block_count; k++)
            name_afresh(w, op->blocks[k]);
    }
}

/* The condition of variables with these names. */
static mw_tensor *ask(mw__onnx_writer *w, const mw__block *condition, const char *const *names)
{
    name_afresh(w, condition);
    for (size_t i = 0; i < condition->input_count; i++)
        w->names[condition->inputs[i]->id] = names[i];
    return mw__onnx_write_ops(w, condition) == MW_OK ? condition->outputs[0] : NULL;
}

static bool fill_trip(mw__onnx_writer *w, const mw__op *op, Mw__Onnx__Graph *graph)
{
    static const mw__type number = {.kind = MW__TENSOR, .dtype = MW_I64},
                          truth = {.kind = MW__TENSOR, .dtype = MW_BOOL};
    const mw__block *body = op->blocks[1];
    const char **names = mw__onnx_alloc(w, body->output_count, sizeof *names);
    bool good = names != NULL && add_input(w, graph, &number, mw__onnx_fresh(w)) &&
                add_input(w, graph, &truth, mw__onnx_fresh(w));
    for (size_t i = 0; good && i < body->input_count; i++)
        good = add_input(w, graph, body->inputs[i]->type, w->names[body->inputs[i]->id]);
    good = good && mw__onnx_write_ops(w, body) == MW_OK;
    for (size_t i = 0; good && i < body->output_count; i++)
        good = (names[i] = mw__onnx_name_of(w, body->outputs[i])) != NULL;
    mw_tensor *goes_on = good ? ask(w, op->blocks[0], names) : NULL;
    good = goes_on != NULL && add_condition(w, op, graph, goes_on);
    for (size_t i = 0; good && i < body->output_count; i++)
        good = add_output(w, graph, body->outputs[i]);
    return good && mw__onnx_fill_nodes(w, graph) == MW_OK;
}

static Mw__Onnx__Graph *trip(mw__onnx_writer *w, const mw__op *op)
{
    static char name[] = "trip";
    mw__onnx_list outside = w->nodes;
    const size_t vars = op->blocks[1]->input_count;
    Mw__Onnx__Graph *graph = begin_graph(w, name, vars + 2, vars + 1, &outside);
    const bool good = graph != NULL && fill_trip(w, op, graph);
    w->nodes = outside;
    return good ? graph : NULL;
}

void mw__onnx_write_while_loop(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw__operand *vars;
    const size_t count = mw__arg_values(op, "loop_vars", &vars);
    const char **in = mw__onnx_alloc(w, count + 2, sizeof *in);
    for (size_t i = 0; in != NULL && i < count; i++)
        in[2 + i] = mw__onnx_name_of(w, vars[i].value);
    mw_tensor *starts = in != NULL ? ask(w, op->blocks[0], in + 2) : NULL;
    if (starts == NULL)
        return;
    in[0] = ""; /* as many trips as it takes */
    in[1] = scalar_of(w, op, starts);
    Mw__Onnx__Graph *graph = trip(w, op);
    if (graph == NULL)
        return;
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, count + 2);
    add_results(w, op, node);
    mw__onnx_put_graph(w, node, "body", graph);
}
