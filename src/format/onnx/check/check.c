/* The walk over a model: each node against its row, each value once and before it is used. */
#include "format/onnx/check/check.h"

#include "base/memory/map.h"
#include "base/text/error.h"

#include <stdio.h>
#include <string.h>

enum { OPERATOR_SET = 17, TYPE_MAX = 16, DEPTH_MAX = 64, NAMES_MAX = 8 };

/* Values of a graph; what is around a body is seen in it. */
typedef struct level {
    mw__map values;
    const struct level *outer;
} level;

typedef struct checker {
    mw__arena arena;
    const char *name;
    mw_error *err;
    level *level;
    int depth;
} checker;

/* The types that names of a row stand for in one node. */
typedef struct bound {
    char name[NAMES_MAX][MW__ONNX_WORD];
    int type[NAMES_MAX];
    size_t count;
} bound;

/* ---- values ---- */

static mw_status refuse_node(const checker *c, const Mw__Onnx__Node *node, const char *why)
{
    return mw__fail(c->err, MW_ERROR_FORMAT, "\"%.100s\": %.60s \"%.80s\" is not valid ONNX: %s", c->name,
                    node->op_type, node->n_output > 0 ? node->output[0] : "", why);
}

static mw_status refuse_value(const checker *c, const char *value, const char *why)
{
    return mw__fail(c->err, MW_ERROR_FORMAT, "\"%.100s\": \"%.80s\" is not valid ONNX: %s", c->name, value, why);
}

static const mw__onnx_fact *find_fact(const level *from, const char *name)
{
    for (const level *at = from; at != NULL; at = at->outer) {
        const mw__onnx_fact *found = mw__map_get(&at->values, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static mw_status add_fact(checker *c, const char *name, const mw__onnx_fact *fact)
{
    if (name[0] == '\0')
        return refuse_value(c, name, "a value has no name");
    if (find_fact(c->level, name) != NULL)
        return refuse_value(c, name, "the name is given twice");
    mw__onnx_fact *copy = mw__arena_alloc(&c->arena, 1, sizeof *copy, c->err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    *copy = *fact;
    return mw__map_set(&c->level->values, name, copy, c->err);
}

/* ---- attributes ---- */

static const char kinds[] = "-fistgFISTG";

/* The word of an attribute in the row, behind its name; NULL for one that the row lacks. */
static const char *attribute_rule(const mw__onnx_schema *schema, const char *name, char word[MW__ONNX_WORD])
{
    const size_t length = strlen(name);
    for (const char *list = schema->attributes; mw__onnx_schema_word(&list, word);)
        if (strncmp(word, name, length) == 0 && word[length] == ':')
            return word + length + 1;
    return NULL;
}

static mw_status check_attributes(const checker *c, const Mw__Onnx__Node *node, const mw__onnx_schema *schema)
{
    char word[MW__ONNX_WORD], why[200];
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Mw__Onnx__Attribute *attribute = node->attribute[i];
        const char *rule = attribute_rule(schema, attribute->name, word);
        const bool known = attribute->type > 0 && attribute->type <= 10;
        snprintf(why, sizeof why, "attribute \"%.60s\" %s", attribute->name,
                 rule == NULL ? "is none of the operator's" : "is of another kind");
        if (rule == NULL || !known || kinds[attribute->type] != rule[0])
            return refuse_node(c, node, why);
    }
    for (const char *list = schema->attributes; mw__onnx_schema_word(&list, word);) {
        char *colon = strchr(word, ':');
        if (colon == NULL || colon[2] != '!')
            continue;
        *colon = '\0';
        snprintf(why, sizeof why, "attribute \"%.60s\" is missing", word);
        if (mw__onnx_schema_attribute(node, word) == NULL)
            return refuse_node(c, node, why);
    }
    return MW_OK;
}

/* ---- element types ---- */

/* The place of a name; it gets one. */
static int *type_of_name(bound *b, const char *name)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->name[i], name) == 0)
            return &b->type[i];
    if (b->count == NAMES_MAX)
        return NULL;
    memcpy(b->name[b->count], name, strlen(name) + 1);
    b->type[b->count] = 0;
    return &b->type[b->count++];
}

/* A word of the row as name and mark: ? + * or 0. */
static char take_mark(char word[MW__ONNX_WORD])
{
    const size_t length = strlen(word);
    const char mark = length > 0 ? word[length - 1] : '\0';
    if (mark != '?' && mark != '+' && mark != '*')
        return '\0';
    word[length - 1] = '\0';
    return mark;
}

static mw_status bind_type(const checker *c, const mw__onnx_facts *f, bound *b, size_t input, const char *name,
                           bool any)
{
    char why[200];
    const int type = f->in[input]->type;
    int *held = type_of_name(b, name);
    if (type == 0 || held == NULL)
        return MW_OK;
    snprintf(why, sizeof why, "input %zu is of type %d, which %s is not", input, type, name);
    if (!mw__onnx_schema_allows(f->schema->types, name, type))
        return refuse_node(c, f->node, why);
    snprintf(why, sizeof why, "input %zu is of type %d, where %s is %d already", input, type, name, *held);
    if (!any && *held != 0 && *held != type)
        return refuse_node(c, f->node, why);
    *held = type;
    return MW_OK;
}

static mw_status check_inputs(const checker *c, const mw__onnx_facts *f, bound *b)
{
    char word[MW__ONNX_WORD] = "", mark = '\0', why[80];
    const char *list = f->schema->inputs;
    for (size_t i = 0; i < f->node->n_input; i++) {
        if (mark != '+' && mark != '*') {
            snprintf(why, sizeof why, "input %zu is more than it takes", i);
            if (!mw__onnx_schema_word(&list, word))
                return refuse_node(c, f->node, why);
            mark = take_mark(word);
        }
        snprintf(why, sizeof why, "input %zu is left out", i);
        if (f->in[i] == NULL && mark != '?')
            return refuse_node(c, f->node, why);
        if (f->in[i] != NULL)
            MW_TRY(bind_type(c, f, b, i, word, mark == '*'));
    }
    while (mw__onnx_schema_word(&list, word))
        if ((mark = take_mark(word)) != '?' && mark != '*')
            return refuse_node(c, f->node, "an input is missing");
    return MW_OK;
}

/* Of operators whose attributes say the type of the result. */
static int said_type(const Mw__Onnx__Node *node)
{
    static const char *const names[] = {"to", "dtype", "output_datatype"};
    const Mw__Onnx__Attribute *value = mw__onnx_schema_attribute(node, "value");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Mw__Onnx__Attribute *found = mw__onnx_schema_attribute(node, names[i]);
        if (found != NULL)
            return (int)found->i;
    }
    return value != NULL && value->t != NULL ? value->t->data_type : 0;
}

/* Bodies have given the results of their nodes their types already. */
static mw_status type_results(const checker *c, mw__onnx_facts *f, bound *b)
{
    char word[MW__ONNX_WORD] = "", mark = '\0', why[80];
    const char *list = f->schema->results;
    for (size_t i = 0; i < f->node->n_output; i++) {
        if (mark != '+' && mark != '*') {
            snprintf(why, sizeof why, "result %zu is more than it has", i);
            if (!mw__onnx_schema_word(&list, word))
                return refuse_node(c, f->node, why);
            mark = take_mark(word);
        }
        const int *held = type_of_name(b, word), said = said_type(f->node);
        if (mark == '*')
            continue;
        const int only = mw__onnx_schema_only_type(f->schema->types, word);
        f->out[i].type = only != 0 ? only : held != NULL && *held != 0 ? *held : said;
        snprintf(why, sizeof why, "result %zu would be of type %d", i, f->out[i].type);
        if (f->out[i].type != 0 && !mw__onnx_schema_allows(f->schema->types, word, f->out[i].type))
            return refuse_node(c, f->node, why);
    }
    return MW_OK;
}

/* ---- bodies ---- */

static mw_status check_graph(checker *c, const Mw__Onnx__Graph *graph, const mw__onnx_fact *inputs, size_t input_count,
                             mw__onnx_fact *out_results);

static const Mw__Onnx__Graph *body_of(const Mw__Onnx__Node *node, const char *name)
{
    const Mw__Onnx__Attribute *found = mw__onnx_schema_attribute(node, name);
    return found != NULL ? found->g : NULL;
}

static mw_status check_if(checker *c, mw__onnx_facts *f)
{
    static const char *const names[] = {"then_branch", "else_branch"};
    const size_t count = f->node->n_output;
    mw__onnx_fact *found = mw__arena_alloc(&c->arena, 2 * count, sizeof *found, c->err);
    if (found == NULL)
        return MW_ERROR_MEMORY;
    for (int i = 0; i < 2; i++) {
        const Mw__Onnx__Graph *body = body_of(f->node, names[i]);
        if (body == NULL || body->n_input != 0 || body->n_output != count)
            return refuse_node(c, f->node, "a branch has inputs, or another number of results");
        MW_TRY(check_graph(c, body, NULL, 0, found + (size_t)i * count));
    }
    for (size_t i = 0; i < count; i++) {
        if (found[i].type != found[count + i].type)
            return refuse_node(c, f->node, "its branches give different types");
        f->out[i] = found[i];
        f->out[i].rank = found[i].rank == found[count + i].rank ? found[i].rank : -1;
    }
    return MW_OK;
}

static mw_status check_carried(const checker *c, const mw__onnx_facts *f, const mw__onnx_fact *in,
                               const mw__onnx_fact *out)
{
    if (in->type == out->type && (in->rank == out->rank || in->rank < 0 || out->rank < 0))
        return MW_OK;
    return refuse_node(c, f->node, "a variable has another type or rank behind a trip");
}

/* Trip count, condition, variables; condition, variables, and what each trip adds to results. */
static mw_status check_loop(checker *c, mw__onnx_facts *f)
{
    const Mw__Onnx__Graph *body = body_of(f->node, "body");
    const size_t taken = f->node->n_input, vars = taken > 2 ? taken - 2 : 0;
    if (body == NULL || body->n_input != vars + 2 || body->n_output != f->node->n_output + 1 ||
        body->n_output < vars + 1)
        return refuse_node(c, f->node, "its body has another number of inputs or results");
    mw__onnx_fact *in = mw__arena_alloc(&c->arena, body->n_input, sizeof *in, c->err);
    mw__onnx_fact *out = mw__arena_alloc(&c->arena, body->n_output, sizeof *out, c->err);
    if (in == NULL || out == NULL)
        return MW_ERROR_MEMORY;
    in[0] = (mw__onnx_fact){.type = 7, .count = -1};
    in[1] = (mw__onnx_fact){.type = 9, .count = -1};
    for (size_t i = 0; i < vars; i++) {
        in[2 + i] = *f->in[2 + i];
        in[2 + i].constant = NULL;
    }
    MW_TRY(check_graph(c, body, in, body->n_input, out));
    if (out[0].type != 9 || out[0].rank > 0)
        return refuse_node(c, f->node, "the condition of its body is no bool scalar");
    for (size_t i = 0; i < f->node->n_output; i++) {
        f->out[i] = out[i + 1];
        if (i < vars)
            MW_TRY(check_carried(c, f, &in[2 + i], &out[i + 1]));
        else if (out[i + 1].rank >= 0)
            f->out[i].rank++;
    }
    return MW_OK;
}

/* ---- nodes ---- */

static mw_status find_inputs(checker *c, mw__onnx_facts *f)
{
    const Mw__Onnx__Node *node = f->node;
    f->in = mw__arena_alloc(&c->arena, node->n_input + 1, sizeof *f->in, c->err);
    f->out = mw__arena_alloc(&c->arena, node->n_output + 1, sizeof *f->out, c->err);
    if (f->in == NULL || f->out == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < node->n_output; i++)
        f->out[i] = (mw__onnx_fact){.rank = -1, .count = -1};
    for (size_t i = 0; i < node->n_input; i++) {
        f->in[i] = node->input[i][0] != '\0' ? find_fact(c->level, node->input[i]) : NULL;
        if (f->in[i] == NULL && node->input[i][0] != '\0')
            return refuse_node(c, node, "it takes what nothing before it gives");
    }
    return MW_OK;
}

static mw_status check_node(checker *c, const Mw__Onnx__Node *node)
{
    mw__onnx_facts f = {.node = node, .schema = mw__onnx_schema_find(node->op_type)};
    bound b = {0};
    if (f.schema == NULL || (node->domain[0] != '\0' && strcmp(node->domain, "ai.onnx") != 0))
        return refuse_node(c, node, "operator set 17 has no such operator");
    MW_TRY(find_inputs(c, &f));
    MW_TRY(check_attributes(c, node, f.schema));
    MW_TRY(check_inputs(c, &f, &b));
    MW_TRY(type_results(c, &f, &b));
    if (!mw__onnx_check_ranks(&f))
        return refuse_node(c, node, f.why);
    if (strcmp(node->op_type, "If") == 0)
        MW_TRY(check_if(c, &f));
    if (strcmp(node->op_type, "Loop") == 0)
        MW_TRY(check_loop(c, &f));
    for (size_t i = 0; i < node->n_output; i++)
        if (node->output[i][0] != '\0')
            MW_TRY(add_fact(c, node->output[i], &f.out[i]));
    return MW_OK;
}

/* ---- graphs ---- */

static mw_status add_initializer(checker *c, const Mw__Onnx__Tensor *tensor)
{
    if (tensor->data_type < 1 || tensor->data_type > TYPE_MAX)
        return refuse_value(c, tensor->name, "its element type is none");
    const mw__onnx_fact fact = {.type = tensor->data_type,
                                .rank = (int)tensor->n_dims,
                                .count = tensor->n_dims == 1 ? tensor->dims[0] : -1,
                                .constant = tensor};
    for (size_t i = 0; i < tensor->n_dims; i++)
        if (tensor->dims[i] < 0)
            return refuse_value(c, tensor->name, "an extent is negative");
    return add_fact(c, tensor->name, &fact);
}

/* What a port is declared as; type 0 for what is no tensor. */
static mw__onnx_fact declared_fact(const Mw__Onnx__ValueInfo *info)
{
    mw__onnx_fact fact = {.rank = -1, .count = -1};
    if (info->type == NULL || info->type->value_case != MW__ONNX__TYPE__VALUE_TENSOR_TYPE)
        return fact;
    const Mw__Onnx__TensorType *tensor = info->type->tensor_type;
    fact.type = tensor->elem_type;
    fact.rank = tensor->shape != NULL ? (int)tensor->shape->n_dim : -1;
    if (fact.rank == 1 && tensor->shape->dim[0]->value_case == MW__ONNX__DIMENSION__VALUE_DIM_VALUE)
        fact.count = tensor->shape->dim[0]->dim_value;
    return fact;
}

static bool agree(const mw__onnx_fact *a, const mw__onnx_fact *b)
{
    return (a->type == b->type || a->type == 0 || b->type == 0) && (a->rank == b->rank || a->rank < 0 || b->rank < 0);
}

/* `given` is what a body is called with; NULL of a whole model. */
static mw_status add_input(checker *c, const Mw__Onnx__ValueInfo *info, const mw__onnx_fact *given)
{
    mw__onnx_fact fact = declared_fact(info);
    if (given == NULL && (fact.type < 1 || fact.type > TYPE_MAX))
        return refuse_value(c, info->name, "the input has no element type");
    if (given != NULL && !agree(&fact, given))
        return refuse_value(c, info->name, "the body is given another type or rank");
    fact = given != NULL ? *given : fact;
    return add_fact(c, info->name, &fact);
}

static mw_status check_output(const checker *c, const Mw__Onnx__ValueInfo *info, mw__onnx_fact *out)
{
    const mw__onnx_fact *made = mw__map_get(&c->level->values, info->name), declared = declared_fact(info);
    if (made == NULL)
        return refuse_value(c, info->name, "nothing in its graph gives the output");
    if (!agree(made, &declared) || declared.type == 0)
        return refuse_value(c, info->name, "the output is declared with another type or rank than it has");
    if (out != NULL)
        *out = *made;
    return MW_OK;
}

static mw_status check_parts(checker *c, const Mw__Onnx__Graph *graph, const mw__onnx_fact *inputs,
                             mw__onnx_fact *out_results)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        MW_TRY(add_initializer(c, graph->initializer[i]));
    for (size_t i = 0; i < graph->n_input; i++)
        MW_TRY(add_input(c, graph->input[i], inputs != NULL ? &inputs[i] : NULL));
    for (size_t i = 0; i < graph->n_node; i++)
        MW_TRY(check_node(c, graph->node[i]));
    for (size_t i = 0; i < graph->n_output; i++)
        MW_TRY(check_output(c, graph->output[i], out_results != NULL ? &out_results[i] : NULL));
    return MW_OK;
}

static mw_status check_graph(checker *c, const Mw__Onnx__Graph *graph, const mw__onnx_fact *inputs, size_t input_count,
                             mw__onnx_fact *out_results)
{
    level own = {.outer = c->level};
    if (c->depth == DEPTH_MAX || input_count > graph->n_input)
        return refuse_value(c, graph->name, "graphs are nested too deep, or a body lacks inputs");
    mw__map_init(&own.values, c->arena.allocator);
    c->level = &own;
    c->depth++;
    const mw_status status = check_parts(c, graph, inputs, out_results);
    c->depth--;
    c->level = (level *)own.outer;
    mw__map_deinit(&own.values);
    return status;
}

mw_status mw__onnx_check(const mw_allocator *allocator, const Mw__Onnx__Model *model, const char *name, mw_error *err)
{
    int64_t opset = 0;
    for (size_t i = 0; i < model->n_opset_import; i++)
        if (model->opset_import[i]->domain[0] == '\0' || strcmp(model->opset_import[i]->domain, "ai.onnx") == 0)
            opset = model->opset_import[i]->version;
    if (model->graph == NULL || opset != OPERATOR_SET)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": models of operator set 17 are checked, this is of %lld",
                        name, (long long)opset);
    checker c = {.name = name, .err = err};
    mw__arena_init(&c.arena, allocator);
    const mw_status status = check_graph(&c, model->graph, NULL, 0, NULL);
    mw__arena_deinit(&c.arena);
    return status;
}
