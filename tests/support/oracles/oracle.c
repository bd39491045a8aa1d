/* The reference evaluator: values, indices and the walk over the graph. */
#include "support/oracles/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t oracle_count(const mw_tensor *value) { return mw_shape_count(value->type->shape); }

void oracle_init(oracle *o, const mw_graph *graph) { *o = (oracle){.graph = graph}; }

void oracle_deinit(oracle *o)
{
    for (size_t i = 0; i < o->capacity; i++)
        free(o->data[i]);
    free(o->data);
}

static void reserve(oracle *o)
{
    size_t wanted = o->graph->value_count;
    if (wanted <= o->capacity)
        return;
    o->data = realloc(o->data, wanted * sizeof *o->data);
    for (size_t i = o->capacity; i < wanted; i++)
        o->data[i] = NULL;
    o->capacity = wanted;
}

static double *room_for(oracle *o, const mw_tensor *value)
{
    reserve(o);
    if (o->data[value->id] == NULL)
        o->data[value->id] = calloc((size_t)oracle_count(value) + 1, sizeof(double));
    return o->data[value->id];
}

void oracle_set(oracle *o, const mw_tensor *value, const double *data)
{
    memcpy(room_for(o, value), data, (size_t)oracle_count(value) * sizeof *data);
}

const double *oracle_get(const oracle *o, const mw_tensor *value)
{
    return value->id < o->capacity ? o->data[value->id] : NULL;
}

const double *oracle_arg(const oracle *o, const mw__op *op, const char *arg) { return o->data[mw__arg(op, arg)->id]; }

mw_shape oracle_shape(const mw__op *op, const char *arg) { return mw__arg(op, arg)->type->shape; }

void oracle_unravel(mw_shape shape, int64_t index, int64_t *coordinates)
{
    for (int i = shape.rank - 1; i >= 0; i--) {
        coordinates[i] = index % shape.dim[i];
        index /= shape.dim[i];
    }
}

int64_t oracle_ravel(mw_shape shape, const int64_t *coordinates)
{
    int64_t index = 0;
    for (int i = 0; i < shape.rank; i++)
        index = index * shape.dim[i] + coordinates[i];
    return index;
}

double oracle_number(const mw__op *op, const char *arg)
{
    double value = 0.0;
    mw__arg_float(op, arg, &value);
    return value;
}

int64_t oracle_int(const mw__op *op, const char *arg)
{
    int64_t value = 0;
    mw__arg_int(op, arg, &value);
    return value;
}

size_t oracle_ints(const mw__op *op, const char *arg, int64_t *out)
{
    size_t count = 0;
    return mw__arg_ints(op, arg, out, 2 * MW_RANK_MAX, &count) ? count : 0;
}

bool oracle_flag(const mw__op *op, const char *arg, int index)
{
    bool flags[MW_RANK_MAX];
    size_t count = 0;
    return mw__arg_bools(op, arg, flags, MW_RANK_MAX, &count) && (size_t)index < count && flags[index];
}

bool oracle_find(const oracle_row *rows, size_t count, oracle *o, const mw__op *op)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(op->kind, rows[i].name) == 0)
            return rows[i].run(o, op);
    return false;
}

bool oracle_map(oracle *o, const mw__op *op, bool (*value)(const mw__op *op, double x, double *y))
{
    const mw_tensor *y = op->row != NULL && op->slot_count > 0 && op->result_count == 1 ? op->results[0] : NULL;
    double unused;
    if (y == NULL || !value(op, 0.5, &unused))
        return false;
    const double *x = oracle_arg(o, op, "x");
    for (int64_t i = 0; i < oracle_count(y); i++)
        value(op, x[i], &o->data[y->id][i]);
    return true;
}

int64_t oracle_broadcast(mw_shape out, mw_shape in, int64_t index)
{
    int64_t at[MW_RANK_MAX] = {0}, from[MW_RANK_MAX] = {0};
    oracle_unravel(out, index, at);
    for (int i = 0; i < in.rank; i++)
        from[i] = in.dim[i] == 1 ? 0 : at[i + out.rank - in.rank];
    return oracle_ravel(in, from);
}

static void load_constant(oracle *o, const mw_tensor *value)
{
    if (value->type->dtype == MW_STRING || value->type->kind != MW__TENSOR)
        return;
    double *out = room_for(o, value);
    bool real = value->type->dtype == MW_F32 || value->type->dtype == MW_F16 || value->type->dtype == MW_F64;
    for (int64_t i = 0; i < oracle_count(value); i++)
        out[i] =
            real ? mw__payload_float(value->payload, (size_t)i) : (double)mw__payload_int(value->payload, (size_t)i);
}

static bool known_operands(oracle *o, const mw__op *op)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++) {
            const mw_tensor *value = op->slots[s].operands[i].value;
            if (value->payload != NULL && o->data[value->id] == NULL)
                load_constant(o, value);
            if (o->data[value->id] == NULL && value->type->kind == MW__STATE) /* starts at zero */
                o->data[value->id] = calloc((size_t)mw_shape_count(value->type->element[0]->shape) + 1, sizeof(double));
            const bool numbers =
                value->type->dtype != MW_STRING && (value->type->kind == MW__TENSOR || value->payload == NULL);
            if (o->data[value->id] == NULL && numbers) /* no strings, and no list of labels */
                return false;
        }
    return true;
}

static bool evaluate(oracle *o, const mw__op *op)
{
    static bool (*const families[])(oracle * o, const mw__op *op) = {
#define FAMILY(name) oracle_of_##name,
#include "support/cases/families.def"
#undef FAMILY
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i](o, op))
            return true;
    return false;
}

bool oracle_run(oracle *o)
{
    reserve(o);
    return oracle_block(o, o->graph->current->body);
}

bool oracle_block(oracle *o, const mw__block *body)
{
    for (size_t i = 0; i < body->output_count; i++)
        if (body->outputs[i]->payload != NULL && o->data[body->outputs[i]->id] == NULL)
            load_constant(o, body->outputs[i]);
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (op->result_count == 1 && op->results[0]->payload != NULL) {
            load_constant(o, op->results[0]);
            continue;
        }
        bool good = known_operands(o, op);
        for (size_t r = 0; good && r < op->result_count; r++)
            room_for(o, op->results[r]);
        if (!good || !evaluate(o, op)) {
            snprintf(o->missing, sizeof o->missing, "%s%s", op->kind, good ? "" : " (operand)");
            return false;
        }
    }
    return true;
}
