/* A MIL text as a part of a graph: its operations are appended, with tensors of the graph for its inputs. */
#include "base/number/float_mode.h"
#include "base/text/text.h"
#include "graph/ir/ir_make.h"
#include "graph/transform/clone/clone.h"
#include "mil/io.h"

#include <millwright/mil.h>
#include <string.h>

typedef struct snippet {
    mw_graph *graph; /* of the user */
    mw_tensor *const *inputs;
    size_t input_count;
    mw_tensor **out;
    size_t out_count;
} snippet;

/* A function alone is a program, too. */
static mw_graph *parse(const mw_graph *like, const char *text, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = like->allocator;
    const char *start = text + strspn(text, " \t\r\n");
    if (strncmp(start, "func", 4) != 0)
        return mw_graph_parse_mil(text, strlen(text), NULL, &options, err);
    mw__text whole;
    mw__text_init(&whole, like->allocator);
    mw__text_printf(&whole, "program(1.0) {"); /* in the first line, so that lines are counted as in the text */
    mw__text_puts(&whole, text);
    mw__text_puts(&whole, "}");
    mw_graph *graph =
        mw__text_check(&whole, err) == MW_OK ? mw_graph_parse_mil(whole.data, whole.size, NULL, &options, err) : NULL;
    mw__text_deinit(&whole);
    return graph;
}

static mw_status check_input(const snippet *s, const mw_tensor *declared, size_t index, mw_error *err)
{
    char a[64], b[64];
    const mw_tensor *given = s->inputs[index];
    if (given == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_mil_snippet: input %zu is NULL", index);
    if (given->graph != s->graph)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_mil_snippet: input %zu is of another graph", index);
    if (declared->type->kind == MW__TENSOR &&
        mw__type_fits(declared->type, mw_tensor_dtype(given), mw_tensor_shape(given)))
        return MW_OK;
    if (declared->type->kind != MW__TENSOR)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "mw_mil_snippet: input %zu of the text, \"%s\", is no tensor", index,
                        declared->name);
    return mw__fail(err, mw_tensor_dtype(given) != mw_tensor_dtype(declared) ? MW_ERROR_DTYPE : MW_ERROR_SHAPE,
                    "mw_mil_snippet: input %zu is %s %s, where the text declares \"%s\" %s %s", index,
                    mw_dtype_name(mw_tensor_dtype(given)), mw__shape_print(mw_tensor_shape(given), a, sizeof a),
                    declared->name, mw_dtype_name(mw_tensor_dtype(declared)),
                    mw__shape_print(mw_tensor_shape(declared), b, sizeof b));
}

static mw_status check_snippet(const snippet *s, const mw__function *function, mw_error *err)
{
    const mw__block *body = function->body;
    if (body->input_count != s->input_count || body->output_count != s->out_count)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_mil_snippet: function \"%s\" of the text has %zu inputs and %zu results; %zu and %zu are given",
            function->name, body->input_count, body->output_count, s->input_count, s->out_count);
    if (function->opset > s->graph->current->opset)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "mw_mil_snippet: the text is of ios%d, the graph of ios%d: make it with that opset",
                        (int)function->opset, (int)s->graph->current->opset);
    for (size_t i = 0; i < s->input_count; i++)
        MW_TRY(check_input(s, body->inputs[i], i, err));
    for (size_t i = 0; i < function->graph->value_count; i++) {
        const mw__payload *payload = function->graph->values[i]->payload;
        if (payload != NULL && payload->blob_path != NULL && payload->data == NULL)
            return mw__fail(err, MW_ERROR_UNSUPPORTED,
                            "mw_mil_snippet: the text has a constant in a file; make it an input");
    }
    return MW_OK;
}

/* The names of the text are its own: many snippets may have the same. */
static void forget_names(const mw_graph *text)
{
    for (size_t i = 0; i < text->value_count; i++)
        text->values[i]->name = NULL;
}

static mw_status copy(const snippet *s, const mw__function *function, mw_error *err)
{
    mw__clone clone = {0};
    const mw__block *body = function->body;
    mw_status status = mw__clone_begin(&clone, function, s->graph, err);
    for (size_t i = 0; status == MW_OK && i < s->input_count; i++)
        mw__clone_set(&clone, body->inputs[i], s->inputs[i]);
    for (size_t i = 0; status == MW_OK && i < body->op_count; i++)
        if (mw__clone_again(&clone, body->ops[i]) != MW_OK)
            status = mw_graph_check(s->graph, err);
    for (size_t i = 0; status == MW_OK && i < s->out_count; i++) {
        s->out[i] = mw__clone_get(&clone, body->outputs[i]);
        if (s->out[i] == NULL)
            status = mw__fail(err, MW_ERROR_UNSUPPORTED, "mw_mil_snippet: result %zu of the text is no value", i);
    }
    mw__clone_deinit(&clone);
    return status == MW_OK ? mw_graph_check(s->graph, err) : status;
}

static mw_status append_snippet(const snippet *s, const char *text, mw_error *err)
{
    mw_graph *parsed = parse(s->graph, text, err);
    if (parsed == NULL)
        return err->status;
    const mw__function *function = mw__function_choose(parsed, NULL, err);
    mw_status status = function != NULL ? check_snippet(s, function, err) : err->status;
    if (status == MW_OK)
        status = mw_graph_verify(parsed, err);
    if (status == MW_OK) {
        forget_names(parsed);
        status = copy(s, function, err);
    }
    mw_graph_destroy(parsed);
    return status;
}

mw_status mw_mil_snippet(mw_graph *graph, const char *text, mw_tensor *const *inputs, size_t input_count,
                         mw_tensor **out_results, size_t result_count)
{
    MW__FLOAT_SCOPE;
    mw_error err = {0};
    for (size_t i = 0; out_results != NULL && i < result_count; i++)
        out_results[i] = NULL;
    if (graph == NULL)
        return MW_ERROR_ARGUMENT;
    if (graph->error.status != MW_OK)
        return graph->error.status;
    const snippet s = {graph, inputs, input_count, out_results, result_count};
    if (text == NULL || (inputs == NULL && input_count > 0) || out_results == NULL || result_count == 0)
        mw__fail(&err, MW_ERROR_ARGUMENT, "mw_mil_snippet: the %s missing",
                 text == NULL                        ? "text is"
                 : inputs == NULL && input_count > 0 ? "inputs are"
                                                     : "results are");
    else
        append_snippet(&s, text, &err);
    if (err.status == MW_OK)
        return MW_OK;
    for (size_t i = 0; out_results != NULL && i < result_count; i++)
        out_results[i] = NULL;
    if (graph->error.status == MW_OK) {
        graph->error = err;
        mw__graph_note(graph);
    }
    return err.status;
}
