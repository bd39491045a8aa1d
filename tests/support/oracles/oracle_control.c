/* The reference evaluator: branches, loops, lists, states and classify. A list is its length and then its elements,
 * LIST_MAX at most. */
#include "support/oracles/oracle.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 64 };

static size_t size_of(const mw_tensor *value)
{
    const mw__type *type = value->type;
    if (type->kind == MW__TENSOR)
        return (size_t)oracle_count(value);
    const size_t element = (size_t)mw_shape_count(type->element[0]->shape);
    return type->kind == MW__LIST ? 1 + LIST_MAX * element : element;
}

static double *fresh(oracle *o, const mw_tensor *value)
{
    free(o->data[value->id]);
    o->data[value->id] = calloc(size_of(value) + 1, sizeof(double));
    return o->data[value->id];
}

static bool copy(oracle *o, const mw_tensor *to, const mw_tensor *from)
{
    if (o->data[from->id] == NULL)
        return false;
    double *held = malloc((size_of(from) + 1) * sizeof *held);
    memcpy(held, o->data[from->id], size_of(from) * sizeof *held);
    memcpy(fresh(o, to), held, size_of(from) * sizeof *held);
    free(held);
    return true;
}

static bool branch(oracle *o, const mw__op *op)
{
    const mw__block *taken = op->blocks[oracle_arg(o, op, "pred")[0] != 0 ? 0 : 1];
    bool good = oracle_block(o, taken);
    for (size_t i = 0; good && i < op->result_count; i++)
        good = copy(o, op->results[i], taken->outputs[i]);
    return good;
}

/* The results hold the variables between two turns. */
static bool loop(oracle *o, const mw__op *op)
{
    const mw__block *condition = op->blocks[0], *body = op->blocks[1];
    const mw__operand *vars;
    mw__arg_values(op, "loop_vars", &vars);
    bool good = true;
    for (size_t i = 0; good && i < op->result_count; i++)
        good = copy(o, op->results[i], vars[i].value);
    for (int turn = 0; good && turn < 1000; turn++) {
        for (size_t i = 0; good && i < op->result_count; i++)
            good = copy(o, condition->inputs[i], op->results[i]) && copy(o, body->inputs[i], op->results[i]);
        good = good && oracle_block(o, condition);
        if (good && o->data[condition->outputs[0]->id][0] == 0)
            return true;
        good = good && oracle_block(o, body);
        for (size_t i = 0; good && i < op->result_count; i++)
            good = copy(o, op->results[i], body->outputs[i]);
    }
    return false;
}

static bool make(oracle *o, const mw__op *op)
{
    double length = 1;
    if (mw__arg_present(op, "init_length"))
        length = oracle_arg(o, op, "init_length")[0];
    fresh(o, op->results[0])[0] = length;
    return true;
}

static size_t element_of(const mw__op *op)
{
    return (size_t)mw_shape_count(mw__arg(op, "ls")->type->element[0]->shape);
}

static bool read_at(oracle *o, const mw__op *op)
{
    const bool one = strcmp(op->kind, "list_read") == 0;
    const char *arg = one ? "index" : "indices";
    const double *at = oracle_arg(o, op, arg), *list = oracle_arg(o, op, "ls");
    const size_t element = element_of(op);
    double *out = o->data[op->results[0]->id];
    for (int64_t i = 0; i < oracle_count(mw__arg(op, arg)); i++)
        for (size_t e = 0; e < element; e++)
            out[(size_t)i * element + e] = at[i] >= 0 && at[i] < list[0] ? list[1 + (size_t)at[i] * element + e] : 0;
    return true;
}

static bool write_at(oracle *o, const mw__op *op)
{
    const char *arg = strcmp(op->kind, "list_write") == 0 ? "index" : "indices";
    const size_t element = element_of(op);
    copy(o, op->results[0], mw__arg(op, "ls"));
    double *list = o->data[op->results[0]->id];
    const double *at = oracle_arg(o, op, arg), *value = oracle_arg(o, op, "value");
    for (int64_t i = 0; i < oracle_count(mw__arg(op, arg)); i++) {
        if (at[i] < 0 || at[i] >= LIST_MAX)
            return false;
        memcpy(list + 1 + (size_t)at[i] * element, value + (size_t)i * element, element * sizeof *list);
        list[0] = at[i] + 1 > list[0] ? at[i] + 1 : list[0];
    }
    return true;
}

static bool length(oracle *o, const mw__op *op)
{
    o->data[op->results[0]->id][0] = oracle_arg(o, op, "ls")[0];
    return true;
}

static bool read_state(oracle *o, const mw__op *op) { return copy(o, op->results[0], mw__arg(op, "input")); }

static bool write_state(oracle *o, const mw__op *op) { return copy(o, mw__arg(op, "input"), mw__arg(op, "data")); }

/* A label is the index of its class; the dictionary is not looked at. */
static bool classify(oracle *o, const mw__op *op)
{
    const double *numbers = oracle_arg(o, op, "probabilities");
    int64_t best = 0;
    for (int64_t i = 1; i < oracle_count(mw__arg(op, "probabilities")); i++)
        best = numbers[i] > numbers[best] ? i : best;
    o->data[op->results[0]->id][0] = (double)best;
    return true;
}

bool oracle_of_control(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {
        {"cond", branch},           {"while_loop", loop},         {"make_list", make},        {"list_read", read_at},
        {"list_gather", read_at},   {"list_write", write_at},     {"list_scatter", write_at}, {"list_length", length},
        {"read_state", read_state}, {"write_state", write_state}, {"classify", classify}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
