/* A run: some steps of a trainer, and all that can be read of it afterwards. */
#include "case.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const run *r, option o) { return !r->plain && option_in(r->set, o); }

/* Chains round their values, so that fusion and what is read of a step change none. */
mw_compile_options run_compile_options(option_set set)
{
    const bool ane = option_in(set, OPTION_ANE), m4 = option_in(set, OPTION_M4), m6 = option_in(set, OPTION_M6);
    mw_compile_options o = engine_options(ane ? MW_DEVICE_ANE : MW_DEVICE_CPU, 1);
    if (ane) {
        o.chip = m4 ? MW_CHIP_H16 : m6 ? MW_CHIP_H18G : o.chip;
        o.profile = m4 ? "h16,-wide_chains" : m6 ? "h18g,-wide_chains" : "h17,-wide_chains";
    }
    return o;
}

/* ---- the trainer ---- */

static void set_groups(run *r)
{
    size_t count = 0;
    if (option_in(r->set, OPTION_FROZEN))
        r->groups[count++] = mw_parameter_group_frozen(net_has(r->n, NET_BATCH_NORM) ? "bn*" : "dense*");
    if (r->plain && option_in(r->set, OPTION_TUNE_FIXED)) {
        r->groups[count++] = mw_parameter_group_defaults("fixed_*");
        r->groups[count++] = mw_parameter_group_frozen("*");
    }
    r->options.groups = r->groups;
    r->options.group_count = count;
}

/* What a pass must leave is a fault of the library wherever it does not hold. */
static void hear_pass(void *user, const mw_pass *pass)
{
    mw_error *err = &((run *)user)->out->err;
    if (pass->broken == NULL || err->status != MW_OK)
        return;
    err->status = MW_ERROR_STATE;
    snprintf(err->message, sizeof err->message, "after the pass %s \"%s\" does not hold", pass->name, pass->broken);
}

static void set_options(run *r)
{
    mw_trainer_options *o = &r->options;
    *o = mw_trainer_defaults(r->loss, net_optimizer_of(r->n));
    o->prediction = r->z;
    o->compile = run_compile_options(r->set);
    o->compile.cache_folder = has(r, OPTION_CACHE) ? "cache" : NULL;
    o->compile.passes.report = has(r, OPTION_PASSES) ? hear_pass : NULL;
    o->compile.passes.report_user = r;
    o->compile.passes.off = has(r, OPTION_OFF) ? "fold,defer,redo,fuse,unit_blocks" : NULL;
    o->accumulate = option_in(r->set, OPTION_ACCUMULATE) ? 2 : 0;
    o->average_decay = option_in(r->set, OPTION_AVERAGE) ? 0.5F : 0.0F;
    o->average_from = option_in(r->set, OPTION_AVERAGE) ? 2 : 0; /* so that their rate is fed */
    o->clipping.norm = option_in(r->set, OPTION_CLIP) ? 0.25F : 0.0F;
    o->memory.segments = has(r, OPTION_SEGMENTS) ? 3 : 0;
    o->dispatch_steps = has(r, OPTION_DISPATCH) ? 2 : 0;
    o->memory.limit = has(r, OPTION_MEMORY) ? 1 : 0;
    o->watch.gradient_norms = has(r, OPTION_WATCH);
    set_groups(r);
}

/* A limit that cannot be met says what can be, which is asked for then. */
static mw_trainer *create(run *r, mw_error *err)
{
    mw_error tried = {0};
    mw_trainer *made = mw_trainer_create(&r->options, r->options.memory.limit == 1 ? &tried : err);
    if (tried.status == MW_OK)
        return made;
    const char *before = strstr(tried.message, "bytes, and ");
    const char *least = before != NULL ? before + strlen("bytes, and ") : NULL;
    if (tried.status != MW_ERROR_MEMORY || least == NULL) {
        *err = tried;
        return NULL;
    }
    r->options.memory.limit = strtoull(least, NULL, 10);
    return mw_trainer_create(&r->options, err);
}

static void create_second(run *r, mw_error *err)
{
    mw_trainer_options o = r->options;
    o.compile.share.trainer = r->trainer;
    r->second = mw_trainer_create(&o, err);
}

/* ---- data ---- */

static mw_dataset *make_set(const net *n, int examples, int batches, mw_error *err)
{
    static _Thread_local float x[4096], t[512];
    static _Thread_local int32_t tokens[1024], labels[128];
    const int each = n->steps * n->features;
    net_feeds f;
    for (int i = 0; i < batches; i++) {
        net_feed(&f, n, examples, i);
        memcpy(x + i * examples * each, f.x, (size_t)(examples * each) * sizeof *x);
        memcpy(t + i * examples * NET_CLASSES, f.t, (size_t)(examples * NET_CLASSES) * sizeof *t);
        memcpy(tokens + i * examples * n->steps, f.tokens, (size_t)(examples * n->steps) * sizeof *tokens);
        memcpy(labels + i * examples, f.labels, (size_t)examples * sizeof *labels);
    }
    const mw_column columns[3] = {
        {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(n->steps, n->features), .data = x},
        net_takes_labels(n) ? (mw_column){.name = "t", .dtype = MW_I32, .shape = mw_shape_scalar(), .data = labels}
                            : (mw_column){.name = "t", .dtype = MW_F32, .shape = MW_SHAPE(NET_CLASSES), .data = t},
        {.name = "tokens", .dtype = MW_I32, .shape = MW_SHAPE(n->steps), .data = tokens}};
    const int64_t count =
        batches == CASE_BATCHES ? batches * examples : batches * examples - 1; /* or a short last one */
    return mw_dataset_create(columns, net_has(n, NET_EMBED) ? 3 : 2, count, true, err);
}

static double evaluate(const run *r, mw_trainer *trainer, mw_error *err)
{
    mw_evaluation found = {0};
    mw_dataset *set = make_set(r->n, r->n->examples, 2, err);
    mw_trainer_evaluate(trainer, set, NULL, &found, err);
    mw_dataset_destroy(set);
    return found.loss;
}

static void predict(const run *r, mw_trainer *trainer, float *out, mw_error *err)
{
    net_feeds f;
    net_feed(&f, r->n, r->n->examples, 9);
    mw_trainer_predict(trainer, &f.batch, MW_F32, out, (size_t)(r->n->examples * NET_CLASSES), err);
}

/* ---- steps ---- */

static void resume(run *r, mw_error *err)
{
    mw_trainer_save(r->trainer, "checkpoint.safetensors", NULL, err);
    mw_trainer_destroy(r->trainer);
    r->trainer = mw_trainer_create(&r->options, err);
    mw_trainer_load(r->trainer, "checkpoint.safetensors", NULL, err);
}

static void step_one(run *r, int batch, float *loss, mw_error *err)
{
    net_feeds f;
    float scratch[64];
    const bool alone =
        r->n->optimizer == NET_SGD && !option_in(r->set, OPTION_ACCUMULATE) && !option_in(r->set, OPTION_AVERAGE);
    net_feed(&f, r->n, r->n->examples, batch);
    if (has(r, OPTION_RESUME) && batch == 2)
        resume(r, err);
    if (has(r, OPTION_EVALUATE))
        evaluate(r, r->trainer, err);
    if (has(r, OPTION_PREDICT))
        predict(r, r->second != NULL ? r->second : r->trainer, scratch, err);
    mw_trainer_step(r->second != NULL && alone && batch % 2 == 1 ? r->second : r->trainer, &f.batch, loss, err);
}

static void step_many(run *r, float *losses, mw_error *err)
{
    static _Thread_local net_feeds f[CASE_BATCHES];
    mw_batch batches[CASE_BATCHES];
    for (int i = 0; i < CASE_BATCHES; i++) {
        net_feed(&f[i], r->n, r->n->examples, i);
        batches[i] = f[i].batch;
    }
    mw_trainer_step_many(r->trainer, batches, CASE_BATCHES, losses, err);
}

static void fit(const run *r, mw_error *err)
{
    mw_dataset *set = make_set(r->n, r->n->examples, CASE_BATCHES, err);
    mw_fit_options o = mw_fit_defaults(set, 1);
    o.data.keep_order = o.progress.quiet = o.progress.ignore_signals = true;
    mw_trainer_fit(r->trainer, &o, err);
    mw_dataset_destroy(set);
}

static void train(run *r, mw_error *err)
{
    if (has(r, OPTION_FIT)) {
        fit(r, err);
        return;
    }
    float *losses = outcome_add(r->out, "loss", CASE_BATCHES);
    if (has(r, OPTION_DISPATCH) && !has(r, OPTION_RESUME) && r->second == NULL)
        step_many(r, losses, err);
    else
        for (int i = 0; i < CASE_BATCHES; i++)
            step_one(r, i, &losses[i], err);
}

/* ---- what it left ---- */

static void read_weights(const run *r, const char *prefix, mw_error *err)
{
    mw_weight weights[CASE_SECTIONS];
    size_t count = 0;
    mw_graph_weights(r->graph, weights, CASE_SECTIONS, &count, err);
    for (size_t i = 0; i < count && i < CASE_SECTIONS; i++) {
        const size_t elements = (size_t)mw_shape_count(weights[i].shape);
        char name[64];
        snprintf(name, sizeof name, "%s%.50s", prefix, weights[i].name);
        if (weights[i].is_parameter && elements > 0)
            mw_trainer_read(r->trainer, weights[i].name, MW_F32, outcome_add(r->out, name, elements), elements, err);
    }
}

static void read_statistics(const run *r, mw_error *err)
{
    static const option_set files = 1ULL << OPTION_FROM_MIL | 1ULL << OPTION_FROM_PACKAGE | 1ULL << OPTION_FROM_ONNX;
    for (int i = 0; i < r->n->count && (r->plain || (r->set & files) == 0); i++) {
        char name[32];
        if (r->n->layers[i].kind != NET_BATCH_NORM)
            continue;
        snprintf(name, sizeof name, "bn%d.running_mean", i);
        const mw_tensor *mean = mw_graph_find(r->graph, name);
        const size_t count = (size_t)mw_shape_count(mw_tensor_shape(mean));
        if (mean != NULL)
            mw_trainer_read(r->trainer, name, MW_F32, outcome_add(r->out, name, count), count, err);
    }
}

/* Another trainer takes the weights, and predicts the same. */
static void predict_loaded(run *r, mw_error *err)
{
    mw_trainer_options o = r->options;
    o.compile.seed = 99;
    mw_trainer_save_weights(r->trainer, "weights.safetensors", err);
    mw_trainer *other = mw_trainer_create(&o, err);
    mw_trainer_load_weights(other, "weights.safetensors", NULL, err);
    if (!net_has(r->n, NET_NOISE))
        predict(r, other, outcome_add(r->out, "written weights", (size_t)(r->n->examples * NET_CLASSES)), err);
    mw_trainer_destroy(other);
}

static void read_all(run *r, mw_error *err)
{
    read_weights(r, "", err);
    read_statistics(r, err);
    if (option_in(r->set, OPTION_AVERAGE))
        mw_trainer_use_averages(r->trainer, true, err);
    predict(r, r->trainer, outcome_add(r->out, "prediction", (size_t)(r->n->examples * NET_CLASSES)), err);
    if (r->n->planted && has(r, OPTION_WATCH) && net_has(r->n, NET_GELU))
        r->out->values[r->out->used - 1] += 1e-3F;
    *outcome_add(r->out, "evaluation", 1) = (float)evaluate(r, r->trainer, err);
    if (has(r, OPTION_WEIGHTS))
        predict_loaded(r, err);
    if (!r->plain)
        run_predict_written(r);
}

static void run_all(run *r)
{
    mw_error *err = &r->out->err;
    run_make_graph(r);
    if (r->loss == NULL || err->status != MW_OK)
        return;
    set_options(r);
    r->trainer = create(r, err);
    if (r->trainer == NULL)
        return;
    if (r->plain)
        predict(r, r->trainer, outcome_add(r->out, "start", (size_t)(r->n->examples * NET_CLASSES)), err);
    if (r->plain && option_in(r->set, OPTION_FROZEN))
        read_weights(r, "first ", err);
    if (has(r, OPTION_SHARE))
        create_second(r, err);
    train(r, err);
    if (err->status == MW_OK)
        read_all(r, err);
}

/* Sums of the gradients of conv have another order one operation at a time (src/engine/README.md). */
static bool is_unfused(const run *r) { return r->plain && !net_has(r->n, NET_CONV) && !net_has(r->n, NET_CONV2); }

void run_case(const net *n, option_set set, bool plain, outcome *out)
{
    run r = {.n = n, .set = set, .plain = plain, .out = out};
    out->count = out->used = 0;
    out->err = (mw_error){0};
    setting_begin("MW_ENGINE_FOLD", "0"); /* constants absorb what parameters cannot, which moves last bits */
    if (is_unfused(&r))
        setting_begin("MW_ENGINE_FUSE", "0");
    run_all(&r);
    mw_trainer_destroy(r.second);
    mw_trainer_destroy(r.trainer);
    mw_graph_destroy(r.graph);
    mw_graph_destroy(r.source);
    if (is_unfused(&r))
        setting_end("MW_ENGINE_FUSE");
    setting_end("MW_ENGINE_FOLD");
}
