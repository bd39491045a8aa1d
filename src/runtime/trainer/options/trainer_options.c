/* What a trainer is asked for: defaults, checks that need no program, and the line that a checkpoint must agree with.
 */
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/parallel/communicator.h"

#include "base/text/name.h"
#include "base/text/printable.h"
#include "base/text/text.h"

#include <stdio.h>
#include <string.h>

mw_trainer_options mw_trainer_defaults(mw_tensor *loss, mw_optimizer optimizer)
{
    return (mw_trainer_options){.struct_size = sizeof(mw_trainer_options),
                                .loss = loss,
                                .optimizer = optimizer,
                                .compile = mw_compile_defaults()};
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
    t->model.metrics[t->model.metric_count++] = (mw_metric){.name = copy, .tensor = value};
    return MW_OK;
}

mw_status mw__trainer_list_metrics(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    if (o->metric != NULL)
        MW_TRY(add_metric(t, usual_name(o->metric), o->metric, err));
    for (size_t i = 0; i < o->metric_count; i++)
        MW_TRY(add_metric(t, o->metrics[i].name, o->metrics[i].tensor, err));
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
        if (o->metrics[i].tensor == NULL)
            return mw__fail_null(err, "trainer: %s is NULL", what);
        if (!is_fit_name(name))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "trainer: %s needs a name of 1 to 63 bytes of UTF-8 without control characters", what);
        MW_TRY(check_tensor(o->metrics[i].tensor, what, o->loss->graph, true, err));
    }
    return MW_OK;
}

static mw_status check_variants(const mw_trainer_options *o, mw_error *err)
{
    const mw_optimizer_rule *rule = mw__optimizer_of(&o->optimizer).rule;
    if (o->variant_count > MW_VARIANTS_MAX || (o->variants == NULL && o->variant_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: %zu variants%s; at most %d are taken", o->variant_count,
                        o->variants == NULL ? ", and no list of them" : "", MW_VARIANTS_MAX);
    if (o->variant_count > 0 && rule != NULL && rule->probe != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: variants, and an optimizer with a probe, a tensor of one graph");
    for (size_t i = 0; i < o->variant_count; i++) {
        const mw_tensor *loss = o->variants[i];
        char what[40];
        snprintf(what, sizeof what, "variant %zu", i);
        if (loss == NULL)
            return mw__fail_null(err, "trainer: %s is NULL", what);
        if (loss->graph == o->loss->graph)
            return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: %s is of the graph of the loss; it has one of its own",
                            what);
        MW_TRY(mw_graph_check(loss->graph, err));
        MW_TRY(check_tensor(loss, what, loss->graph, true, err));
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
    MW_TRY(check_variants(o, err));
    MW_TRY(mw__trainer_check_watches(o, err));
    if (o->watch.replay_folder != NULL && o->watch.replay_folder[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: watch.replay_folder is empty; NULL means none");
    return check_tensor(o->prediction, "the prediction", o->loss->graph, false, err);
}

static mw_status check_probe(const mw_trainer_options *o, mw_error *err)
{
    const mw_optimizer_rule *rule = mw__optimizer_of(&o->optimizer).rule;
    const mw_tensor *probe = rule != NULL ? rule->probe : NULL;
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
    MW_TRY(mw__trainer_check_rows(o, err));
    const mw__optimizer optimizer = mw__optimizer_of(&o->optimizer);
    MW_TRY(mw__optimizer_check(&optimizer, err));
    return check_probe(o, err);
}

mw_status mw__trainer_check_options(const mw_trainer_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer options were not made by mw_trainer_defaults");
    if (o->compile.share.program != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: compile.share.program is for programs; load weights instead");
    if (o->compile.share.trainer != NULL && mw__communicator_size(o->ranks.communicator) > 1)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: compile.share.trainer and a communicator: ranks share nothing with others");
    MW_TRY(check_tensors(o, err));
    return check_numbers(o, err);
}

/* ---- description ---- */

static void put_group(mw__text *text, const mw__trainer_group *group, mw__optimizer_kind usual)
{
    mw__text_printf(text, " group=\"%s\"", group->pattern);
    if (group->frozen) {
        mw__text_puts(text, group->moving_statistics ? " frozen moving_statistics" : " frozen");
        return;
    }
    mw__describe_number(text, "rate_factor", group->rate_factor);
    mw__describe_number(text, "weight_decay", (double)group->optimizer.weight_decay);
    if (group->optimizer.kind != usual)
        mw__text_printf(text, " %s", mw__optimizer_kind_name(group->optimizer.kind));
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
    if (t->numbers.average_from != 0)
        mw__text_printf(&text, " average_from=%lld", (long long)t->numbers.average_from);
    for (size_t i = 1; i < t->optimizer.group_count; i++)
        put_group(&text, &t->optimizer.groups[i], t->optimizer.groups[0].optimizer.kind);
    t->record.description = text.data; /* freed with the trainer, by the same allocator */
    return mw__text_check(&text, err);
}
