/* Branches. */
#include "format/onnx/write_args.h"

static Mw__Onnx__Graph *branch(mw__onnx_writer *w, const mw__block *body, char *name)
{
    Mw__Onnx__Graph *graph = mw__onnx_room(w, 1, sizeof *graph);
    if (graph == NULL)
        return NULL;
    mw__onnx__graph__init(graph);
    graph->name = name;
    return mw__onnx_write_branch(w, body, graph) == MW_OK ? graph : NULL;
}

void mw__onnx_write_cond(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    static char yes[] = "yes", no[] = "no";
    const char *predicate = arg(w, op, "pred");
    Mw__Onnx__Graph *then_branch = branch(w, op->blocks[0], yes), *else_branch = branch(w, op->blocks[1], no);
    if (then_branch == NULL || else_branch == NULL)
        return;
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), &predicate, 1);
    for (size_t i = 1; i < op->result_count; i++)
        mw__onnx_put_result(w, node, mw__onnx_result(w, op, i));
    mw__onnx_put_graph(w, node, "then_branch", then_branch);
    mw__onnx_put_graph(w, node, "else_branch", else_branch);
}
