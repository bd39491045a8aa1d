/* Asking the rows of legality.h. */
#include "rules/legality.h"

#include <stdio.h>
#include <string.h>

static const mw__legality_family *const families[] = {
    &mw__legality_program,     &mw__legality_gather,      &mw__legality_conv,
    &mw__legality_matmul,      &mw__legality_elementwise, &mw__legality_reduce,
    &mw__legality_shape_rules, &mw__legality_random,      &mw__legality_ports,
};

enum { FAMILIES = sizeof families / sizeof *families };

const mw__legality_family *mw__legality_family_at(size_t index) { return index < FAMILIES ? families[index] : NULL; }

const mw__legality_row *mw__legality_at(size_t index)
{
    for (size_t f = 0; f < FAMILIES; f++) {
        if (index < families[f]->count)
            return &families[f]->rows[index];
        index -= families[f]->count;
    }
    return NULL;
}

/* ---- what is asked about ---- */

const mw__chip_row *mw__legality_chip(const mw__legality *legality)
{
    return legality->chip != NULL ? legality->chip : mw__chip_find(MW_CHIP_AUTO);
}

bool mw__legality_half(const mw__legality *legality, const mw_tensor *value)
{
    return legality->half != NULL && value != NULL && value->id < legality->count && legality->half[value->id];
}

/* ---- for the families ---- */

bool mw__legality_always(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    (void)op;
    (void)trip;
    return true;
}

const mw_tensor *mw__legality_argument(const mw__op *op, const char *name)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].count > 0 && strcmp(op->slots[i].name, name) == 0)
            return op->slots[i].operands[0].value;
    return NULL;
}

mw_shape mw__legality_shape(const mw__op *op, const char *name)
{
    const mw_tensor *value = mw__legality_argument(op, name);
    return value != NULL ? mw_tensor_shape(value) : (mw_shape){0};
}

bool mw__legality_computed(const mw_tensor *value) { return value != NULL && !mw__is_constant(value); }

/* ---- asking ---- */

static bool is_for(const mw__legality_row *row, const char *operation)
{
    const char *const *name = row->operations;
    if (name == NULL)
        return true;
    while (*name != NULL && strcmp(*name, operation) != 0)
        name++;
    return *name != NULL;
}

/* The chip's bit; 0 for a device that is none, of which no row holds. */
static unsigned chip_bit(const mw__legality *legality)
{
    return legality->device->is_chip ? MW__ON(mw__legality_chip(legality)->chip) : 0;
}

/* True for a row of the chip and of the judge that is asked. */
static bool is_asked(const mw__legality *legality, const mw__legality_row *row, unsigned bit)
{
    const mw__judges judge = legality->judge == MW__JUDGE_COREML ? MW__BY_COREML : MW__BY_DIRECT;
    return (row->chips & bit) != 0 && (row->judges == MW__BY_BOTH || row->judges == judge);
}

bool mw__legality_ask_op(const mw__legality *legality, const mw__op *op, mw__legality_sink *sink, void *user)
{
    const unsigned bit = chip_bit(legality);
    for (size_t f = 0; bit != 0 && f < FAMILIES; f++)
        for (const mw__legality_row *row = families[f]->rows; row < families[f]->rows + families[f]->count; row++) {
            mw__trip trip = {0};
            if (is_asked(legality, row, bit) && row->op != NULL && is_for(row, op->kind) &&
                row->op(legality, op, &trip) && !sink(user, row, &trip))
                return false;
        }
    return true;
}

bool mw__legality_ask_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__legality_sink *sink,
                           void *user)
{
    const unsigned bit = chip_bit(legality);
    const mw__legality_row *row;
    for (size_t i = 0; bit != 0 && (row = mw__legality_at(i)) != NULL; i++) {
        mw__trip trip = {.tensor = port};
        if (is_asked(legality, row, bit) && row->port != NULL && row->port(legality, port, is_output, &trip) &&
            !sink(user, row, &trip))
            return false;
    }
    return true;
}

bool mw__legality_ask_function(const mw__legality *legality, const mw__function *function, mw__legality_sink *sink,
                               void *user)
{
    const unsigned bit = chip_bit(legality);
    const mw__legality_row *row;
    for (size_t i = 0; bit != 0 && (row = mw__legality_at(i)) != NULL; i++) {
        mw__trip trip = {0};
        if (is_asked(legality, row, bit) && row->function != NULL && row->function(legality, function, &trip) &&
            !sink(user, row, &trip))
            return false;
    }
    return true;
}

bool mw__legality_names_rewrite(const mw__legality *legality, const mw__op *op, mw__rule_id rewrite)
{
    const unsigned bit = chip_bit(legality) & MW__ON_NAMED;
    const mw__legality_row *row;
    for (size_t i = 0; bit != 0 && (row = mw__legality_at(i)) != NULL; i++) {
        mw__trip trip = {0};
        if (is_asked(legality, row, bit) && row->op != NULL && row->rewrite == rewrite && is_for(row, op->kind) &&
            row->op(legality, op, &trip))
            return true;
    }
    return false;
}

/* ---- words ---- */

static int print_found(const char *name, const mw__trip *trip, char *out, size_t size)
{
    if (strncmp(name, "{limit}", 7) == 0)
        return snprintf(out, size, "%lld", (long long)trip->limit);
    if (strncmp(name, "{there}", 7) == 0)
        return snprintf(out, size, "%lld", (long long)trip->there);
    return snprintf(out, size, "%s", trip->what != NULL ? trip->what : "");
}

size_t mw__legality_describe(const mw__legality_row *row, const mw__trip *trip, char *out, size_t size)
{
    size_t length = 0;
    for (const char *at = row->rule; *at != '\0' && length + 1 < size;) {
        if (*at != '{') {
            out[length++] = *at++;
            continue;
        }
        const int more = print_found(at, trip, out + length, size - length);
        length = more > 0 && (size_t)more < size - length ? length + (size_t)more : size - 1;
        at = strchr(at, '}') + 1; /* the rows' own */
    }
    out[length] = '\0';
    return length;
}
