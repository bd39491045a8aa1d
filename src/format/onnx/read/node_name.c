/* The name of a node becomes that of the operation that takes its weight, so that a weight called "onnx::Conv_179" is
 * known by its layer. */
#include "base/number/types.h"
#include "format/onnx/read/import.h"
#include "graph/ir/ir.h"
#include "graph/transform/tune/trainable.h"

#include <stdio.h>
#include <string.h>

static bool is_weight(const mw_tensor *value)
{
    const mw_tensor *origin = value != NULL ? mw__tune_origin(value) : NULL;
    return origin != NULL && mw__is_constant(origin) && mw__number_dtype_is_float(mw_tensor_dtype(origin)) &&
           mw_shape_count(mw_tensor_shape(origin)) > 1;
}

/* Takes a weight, and something that is computed. */
static bool takes_weight(const mw__op *op)
{
    bool weight = false, computed = false;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            const mw_tensor *origin = value != NULL ? mw__tune_origin(value) : NULL;
            weight = weight || is_weight(value);
            computed = computed || (origin != NULL && !mw__is_constant(origin));
        }
    return weight && computed;
}

/* A text takes letters, digits and "_" of any name. Further operations of one node have numbers behind it. */
static const char *make_word(mw_graph *graph, const char *name, int number)
{
    char numbered[MW_NAME_MAX + 16];
    const bool fits = strlen(name) <= MW_NAME_MAX;
    const size_t length = (size_t)snprintf(numbered, sizeof numbered, number > 1 ? "%s" MW__TUNE_PART "%d" : "%s",
                                           fits ? name : "", number);
    char *word = fits ? mw__arena_string(&graph->arena, numbered, length, &graph->error) : NULL;
    for (size_t i = 0; word != NULL && i < length; i++) {
        const char c = word[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
            word[i] = '_';
    }
    return word;
}

void mw__onnx_name_layer(mw__onnx_node *node, size_t from)
{
    const mw__block *block = node->graph->block;
    int number = 1;
    if (node->proto->name[0] == '\0' || !mw__onnx_is_whole_graph(node->import))
        return;
    for (size_t i = from; i < block->op_count; i++) {
        mw__op *op = block->ops[i];
        if (mw__op_is_const(op) || op->name != NULL || !takes_weight(op))
            continue;
        op->name = make_word(node->graph, node->proto->name, number++);
    }
}
