/* What a trainer is asked for: defaults, checks that need no program, and the line that a checkpoint must agree with.
 */
#include "runtime/trainer/options/trainer_options.h"

#include "base/text/name.h"
#include "base/text/printable.h"
#include "base/text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

mw_trainer_options mw_trainer_defaults(mw_tensor *loss, mw_optimizer optimizer)
{
    return (mw_trainer_options){.struct_size = sizeof(mw_trainer_options),
                                .loss = loss,
                                .optimizer = optimizer,
                                .compile = mw_compile_defaults()};
}

mw_parameter_group mw_parameter_group_defaults(const char *pattern)
{
    return (mw_parameter_group){.pattern = pattern, .rate_factor = 1.0f, .weight_decay = -1.0f};
}

mw_parameter_group mw_parameter_group_frozen(const char *pattern)
{
    mw_parameter_group group = mw_parameter_group_defaults(pattern);
    group.frozen = true;
    return group;
}

/* ---- metrics ---- */

enum { METRIC_NAME_MAX = 63 };

static bool is_fit_name(const char *name) { return mw__name_fault(name) == NULL && strlen(name) <= METRIC_NAME_MAX; }

/* What a metric without a name of its own is called: as the user named the tensor, or after its constructor. */
static const char *usual_name(const mw_tensor *metric)
{
    if (is_fit_name(metric->name))
        return metric->name;
    return metric->composite != NULL && is_fit_name(metric->composite->name) ? metric->composite->name : "metric";
}

static mw_status add_metric(mw_trainer *t, const char *name, mw_tensor *value, mw_error *err)
{
    for (size_t i = 0; i < t->model.metric_count; i++) {
        if (strcmp(t->model.metrics[i].name, name) == 0)
            return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: two metrics are called \"%s\"", name);
    }
    const char *copy = mw__arena_string(&t->arena, name, strlen(name), err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    t->model.metrics[t->model.metric_count++] = (mw_metric){.name = copy, .value = value};
    return MW_OK;
}

mw_status mw__trainer_list_metrics(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    if (o->metric != NULL)
        MW_TRY(add_metric(t, usual_name(o->metric), o->metric, err));
    for (size_t i = 0; i < o->metric_count; i++)
        MW_TRY(add_metric(t, o->metrics[i].name, o->metrics[i].value, err));
    return MW_OK;
}

/* ---- checks ---- */

static mw_status check_tensor(const mw_tensor *x, const char *what, const mw_graph *graph, bool scalar, mw_error *err)
{
    if (x == NULL)
        return MW_OK;
    if (x->graph != graph)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: %s belongs to another graph than the loss", what);
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__fail(err, MW_ERROR_DTYPE, "trainer: %s is %s; it must be fp32 or fp16", what, mw_dtype_name(dtype));
    if (scalar && mw_shape_count(mw_tensor_shape(x)) != 1)
        return mw__fail(err, MW_ERROR_SHAPE, "trainer: %s has %lld elements; a scalar is needed (use a reduction)",
                        what, (long long)mw_shape_count(mw_tensor_shape(x)));
    return MW_OK;
}

static mw_status check_metrics(const mw_trainer_options *o, mw_error *err)
{
    const size_t count = o->metric_count + (o->metric != NULL);
    if (o->metric_count > MW_METRICS_MAX || count > MW_METRICS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: %zu metrics; at most %d are watched", count, MW_METRICS_MAX);
    if (o->metrics == NULL && o->metric_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: %zu metrics, but their array is NULL", o->metric_count);
    MW_TRY(check_tensor(o->metric, "the metric", o->loss->graph, true, err));
    for (size_t i = 0; i < o->metric_count; i++) {
        char what[128];
        const char *name = o->metrics[i].name;
        mw__printable_printf(what, sizeof what, "metric %zu \"%.64s\"", i,
                             name != NULL && name[0] != '\0' ? name : "(no name)");
        if (o->metrics[i].value == NULL)
            return mw__fail_null(err, "trainer: %s is NULL", what);
        if (!is_fit_name(name))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "trainer: %s needs a name of 1 to 63 bytes of UTF-8 without control characters", what);
        MW_TRY(check_tensor(o->metrics[i].value, what, o->loss->graph, true, err));
    }
    return MW_OK;
}

static mw_status check_tensors(const mw_trainer_options *o, mw_error *err)
{
    if (o->loss == NULL)
        return mw__fail_null(err, "trainer: the loss is NULL");
    MW_TRY(mw_graph_check(o->loss->graph, err));
    MW_TRY(check_tensor(o->loss, "the loss", o->loss->graph, true, err));
    MW_TRY(check_metrics(o, err));
    MW_TRY(mw__trainer_check_watches(o, err));
    if (o->replay_folder != NULL && o->replay_folder[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: replay_folder is empty; NULL means none");
    return check_tensor(o->prediction, "the prediction", o->loss->graph, false, err);
}

static mw_status check_loss_scale(const mw_trainer_options *o, mw_error *err)
{
    int exponent;
    const float scale = o->loss_scale;
    if (scale != 0.0f && !(scale > 0.0f && isfinite(scale) && frexpf(scale, &exponent) == 0.5f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: loss_scale is %g; it must be a power of two", (double)scale);
    if (o->dynamic_loss_scale && scale != 0.0f && !(scale >= 1.0f && scale <= (float)MW__LOSS_SCALE_MAX))
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: loss_scale is %g; a dynamic one starts between 1 and %g",
                        (double)scale, (double)MW__LOSS_SCALE_MAX);
    if (o->loss_scale_interval < 0 || o->loss_scale_interval > MW__LOSS_SCALE_INTERVAL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: loss_scale_interval is %d; it must be 1 to %d steps, or 0 for %d",
                        o->loss_scale_interval, MW__LOSS_SCALE_INTERVAL, MW__LOSS_SCALE_INTERVAL);
    return MW_OK;
}

/* 0 is "none" for each of these. */
static mw_status check_positive(const char *field, float value, mw_error *err)
{
    if (value == 0.0f || (value > 0.0f && isfinite(value)))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: %s is %g; it must be positive and finite, or 0 for none", field,
                    (double)value);
}

static mw_status check_probe(const mw_trainer_options *o, mw_error *err)
{
    const mw_tensor *probe = o->optimizer.rule != NULL ? o->optimizer.rule->probe : NULL;
    if (probe == NULL)
        return MW_OK;
    MW_TRY(check_tensor(probe, "the probe of the optimizer", o->loss->graph, true, err));
    if (mw_tensor_dtype(probe) == mw_tensor_dtype(o->loss))
        return MW_OK;
    return mw__fail(err, MW_ERROR_DTYPE, "trainer: the probe of the optimizer is %s, the loss %s",
                    mw_dtype_name(mw_tensor_dtype(probe)), mw_dtype_name(mw_tensor_dtype(o->loss)));
}

static mw_status check_numbers(const mw_trainer_options *o, mw_error *err)
{
    MW_TRY(check_loss_scale(o, err));
    MW_TRY(check_positive("clip_value", o->clip_value, err));
    MW_TRY(check_positive("clip_norm", o->clip_norm, err));
    MW_TRY(check_positive("average_decay", o->average_decay, err));
    if (o->average_decay >= 1.0f)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: average_decay is %g; it must be below 1",
                        (double)o->average_decay);
    if (o->accumulate < 0 || o->accumulate > MW__ACCUMULATE_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: accumulate is %d batches; it must be 1 to %d, or 0 for 1",
                        o->accumulate, MW__ACCUMULATE_MAX);
    if (o->dispatch_steps < 0 || o->dispatch_steps > MW__DISPATCH_STEPS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: dispatch_steps is %d; it must be 1 to %d, or 0 for 1",
                        o->dispatch_steps, MW__DISPATCH_STEPS_MAX);
    if (o->segments != MW_SEGMENTS_AUTO && (o->segments < 0 || o->segments > MW__SEGMENTS_MAX))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: segments is %d; it must be 1 to %d, 0 for 1, or MW_SEGMENTS_AUTO", o->segments,
                        MW__SEGMENTS_MAX);
    if (o->verify_steps < -1)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: verify_steps is %d; it must be 1 or more, 0 for 100, or -1 for "
                        "never",
                        o->verify_steps);
    if (o->local_steps < 0 || o->local_steps > 10000)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: local_steps is %d; it must be 1 to 10000, or 0 for 1",
                        o->local_steps);
    if (!(o->outer_learning_rate >= 0.0f && o->outer_learning_rate <= 10.0f) ||
        !(o->outer_momentum >= 0.0f && o->outer_momentum < 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: outer_learning_rate %g and outer_momentum %g; they must be in [0, 10] and [0, 1)",
                        (double)o->outer_learning_rate, (double)o->outer_momentum);
    if (o->local_steps <= 1 && (o->outer_learning_rate != 0.0f || o->outer_momentum != 0.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: the outer optimizer is for local_steps over 1");
    if (o->local_steps > 1 && o->shard_states)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "trainer: shard_states and local_steps %d: a rank that trains by itself needs all states of its "
            "optimizer",
            o->local_steps);
    if ((int)o->wire < MW_WIRE_AS_THEY_ARE || (int)o->wire > MW_WIRE_FP16)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: wire is %d, which is none of MW_WIRE_*", (int)o->wire);
    if (o->bucket_bytes != 0 && (o->bucket_bytes < 1024 || o->bucket_bytes > MW_MESSAGE_MAX))
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: bucket_bytes is %llu; it must be 1024 to %zu, or 0 for 2^22",
                        (unsigned long long)o->bucket_bytes, MW_MESSAGE_MAX);
    if (o->dispatch_steps > 1 && o->accumulate > 1)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: dispatch_steps %d and accumulate %d: a dispatch takes several updates, or an update "
                        "several batches, not both",
                        o->dispatch_steps, o->accumulate);
    if (o->memory_limit > 0 && o->segments != 0 && o->segments != 1)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "trainer: memory_limit and segments %d: there is no plan of a step in segments, which would say "
            "what it takes",
            o->segments);
    MW_TRY(mw__optimizer_check(&o->optimizer, err));
    return check_probe(o, err);
}

mw_status mw__trainer_check_options(const mw_trainer_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer options were not made by mw_trainer_defaults");
    if (o->compile.weights_of != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: compile.weights_of is for programs; load weights instead");
    if (o->compile.state_of != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: compile.state_of is for programs; trainers have `share`");
    if (o->share != NULL && mw_communicator_size(o->communicator) > 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: share and a communicator: ranks share nothing with others");
    MW_TRY(check_tensors(o, err));
    return check_numbers(o, err);
}

/* ---- description ---- */

static void put_group(mw__text *text, const mw__trainer_group *group)
{
    mw__text_printf(text, " group=\"%s\"", group->pattern);
    if (group->frozen) {
        mw__text_puts(text, group->moving_statistics ? " frozen moving_statistics" : " frozen");
        return;
    }
    mw__describe_number(text, "rate_factor", group->rate_factor);
    mw__describe_number(text, "weight_decay", (double)group->optimizer.weight_decay);
}

mw_status mw__trainer_describe(mw_trainer *t, mw_error *err)
{
    mw__text text;
    mw__text_init(&text, t->allocator);
    mw__optimizer_describe(&t->optimizer.groups[0].optimizer, &text);
    mw__describe_number(&text, "loss_scale", t->numbers.loss_scale);
    if (t->numbers.scale_interval > 0)
        mw__text_printf(&text, " loss_scale_interval=%d", t->numbers.scale_interval);
    if (t->numbers.clip_value != 0.0)
        mw__describe_number(&text, "clip_value", t->numbers.clip_value);
    if (t->numbers.clip_norm != 0.0)
        mw__describe_number(&text, "clip_norm", t->numbers.clip_norm);
    if (t->numbers.accumulate > 1)
        mw__text_printf(&text, " accumulate=%d", t->numbers.accumulate);
    if (t->numbers.average_decay != 0.0)
        mw__describe_number(&text, "average_decay", t->numbers.average_decay);
    for (size_t i = 1; i < t->optimizer.group_count; i++)
        put_group(&text, &t->optimizer.groups[i]);
    t->record.description = text.data; /* freed with the trainer, by the same allocator */
    return mw__text_check(&text, err);
}
