/* The numbers of an optimizer, one row each. From the rows follow the checks of what a user gave, the constants of a
 * program, and the line that a checkpoint must agree with, in their order. */
#include "autograd/optimizers/optimizer_custom.h"
#include "autograd/optimizers/optimizer_update.h"
#include "base/number/number.h"
#include "base/text/error.h"

#include <math.h>
#include <stddef.h>

typedef enum number_range {
    POSITIVE,
    NOT_NEGATIVE,
    FRACTION, /* in [0, 1) */
    SWITCH,   /* a bool; false for the kinds that have it not */
    OPTION    /* a bool; in the line only if it is set */
} number_range;

/* How a number stands in the program. */
typedef enum number_unit {
    NO_CONSTANT,
    PLAIN,
    SCALED, /* times the loss scale, as the gradients are */
    DECAY,  /* the same, but plain where it does not pass the gradient */
    ROOT    /* its root times the loss scale */
} number_unit;

#define EVERY ~0u

typedef struct number_row {
    const char *name;
    size_t offset; /* of the field: a float, or a bool */
    unsigned bit;  /* whose line has it: the rows with this bit, or EVERY; 0 = none, as a schedule may change it */
    number_range range;
    number_unit unit;
} number_row;

#define NUMBER(field, bit, range, unit)                                                                                \
    {                                                                                                                  \
#field, offsetof(mw_optimizer, field), bit, range, unit                                                        \
    }

static const number_row numbers[] = {
    NUMBER(learning_rate, 0u, POSITIVE, NO_CONSTANT),
    NUMBER(beta1, MW__NUMBER_BETA1, FRACTION, PLAIN),
    NUMBER(beta2, MW__NUMBER_BETA2, FRACTION, PLAIN),
    NUMBER(alpha, MW__NUMBER_ALPHA, FRACTION, PLAIN),
    NUMBER(centered, MW__NUMBER_CENTERED, SWITCH, NO_CONSTANT),
    NUMBER(momentum, MW__NUMBER_MOMENTUM, FRACTION, PLAIN),
    NUMBER(nesterov, MW__NUMBER_NESTEROV, SWITCH, NO_CONSTANT),
    NUMBER(lr_decay, MW__NUMBER_LR_DECAY, NOT_NEGATIVE, NO_CONSTANT),
    NUMBER(initial_accumulator, MW__NUMBER_INITIAL_ACCUMULATOR, NOT_NEGATIVE, ROOT),
    NUMBER(epsilon, MW__NUMBER_EPSILON, NOT_NEGATIVE, SCALED),
    NUMBER(weight_decay, EVERY, NOT_NEGATIVE, DECAY),
    NUMBER(decoupled, EVERY, SWITCH, NO_CONSTANT),
    NUMBER(compensated, EVERY, OPTION, NO_CONSTANT),
};

_Static_assert(sizeof numbers / sizeof *numbers == MW__OPTIMIZER_NUMBERS, "room for each");

static bool is_switch(const number_row *row) { return row->range == SWITCH || row->range == OPTION; }

static bool read_switch(const mw_optimizer *o, const number_row *row)
{
    return *(const bool *)((const char *)o + row->offset);
}

static float read_number(const mw_optimizer *o, const number_row *row)
{
    return *(const float *)(const void *)((const char *)o + row->offset);
}

static bool is_of(const number_row *row, mw_optimizer_kind kind)
{
    return row->bit == EVERY || mw__optimizer_has(kind, row->bit);
}

/* ---- checks ---- */

static bool is_good(number_range range, float value)
{
    if (range == FRACTION)
        return value >= 0.0f && value < 1.0f;
    return isfinite(value) && (range == POSITIVE ? value > 0.0f : value >= 0.0f);
}

/* Another kind would ignore it. */
static mw_status check_switch(const mw_optimizer *o, const number_row *row, mw_error *err)
{
    if (!read_switch(o, row) || is_of(row, o->kind))
        return MW_OK;
    mw_optimizer_kind owner = MW_SGD;
    while (!is_of(row, owner))
        owner++;
    return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: %s is for %s; %s has none", row->name,
                    mw__optimizer_kind_name(owner), mw__optimizer_kind_name(o->kind));
}

static mw_status check_number(const mw_optimizer *o, const number_row *row, mw_error *err)
{
    static const char *const rules[] = {
        [POSITIVE] = "positive and finite", [NOT_NEGATIVE] = "0 or more, and finite", [FRACTION] = "in [0, 1)"};
    const float value = read_number(o, row);
    if (is_good(row->range, value))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: %s is %g; it must be %s", row->name, (double)value,
                    rules[row->range]);
}

/* A rule has its own; what it would not read is refused. */
static mw_status check_rule(const mw_optimizer *o, mw_error *err)
{
    MW_TRY(mw__optimizer_rule_check(o, err));
    for (size_t i = 0; o->rule != NULL && i < MW__OPTIMIZER_NUMBERS; i++) {
        const number_row *row = &numbers[i];
        if (row->bit != EVERY && row->bit != 0 && !is_switch(row) && read_number(o, row) != 0.0f)
            return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\": %s is for built-in optimizers", o->rule->name,
                            row->name);
    }
    if (o->rule != NULL && o->weight_decay != 0.0f && !o->rule->decays)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "optimizer \"%s\": weight_decay is %g, but the rule does not say `decays`", o->rule->name,
                        (double)o->weight_decay);
    return MW_OK;
}

mw_status mw__optimizer_check(const mw_optimizer *o, mw_error *err)
{
    if (mw__optimizer_kind_name(o->kind) == NULL)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "optimizer: kind %d is none; make one with mw_sgd, mw_adam, mw_adamw, mw_rmsprop, mw_adagrad, mw_lion or "
            "mw_optimizer_custom",
            (int)o->kind);
    for (size_t i = 0; i < MW__OPTIMIZER_NUMBERS; i++)
        MW_TRY(is_switch(&numbers[i]) ? check_switch(o, &numbers[i], err) : check_number(o, &numbers[i], err));
    MW_TRY(check_rule(o, err));
    if (o->nesterov && o->momentum == 0.0f)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: nesterov needs a momentum above 0");
    return MW_OK;
}

/* ---- constants ---- */

static double in_unit(const mw_optimizer *o, const number_row *row, double loss_scale)
{
    const double value = (double)read_number(o, row);
    switch (row->unit) {
    case SCALED:
        return value * loss_scale;
    case DECAY:
        return value * (o->decoupled ? 1.0 : loss_scale);
    case ROOT:
        return sqrt(value) * loss_scale;
    default:
        return value;
    }
}

size_t mw__optimizer_constants(const mw_optimizer *o, double loss_scale,
                               mw__optimizer_constant out[MW__OPTIMIZER_NUMBERS])
{
    size_t count = 0;
    for (size_t i = 0; i < MW__OPTIMIZER_NUMBERS; i++)
        if (numbers[i].unit != NO_CONSTANT)
            out[count++] = (mw__optimizer_constant){numbers[i].name, in_unit(o, &numbers[i], loss_scale)};
    return count;
}

/* ---- description ---- */

void mw__describe_number(mw__text *text, const char *name, double value)
{
    char number[MW__NUMBER_MAX];
    mw__number_print_float(number, (float)value);
    mw__text_printf(text, " %s=%s", name, number);
}

void mw__optimizer_describe(const mw_optimizer *o, mw__text *text)
{
    mw__text_puts(text, mw__optimizer_kind_name(o->kind));
    if (o->rule != NULL)
        mw__optimizer_rule_describe(o->rule, text);
    for (size_t i = 0; i < MW__OPTIMIZER_NUMBERS; i++) {
        const number_row *row = &numbers[i];
        if (!is_of(row, o->kind) || (row->range == OPTION && !read_switch(o, row)))
            continue;
        if (is_switch(row))
            mw__text_printf(text, " %s=%d", row->name, read_switch(o, row));
        else
            mw__describe_number(text, row->name, (double)read_number(o, row));
    }
}
