/* The numbers of a trainer's options as rows, in the order in which they are checked: field, range, rule, sentence.
 * What does not go together is a row, too. */
#include "base/text/printable.h"
#include "runtime/parallel/communicator.h"
#include "runtime/trainer/options/trainer_options.h"

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

typedef enum option_type { NO_FIELD, INT, FLOAT, BYTES } option_type;

typedef struct option_field {
    option_type type;
    size_t offset;
} option_field;

typedef struct option_row {
    option_field field;
    double least, most;                        /* where it must be; 0 is the default and always good */
    bool (*rule)(const mw_trainer_options *o); /* what must be true besides; or NULL */
    option_field shown, also_shown;            /* the %s of the sentence */
    const char *sentence;
} option_row;

#define FIELD(type, field)                                                                                             \
    {                                                                                                                  \
        type, offsetof(mw_trainer_options, field)                                                                      \
    }
#define NOTHING                                                                                                        \
    {                                                                                                                  \
        NO_FIELD, 0                                                                                                    \
    }
/* The field must be in a range; its value is the %s of the sentence. */
#define RANGE(type, field, least, most, sentence)                                                                      \
    {                                                                                                                  \
        FIELD(type, field), least, most, NULL, FIELD(type, field), {NO_FIELD, 0}, "trainer: " #field " is " sentence   \
    }
/* A rule must hold; one field, or two, are shown. */
#define RULE(rule, shown, also_shown, sentence)                                                                        \
    {                                                                                                                  \
        {NO_FIELD, 0}, 0.0, 0.0, rule, shown, also_shown, "trainer: " sentence                                         \
    }

/* ---- rules ---- */

static bool is_power_of_two(const mw_trainer_options *o)
{
    int exponent;
    const float scale = o->precision.loss_scale;
    return scale == 0.0f || (scale > 0.0f && isfinite(scale) && frexpf(scale, &exponent) == 0.5f);
}

static bool starts_in_range(const mw_trainer_options *o)
{
    const float scale = o->precision.loss_scale;
    return !o->precision.dynamic || scale == 0.0f || (scale >= 1.0f && scale <= (float)MW__LOSS_SCALE_MAX);
}

static bool is_outer_good(const mw_trainer_options *o)
{
    return o->ranks.outer_learning_rate >= 0.0f && o->ranks.outer_learning_rate <= 10.0f &&
           o->ranks.outer_momentum >= 0.0f && o->ranks.outer_momentum < 1.0f;
}

static bool has_outer_steps(const mw_trainer_options *o)
{
    return o->ranks.local_steps > 1 || (o->ranks.outer_learning_rate == 0.0f && o->ranks.outer_momentum == 0.0f);
}

static bool has_whole_states(const mw_trainer_options *o)
{
    return o->ranks.local_steps <= 1 || !o->ranks.shard_states;
}

static bool has_averages(const mw_trainer_options *o) { return o->average_from == 0 || o->average_decay > 0.0f; }

static bool is_one_of_many(const mw_trainer_options *o) { return o->dispatch_steps <= 1 || o->accumulate <= 1; }

static bool has_plan(const mw_trainer_options *o)
{
    return o->memory.limit == 0 || o->memory.segments == 0 || o->memory.segments == 1;
}

static bool varies_alone(const mw_trainer_options *o)
{
    return o->variant_count == 0 || (mw__communicator_size(o->ranks.communicator) <= 1 && o->dispatch_steps <= 1);
}

static bool varies_whole(const mw_trainer_options *o)
{
    return o->variant_count == 0 || (o->memory.limit == 0 && (o->memory.segments == 0 || o->memory.segments == 1));
}

static bool varies_unwatched(const mw_trainer_options *o)
{
    return o->variant_count == 0 ||
           (o->metric == NULL && o->metric_count == 0 && o->watch.count == 0 && o->watch.compare == NULL);
}

/* ---- the rows ---- */

#define FINITE "%s; it must be positive and finite, or 0 for none"

/* The numbers in the sentences are those of trainer_options.h. */
_Static_assert((int)MW__LOSS_SCALE_MAX == 32768 && MW__LOSS_SCALE_INTERVAL == 2000, "loss_scale");
_Static_assert(MW__ACCUMULATE_MAX == 1024 && MW__DISPATCH_STEPS_MAX == 100 && MW__SEGMENTS_MAX == 4096, "steps");
_Static_assert(MW_MESSAGE_MAX == 67108864, "bucket_bytes");

static const option_row rows[] = {
    RULE(is_power_of_two, FIELD(FLOAT, precision.loss_scale), NOTHING,
         "precision.loss_scale is %s; it must be a power of two"),
    RULE(starts_in_range, FIELD(FLOAT, precision.loss_scale), NOTHING,
         "precision.loss_scale is %s; a dynamic one starts between 1 and 32768"),
    RANGE(INT, precision.interval, 1, MW__LOSS_SCALE_INTERVAL, "%s; it must be 1 to 2000 steps, or 0 for 2000"),
    RANGE(FLOAT, clipping.value, 0.0, FLT_MAX, FINITE),
    RANGE(FLOAT, clipping.norm, 0.0, FLT_MAX, FINITE),
    RANGE(FLOAT, average_decay, 0.0, FLT_MAX, FINITE),
    RANGE(FLOAT, average_decay, 0.0, 1.0, "%s; it must be at most 1"),
    RANGE(INT, average_from, 1, INT_MAX, "%s; it must be 1 or more, or 0 for averages of a constant rate"),
    RULE(has_averages, FIELD(INT, average_from), NOTHING,
         "average_from is %s, but there are no averages: set average_decay, or leave it out"),
    RANGE(INT, accumulate, 1, MW__ACCUMULATE_MAX, "%s batches; it must be 1 to 1024, or 0 for 1"),
    RANGE(INT, dispatch_steps, 1, MW__DISPATCH_STEPS_MAX, "%s; it must be 1 to 100, or 0 for 1"),
    RANGE(INT, memory.segments, MW_SEGMENTS_AUTO, MW__SEGMENTS_MAX,
          "%s; it must be 1 to 4096, 0 for 1, or MW_SEGMENTS_AUTO"),
    RANGE(INT, ranks.verify_steps, -1, INT_MAX, "%s; it must be 1 or more, 0 for 100, or -1 for never"),
    RANGE(INT, ranks.local_steps, 1, 10000, "%s; it must be 1 to 10000, or 0 for 1"),
    RULE(is_outer_good, FIELD(FLOAT, ranks.outer_learning_rate), FIELD(FLOAT, ranks.outer_momentum),
         "ranks.outer_learning_rate %s and ranks.outer_momentum %s; they must be in [0, 10] and [0, 1)"),
    RULE(has_outer_steps, NOTHING, NOTHING, "the outer optimizer is for ranks.local_steps over 1"),
    RULE(has_whole_states, FIELD(INT, ranks.local_steps), NOTHING,
         "ranks.shard_states and ranks.local_steps %s: a rank that trains by itself needs all states of its optimizer"),
    RANGE(INT, ranks.wire, MW_WIRE_AS_THEY_ARE, MW_WIRE_FP16, "%s, which is none of MW_WIRE_*"),
    RANGE(BYTES, ranks.bucket_bytes, 1024, (double)MW_MESSAGE_MAX, "%s; it must be 1024 to 67108864, or 0 for 2^22"),
    RULE(is_one_of_many, FIELD(INT, dispatch_steps), FIELD(INT, accumulate),
         "dispatch_steps %s and accumulate %s: a dispatch takes several updates, or an update several batches, not "
         "both"),
    RULE(has_plan, FIELD(INT, memory.segments), NOTHING,
         "memory.limit and memory.segments %s: there is no plan of a step in segments, which would say what it takes"),
    RULE(varies_alone, FIELD(INT, dispatch_steps), NOTHING,
         "variants, and several ranks or dispatch_steps %s: a batch of another size is a step of its own"),
    RULE(varies_whole, FIELD(INT, memory.segments), NOTHING,
         "variants, and memory.limit or memory.segments %s: several programs take memory, each whole"),
    RULE(varies_unwatched, NOTHING, NOTHING,
         "variants, and metrics, watched values or a comparison: these are tensors of one graph"),
};

/* ---- checking ---- */

static double read_field(const mw_trainer_options *o, const option_field *field)
{
    const void *at = (const char *)o + field->offset;
    return field->type == INT     ? (double)*(const int *)at
           : field->type == FLOAT ? (double)*(const float *)at
                                  : (double)*(const uint64_t *)at;
}

static bool is_good(const mw_trainer_options *o, const option_row *row)
{
    if (row->rule != NULL)
        return row->rule(o);
    const double value = read_field(o, &row->field);
    return value == 0.0 || (value >= row->least && value <= row->most);
}

enum { VALUE_TEXT = 32 };

static const char *print_field(const mw_trainer_options *o, const option_field *field, char out[VALUE_TEXT])
{
    out[0] = '\0';
    const void *at = (const char *)o + field->offset;
    if (field->type == FLOAT)
        mw__printable_printf(out, VALUE_TEXT, "%g", (double)*(const float *)at);
    else if (field->type == BYTES)
        snprintf(out, VALUE_TEXT, "%" PRIu64, *(const uint64_t *)at);
    else if (field->type == INT)
        snprintf(out, VALUE_TEXT, "%d", *(const int *)at);
    return out;
}

mw_status mw__trainer_check_rows(const mw_trainer_options *o, mw_error *err)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char shown[VALUE_TEXT], also_shown[VALUE_TEXT];
        if (!is_good(o, &rows[i]))
            return mw__fail(err, MW_ERROR_ARGUMENT, rows[i].sentence, print_field(o, &rows[i].shown, shown),
                            print_field(o, &rows[i].also_shown, also_shown));
    }
    return MW_OK;
}
