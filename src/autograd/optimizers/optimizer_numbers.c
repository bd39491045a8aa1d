/* The numbers of an optimizer, one row each. From the rows follow what may be set, the checks of what a user gave, the
 * constants of a program, and the line that a checkpoint must agree with, in their order. Which optimizer has which
 * numbers, and their defaults, is in the row of the optimizer. */
#include "autograd/optimizers/optimizer_custom.h"
#include "autograd/optimizers/optimizer_update.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/printable.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

typedef enum number_range { POSITIVE, NOT_NEGATIVE, FRACTION, SWITCH } number_range;

static const struct {
    double least, most; /* both allowed */
    const char *rule;
} ranges[] = {[POSITIVE] = {0x1p-149, FLT_MAX, "positive and finite"},
              [NOT_NEGATIVE] = {0.0, FLT_MAX, "0 or more, and finite"},
              [FRACTION] = {0.0, 1.0 - 0x1p-24, "in [0, 1)"},
              [SWITCH] = {0.0, 1.0, "0 or 1"}};

/* How a number stands in the program. */
typedef enum number_unit {
    NO_CONSTANT,
    PLAIN,
    SCALED, /* times the loss scale, as the gradients are */
    DECAY,  /* the same, but plain where it does not pass the gradient */
    ROOT    /* its root times the loss scale */
} number_unit;

/* When the line of a checkpoint has it. */
typedef enum number_line {
    NEVER, /* a schedule may change it */
    IF_HAD,
    ALWAYS,
    IF_SET
} number_line;

typedef struct number_row {
    const char *name;
    size_t offset; /* of the field: a float, or a bool */
    number_line line;
    number_range range;
    number_unit unit;
} number_row;

#define NUMBER(field, line, range, unit)                                                                               \
    {                                                                                                                  \
#field, offsetof(mw__optimizer, field), line, range, unit                                                      \
    }

static const number_row numbers[] = {
    [MW_OPTIMIZER_LEARNING_RATE] = NUMBER(learning_rate, NEVER, POSITIVE, NO_CONSTANT),
    [MW_OPTIMIZER_BETA1] = NUMBER(beta1, IF_HAD, FRACTION, PLAIN),
    [MW_OPTIMIZER_BETA2] = NUMBER(beta2, IF_HAD, FRACTION, PLAIN),
    [MW_OPTIMIZER_ALPHA] = NUMBER(alpha, IF_HAD, FRACTION, PLAIN),
    [MW_OPTIMIZER_CENTERED] = NUMBER(centered, IF_HAD, SWITCH, NO_CONSTANT),
    [MW_OPTIMIZER_MOMENTUM] = NUMBER(momentum, IF_HAD, FRACTION, PLAIN),
    [MW_OPTIMIZER_NESTEROV] = NUMBER(nesterov, IF_HAD, SWITCH, NO_CONSTANT),
    [MW_OPTIMIZER_LR_DECAY] = NUMBER(lr_decay, IF_HAD, NOT_NEGATIVE, NO_CONSTANT),
    [MW_OPTIMIZER_INITIAL_ACCUMULATOR] = NUMBER(initial_accumulator, IF_HAD, NOT_NEGATIVE, ROOT),
    [MW_OPTIMIZER_EPSILON] = NUMBER(epsilon, IF_HAD, NOT_NEGATIVE, SCALED),
    [MW_OPTIMIZER_WEIGHT_DECAY] = NUMBER(weight_decay, ALWAYS, NOT_NEGATIVE, DECAY),
    [MW_OPTIMIZER_DECOUPLED] = NUMBER(decoupled, ALWAYS, SWITCH, NO_CONSTANT),
    [MW_OPTIMIZER_COMPENSATED] = NUMBER(compensated, IF_SET, SWITCH, NO_CONSTANT),
    [MW_OPTIMIZER_MATCH_RMS] = NUMBER(match_rms, IF_HAD, SWITCH, NO_CONSTANT),
};

_Static_assert(sizeof numbers / sizeof *numbers == MW__OPTIMIZER_NUMBERS, "room for each");

static double read_number(const mw__optimizer *o, const number_row *row)
{
    const char *field = (const char *)o + row->offset;
    return row->range == SWITCH ? (double)*(const bool *)field : (double)*(const float *)(const void *)field;
}

static void write_number(mw__optimizer *o, const number_row *row, double value)
{
    char *field = (char *)o + row->offset;
    if (row->range == SWITCH)
        *(bool *)field = value != 0.0;
    else
        *(float *)(void *)field = (float)value;
}

static bool is_number(int number) { return number >= 0 && number < MW__OPTIMIZER_NUMBERS; }

static bool has_number(const mw__optimizer *o, int number)
{
    return is_number(number) && mw__optimizer_has(o->kind, (mw_optimizer_number)number);
}

/* As it would be held, in single precision: that may make 0 or 1 of a number beside them. */
static bool is_in_range(number_range range, double value)
{
    if (!(fabs(value) <= FLT_MAX))
        return false;
    const double held = (double)(float)value;
    if (range == SWITCH)
        return value == 0.0 || value == 1.0;
    return held >= ranges[range].least && held <= ranges[range].most && (held != 0.0 || value == 0.0);
}

bool mw__optimizer_takes(mw_optimizer_number number, double value) { return is_in_range(numbers[number].range, value); }

const char *mw__optimizer_range_rule(mw_optimizer_number number) { return ranges[numbers[number].range].rule; }

/* ---- setting and reading ---- */

bool mw_optimizer_set(mw_optimizer *optimizer, mw_optimizer_number number, double value)
{
    MW__FLOAT_SCOPE;
    if (optimizer == NULL)
        return false;
    mw__optimizer o = mw__optimizer_of(optimizer);
    if (mw__optimizer_kind_name(o.kind) == NULL) /* it is refused anyway; what else it holds may be anything */
        return false;
    const bool good = has_number(&o, (int)number) && is_in_range(numbers[number].range, value);
    if (good) {
        write_number(&o, &numbers[number], value);
    } else if (!o.was_refused) {
        o.was_refused = true;
        o.refused = (int)number;
        o.refused_value = value;
    }
    *optimizer = mw__optimizer_hide(&o);
    return good;
}

double mw_optimizer_get(const mw_optimizer *optimizer, mw_optimizer_number number)
{
    MW__FLOAT_SCOPE;
    if (optimizer == NULL)
        return 0.0;
    const mw__optimizer o = mw__optimizer_of(optimizer);
    return has_number(&o, (int)number) ? read_number(&o, &numbers[number]) : 0.0;
}

bool mw_optimizer_number_at(const mw_optimizer *optimizer, size_t index, mw_optimizer_number_info *out)
{
    MW__FLOAT_SCOPE;
    if (optimizer == NULL || out == NULL)
        return false;
    const mw__optimizer o = mw__optimizer_of(optimizer);
    for (int i = 0; i < MW__OPTIMIZER_NUMBERS; i++) {
        if (!has_number(&o, i) || index-- > 0)
            continue;
        const number_row *row = &numbers[i];
        *out = (mw_optimizer_number_info){.number = (mw_optimizer_number)i,
                                          .name = row->name,
                                          .value = read_number(&o, row),
                                          .least = ranges[row->range].least,
                                          .most = ranges[row->range].most,
                                          .is_switch = row->range == SWITCH};
        return true;
    }
    return false;
}

/* ---- checks ---- */

/* `adam`, or `"momentum"` of a rule: how messages call it. */
static const char *title_of(const mw__optimizer *o, char *out, size_t size)
{
    const bool ruled = o->rule != NULL && o->rule->struct_size == sizeof *o->rule && o->rule->name != NULL;
    if (ruled)
        mw__printable_printf(out, size, "\"%.63s\"", o->rule->name);
    return ruled ? out : mw__optimizer_kind_name(o->kind);
}

static const char *list_numbers(const mw__optimizer *o, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < MW__OPTIMIZER_NUMBERS; i++)
        if (has_number(o, i))
            used += mw__printable_printf(out + used, size - used, "%s%s", used > 0 ? ", " : "", numbers[i].name);
    return out;
}

static mw_status check_set(const mw__optimizer *o, mw_error *err)
{
    char title[80], list[200];
    if (!o->was_refused)
        return MW_OK;
    if (!is_number(o->refused))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "optimizer %s: mw_optimizer_set got number %d, which is none; it has %s",
                        title_of(o, title, sizeof title), o->refused, list_numbers(o, list, sizeof list));
    const number_row *row = &numbers[o->refused];
    if (!has_number(o, o->refused))
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer %s: %s was set to %g, but it has none; it has %s",
                        title_of(o, title, sizeof title), row->name, o->refused_value,
                        list_numbers(o, list, sizeof list));
    return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer %s: %s was set to %g; it must be %s, in single precision",
                    title_of(o, title, sizeof title), row->name, o->refused_value, ranges[row->range].rule);
}

/* What a function that makes optimizers was given. */
static mw_status check_number(const mw__optimizer *o, const number_row *row, mw_error *err)
{
    char title[80];
    const double value = read_number(o, row);
    if (is_in_range(row->range, value))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer %s: %s is %g; it must be %s", title_of(o, title, sizeof title),
                    row->name, value, ranges[row->range].rule);
}

static mw_status check_rule(const mw__optimizer *o, mw_error *err)
{
    MW_TRY(mw__optimizer_rule_check(o, err));
    if (o->rule != NULL && o->weight_decay != 0.0f && !o->rule->decays)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "optimizer \"%s\": weight_decay is %g, but the rule does not say `decays`", o->rule->name,
                        (double)o->weight_decay);
    return MW_OK;
}

mw_status mw__optimizer_check(const mw__optimizer *o, mw_error *err)
{
    if (mw__optimizer_kind_name(o->kind) == NULL)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "optimizer: kind %d is none; make one with mw_sgd, mw_adam, mw_adamw, mw_rmsprop, mw_adagrad, mw_lion, "
            "mw_muon or mw_optimizer_custom",
            (int)o->kind);
    MW_TRY(check_set(o, err));
    for (size_t i = 0; i < MW__OPTIMIZER_NUMBERS; i++)
        MW_TRY(check_number(o, &numbers[i], err));
    MW_TRY(check_rule(o, err));
    if (o->nesterov && o->momentum == 0.0f)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer %s: nesterov needs a momentum above 0",
                        mw__optimizer_kind_name(o->kind));
    return MW_OK;
}

/* ---- constants ---- */

static double in_unit(const mw__optimizer *o, const number_row *row, double loss_scale)
{
    const double value = read_number(o, row);
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

size_t mw__optimizer_constants(const mw__optimizer *o, double loss_scale,
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

static bool is_in_line(const mw__optimizer *o, int number)
{
    const number_row *row = &numbers[number];
    if (row->line == IF_HAD)
        return has_number(o, number);
    return row->line == ALWAYS || (row->line == IF_SET && read_number(o, row) != 0.0);
}

void mw__optimizer_describe(const mw__optimizer *o, mw__text *text)
{
    mw__text_puts(text, mw__optimizer_kind_name(o->kind));
    if (o->rule != NULL)
        mw__optimizer_rule_describe(o->rule, text);
    for (int i = 0; i < MW__OPTIMIZER_NUMBERS; i++) {
        const number_row *row = &numbers[i];
        if (!is_in_line(o, i))
            continue;
        if (row->range == SWITCH)
            mw__text_printf(text, " %s=%d", row->name, (int)read_number(o, row));
        else
            mw__describe_number(text, row->name, read_number(o, row));
    }
}
