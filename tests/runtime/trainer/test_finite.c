/* No step may leave a number that is not finite: whatever the gradients, the optimizer, its options and the states it
 * starts from, a step is either taken, and all state is finite and in its range, or refused, and no bit of it moves. */
#include "format/tensors/safetensors.h"
#include "runtime/files.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"
#include "support/optimizers.h"
#include "support/setting.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

/* ---- a net whose gradient is what is fed ---- */

enum { N = 4, WIDE = 5000 }; /* examples; a second parameter that is large enough to be looked at in parts */

/* loss = mean(x w) + mean(z v), so that dw = mean x and dv = z / WIDE; with a norm also sqrt(sum (u - t)^2), whose
 * gradient is 0 * inf where u = t. */
typedef struct net {
    mw_graph *graph;
    mw_tensor *loss;
} net;

static net create_net(bool norm)
{
    net n = {.graph = mw_graph_create(NULL, NULL)};
    mw_graph *g = n.graph;
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(N, 3)), *z = mw_input(g, "z", MW_F32, MW_SHAPE(WIDE));
    mw_tensor *w = mw_parameter(g, "w", MW_F32, MW_SHAPE(3), mw_init_zeros());
    mw_tensor *v = mw_parameter(g, "v", MW_F32, MW_SHAPE(WIDE), mw_init_zeros());
    n.loss = mw_add(mw_reduce_sum(mw_reduce_mean(mw_mul(x, w), MW_AXES(0), false), MW_ALL_AXES, false),
                    mw_reduce_mean(mw_mul(z, v), MW_ALL_AXES, false));
    if (!norm)
        return n;
    mw_tensor *u = mw_parameter(g, "u", MW_F32, MW_SHAPE(3), mw_init_constant(0.5f));
    mw_tensor *away = mw_sub(u, mw_input(g, "t", MW_F32, MW_SHAPE(3)));
    n.loss = mw_add(n.loss, mw_sqrt(mw_reduce_sum(mw_square(away), MW_ALL_AXES, false)));
    return n;
}

typedef struct fed {
    float x[N * 3], z[WIDE], t[3];
    mw_feed feeds[3];
    mw_batch batch;
} fed;

static void fill(fed *f, bool norm, float x, float z, float t)
{
    for (int i = 0; i < N * 3; i++)
        f->x[i] = i % 3 == 1 ? x : 1e-3f;
    for (int i = 0; i < WIDE; i++)
        f->z[i] = i == WIDE - 7 ? z : 1e-3f;
    for (int i = 0; i < 3; i++)
        f->t[i] = t;
    f->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = f->x, .count = N * 3, .scale = 1.0f};
    f->feeds[1] = (mw_feed){.name = "z", .dtype = MW_F32, .data = f->z, .count = WIDE, .scale = 1.0f};
    f->feeds[2] = (mw_feed){.name = "t", .dtype = MW_F32, .data = f->t, .count = 3, .scale = 1.0f};
    f->batch = (mw_batch){.feeds = f->feeds, .feed_count = norm ? 3 : 2, .examples = N};
}

/* ---- what must hold ---- */

typedef struct copy {
    unsigned char *bytes;
    size_t size;
} copy;

static copy take(mw_trainer *trainer)
{
    const mw__state_set *state = mw__trainer_state(trainer);
    copy c = {0};
    for (size_t i = 0; i < state->count; i++)
        c.size += state->entries[i].size;
    c.bytes = malloc(c.size);
    size_t at = 0;
    for (size_t i = 0; c.bytes != NULL && i < state->count; at += state->entries[i++].size)
        memcpy(c.bytes + at, state->entries[i].data, state->entries[i].size);
    return c;
}

static bool is_same(mw_trainer *trainer, const copy *before)
{
    copy now = take(trainer);
    const bool same = now.size == before->size && memcmp(now.bytes, before->bytes, now.size) == 0;
    free(now.bytes);
    return same;
}

/* A dynamic scale alone may move. */
static bool is_same_but_for_scale(mw_trainer *trainer, const copy *before)
{
    const mw__state_set *state = mw__trainer_state(trainer);
    size_t at = 0;
    for (size_t i = 0; i < state->count; at += state->entries[i++].size)
        if (state->entries[i].name[0] != '#' &&
            memcmp(before->bytes + at, state->entries[i].data, state->entries[i].size) != 0)
            return false;
    return true;
}

static void check_sound(mw_trainer *trainer, const char *what)
{
    mw_error err = {0};
    mw__state_check_all(mw__trainer_state(trainer), what, &err);
    CHECK_OK(err);
}

/* ---- a gradient that is not finite while the loss is ---- */

typedef struct variant {
    const char *what;
    int accumulate, dispatch;
    float clip_norm, clip_value, average;
    bool dynamic;
} variant;

static const variant variants[] = {
    {.what = "plain"},
    {.what = "accumulated", .accumulate = 2},
    {.what = "dispatched", .dispatch = 3},
    {.what = "clipped by norm", .clip_norm = 1.0f},
    {.what = "clipped by value", .clip_value = 0.5f},
    {.what = "averaged", .average = 0.9f},
    {.what = "dynamic scale", .dynamic = true},
    {.what = "all", .accumulate = 2, .clip_norm = 1.0f, .average = 0.9f, .dynamic = true}};

static mw_trainer *create_variant(const variant *v, mw_device device, mw_optimizer optimizer, mw_error *err)
{
    net n = create_net(true);
    mw_trainer_options options = mw_trainer_defaults(n.loss, optimizer);
    options.accumulate = v->accumulate;
    options.dispatch_steps = v->dispatch;
    options.clipping.norm = v->clip_norm;
    options.clipping.value = v->clip_value;
    options.average_decay = v->average;
    options.precision.dynamic = v->dynamic;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(n.graph);
    return trainer;
}

/* As many batches as a dispatch takes; in a larger one a single bad step stands at its end. */
static mw_status run(mw_trainer *trainer, const variant *v, const fed *good, const fed *bad, mw_error *err)
{
    if (v->dispatch == 0)
        return mw_trainer_step(trainer, &bad->batch, NULL, err);
    const mw_batch batches[] = {bad->batch, bad->batch, bad->batch};
    (void)good;
    return mw_trainer_step_many(trainer, batches, 3, NULL, err);
}

static void check_variant(const variant *v, mw_device device, mw_optimizer optimizer)
{
    static fed good, bad;
    mw_error err = {0};
    fill(&good, true, 0.5f, 0.5f, 1.0f);
    fill(&bad, true, 0.5f, 0.5f, 0.5f); /* u = t */
    mw_trainer *trainer = create_variant(v, device, optimizer, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    copy before = take(trainer);
    const mw_status status = run(trainer, v, &good, &bad, &err);
    check_note(status == (v->dynamic ? MW_OK : MW_ERROR_NUMERIC), __FILE__, __LINE__, "%s: %s", v->what, err.message);
    check_note(v->dynamic ? is_same_but_for_scale(trainer, &before) : is_same(trainer, &before), __FILE__, __LINE__,
               "%s, device %d: a refused step has changed something", v->what, (int)device);
    CHECK(mw_trainer_get_info(trainer).counters.refused_steps > 0);
    err = (mw_error){0};
    for (int i = 0; i < 2; i++)
        mw_trainer_step(trainer, &good.batch, NULL, &err);
    CHECK_OK(err);
    check_note(!is_same_but_for_scale(trainer, &before), __FILE__, __LINE__, "%s: does not go on", v->what);
    check_sound(trainer, v->what);
    free(before.bytes);
    mw_trainer_destroy(trainer);
}

static void test_a_gradient_that_is_not_finite_is_refused(void)
{
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
            check_variant(&variants[i], devices[d], mw_sgd(0.01f));
            check_variant(&variants[i], devices[d], mw_adam(0.01f));
        }
}

/* ---- every optimizer at every size ---- */

static mw_optimizer with(mw_optimizer o, mw_optimizer_number number, double value)
{
    mw_optimizer_set(&o, number, value);
    return o;
}

static size_t list_optimizers(mw_optimizer out[32])
{
    const float rate = 1e-3f;
    const mw_optimizer plain[] = {mw_sgd(rate),
                                  mw_sgd_momentum(rate, 0.9f, false),
                                  mw_sgd_momentum(rate, 0.99f, true),
                                  mw_adam(rate),
                                  mw_adamw(rate, 0.01f),
                                  mw_rmsprop(rate),
                                  optimizer_centered(optimizer_with_momentum(mw_rmsprop(rate))),
                                  mw_adagrad(rate),
                                  mw_lion(rate, 0.01f),
                                  mw_muon(rate, 0.01f)};
    size_t count = 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        out[count++] = plain[i];
        out[count++] = with(plain[i], MW_OPTIMIZER_WEIGHT_DECAY, 0.1);
        out[count++] = with(plain[i], MW_OPTIMIZER_COMPENSATED, 1);
    }
    return count;
}

static mw_trainer *create_plain(mw_optimizer optimizer, mw_device device, bool average, float clip, mw_error *err)
{
    net n = create_net(false);
    mw_trainer_options options = mw_trainer_defaults(n.loss, optimizer);
    options.average_decay = average ? 0.99f : 0.0f;
    options.clipping.value = clip;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(n.graph);
    return trainer;
}

/* One step: what must hold of it. */
static bool step(mw_trainer *trainer, const fed *f, const char *what)
{
    mw_error err = {0};
    copy before = take(trainer);
    const mw_status status = mw_trainer_step(trainer, &f->batch, NULL, &err);
    check_note(status == MW_OK || status == MW_ERROR_NUMERIC, __FILE__, __LINE__, "%s: %s", what, err.message);
    check_note(status == MW_OK || is_same(trainer, &before), __FILE__, __LINE__, "%s: refused, but changed", what);
    free(before.bytes);
    check_sound(trainer, what);
    return status == MW_OK;
}

/* Gradients from the smallest to the largest number, of both signs, up and down again. */
static int sweep(mw_trainer *trainer, const char *what)
{
    static fed f;
    int taken = 0;
    for (int e = -40; e <= 38; e += 3)
        for (int sign = -1; sign <= 1; sign += 2) {
            fill(&f, false, (float)(sign * pow(10.0, e)), (float)(-sign * pow(10.0, e)), 0.0f);
            taken += step(trainer, &f, what);
        }
    for (int e = 38; e >= -2; e -= 8) {
        fill(&f, false, (float)pow(10.0, e), (float)pow(10.0, e), 0.0f);
        taken += step(trainer, &f, what);
    }
    fill(&f, false, FLT_MAX, FLT_MAX, 0.0f);
    taken += step(trainer, &f, what);
    return taken;
}

static void test_no_gradient_makes_a_state_that_is_not_finite(void)
{
    mw_optimizer optimizers[32];
    const size_t count = list_optimizers(optimizers);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 6; k++) {
            char what[64];
            mw_error err = {0};
            snprintf(what, sizeof what, "optimizer %zu, device %d, variant %d", i, k / 3, k % 3);
            mw_trainer *trainer =
                create_plain(optimizers[i], devices[k / 3], k % 3 == 1, k % 3 == 2 ? 1.0f : 0.0f, &err);
            CHECK_OK(err);
            REQUIRE(trainer != NULL);
            const int taken = sweep(trainer, what);
            check_note(taken >= (k < 3 ? 40 : 20), __FILE__, __LINE__, "%s: only %d steps were taken", what, taken);
            mw_trainer_destroy(trainer);
        }
}

/* ---- states at their limits ---- */

static void fill_state(mw_trainer *trainer, double share, bool low)
{
    const mw__state_set *state = mw__trainer_state(trainer);
    for (size_t i = 0; i < state->count; i++) {
        mw__state_entry *entry = &state->entries[i];
        const double largest = entry->dtype == MW_F16 ? 65504.0 : (double)FLT_MAX;
        const double most = fmin(entry->most, largest), least = fmax(entry->least, -largest);
        /* a second term is less than a unit in the last place of the first */
        mw__state_fill(entry, strstr(entry->name, "low") != NULL ? 0.0 : (low ? least : most) * share);
    }
}

/* Also with the largest rate that a trainer takes. */
static void check_limits(mw_optimizer optimizer, mw_device device, const char *what)
{
    static fed f;
    const float gradients[] = {0.0f, 1e-30f, -1.0f, 1e4f, -1e10f, 1e15f, -3e38f};
    mw_error err = {0};
    mw_trainer *trainer = create_plain(optimizer, device, false, 0.0f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    for (int s = 0; s < 12; s++)
        for (size_t g = 0; g < sizeof gradients / sizeof *gradients; g++) {
            mw_error refused = {0};
            mw_trainer_set_learning_rate(trainer, s % 2 == 0 ? 1e-3f : 1e3f, &refused);
            fill_state(trainer, s / 2 % 3 == 0 ? 0.9999 : s / 2 % 3 == 1 ? 0.5 : 1e-4, s >= 6);
            /* the loss is x w, which would be refused itself if w were not 0 */
            const mw__state_entry *w = mw__state_find(mw__trainer_state(trainer), "w");
            memset(w->data, 0, w->size);
            fill(&f, false, gradients[g], s % 4 < 2 ? 0.0f : gradients[g] * 1e-3f, 0.0f);
            step(trainer, &f, what);
        }
    mw_trainer_destroy(trainer);
}

static void test_no_state_in_its_range_leaves_it(void)
{
    mw_optimizer optimizers[32];
    const size_t count = list_optimizers(optimizers);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < 2; d++) {
            char what[64];
            snprintf(what, sizeof what, "optimizer %zu, device %zu, at the limits", i, d);
            check_limits(optimizers[i], devices[d], what);
        }
}

static void test_rates_beyond_the_proof_are_refused(void)
{
    mw_error err = {0};
    mw_trainer *trainer = create_plain(mw_sgd(0.1f), MW_DEVICE_CPU, false, 0.0f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    mw_trainer_set_learning_rate(trainer, 1025.0f, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "learning rate 1025");
    CHECK(mw_trainer_get_info(trainer).learning_rate == 0.1f);
    mw_trainer_destroy(trainer);
    err = (mw_error){0};
    trainer = create_plain(mw_sgd(5000.0f), MW_DEVICE_CPU, false, 0.0f, &err); /* looks at the new values instead */
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    CHECK(sweep(trainer, "a rate of 5000") >= 30);
    mw_trainer_destroy(trainer);
}

/* Also where the update is built twice: an input of the user's must not be taken for a state. */
static void test_a_name_of_a_state_is_refused(void)
{
    for (size_t d = 0; d < 2; d++) {
        mw_error err = {0};
        mw_graph *g = mw_graph_create(NULL, NULL);
        mw_tensor *w = mw_parameter(g, "w", MW_F32, MW_SHAPE(3), mw_init_zeros());
        mw_tensor *taken = mw_input(g, "w#m", MW_F32, MW_SHAPE(3));
        mw_tensor *loss = mw_reduce_sum(mw_square(mw_sub(w, taken)), MW_ALL_AXES, false);
        mw_trainer_options options = mw_trainer_defaults(loss, mw_adam(0.1f));
        options.compile.device = devices[d];
        options.compile.provider = MW_PROVIDER_ENGINE;
        CHECK(mw_trainer_create(&options, &err) == NULL);
        CHECK(strstr(err.message, "w#m") != NULL);
        mw_graph_destroy(g);
    }
}

/* ---- files ---- */

static void test_what_is_not_finite_is_never_saved_over_what_is(void)
{
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 0.0f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const char *path = scratch("good"), *weights = scratch("weights");
    mw_trainer_save(trainer, path, NULL, &err);
    mw_trainer_save_weights(trainer, weights, &err);
    CHECK_OK(err);
    const mw__state_entry *entry = mw__state_find(mw__trainer_state(trainer), "fc1.weight");
    ((float *)entry->data)[3] = NAN;
    mw_trainer_save(trainer, path, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "element 3 of \"fc1.weight\" is");
    err = (mw_error){0};
    mw_trainer_save_weights(trainer, weights, &err);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "element 3 of \"fc1.weight\" is");
    err = (mw_error){0};
    mw_trainer_export(trainer, NULL, scratch("model"), NULL, &err);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "element 3 of \"fc1.weight\" is");
    err = (mw_error){0};
    mw_trainer_load(trainer, path, NULL, &err);
    mw_trainer_load_weights(trainer, weights, NULL, &err);
    CHECK_OK(err);
    check_sound(trainer, "loaded again");
    mw_trainer_destroy(trainer);
}

/* Writes the trainer's checkpoint with one number replaced, and a checksum that fits. */
static void write_changed(mw_trainer *trainer, const char *from, const char *to, const char *name, float value,
                          mw_error *err)
{
    static const char *const keys[] = {"mw.format", "mw.version",       "mw.optimizer", "mw.step", "mw.gathered",
                                       "mw.epoch",  "mw.learning_rate", "mw.seed",      "mw.batch"};
    enum { KEYS = sizeof keys / sizeof *keys };
    mw__safetensors file;
    mw__safetensors_note notes[KEYS];
    mw__safetensors_item items[64];
    const mw__state_set *state = mw__trainer_state(trainer);
    REQUIRE(mw__safetensors_open(&file, mw__trainer_allocator(trainer), from, err) == MW_OK && state->count < 64);
    for (size_t i = 0; i < KEYS; i++)
        notes[i] = (mw__safetensors_note){keys[i], mw__safetensors_metadata(&file, keys[i])};
    for (size_t i = 0; i < state->count; i++) {
        const mw__state_entry *e = &state->entries[i];
        items[i] = (mw__safetensors_item){e->name, e->dtype, e->shape, e->data};
    }
    float *changed = mw__state_find(state, name)->data, kept = changed[1];
    changed[1] = value;
    mw__safetensors_write(mw__trainer_allocator(trainer), to, notes, KEYS, items, state->count, err);
    changed[1] = kept;
    mw__safetensors_close(&file);
}

static void test_a_checkpoint_that_is_no_state_is_refused(void)
{
    static const struct {
        const char *name, *message;
        float value;
    } rows[] = {{"fc1.weight", "not finite", NAN},         {"fc1.weight", "not finite", INFINITY},
                {"fc1.weight#m", "not finite", -INFINITY}, {"fc2.bias#v", "is -1e-12; it can only be 0", -1e-12f},
                {"fc1.weight#v", "not finite", NAN},       {"fc1.weight#m", "it can only be", 1e30f},
                {"fc1.weight#v", "it can only be", 3e38f}};
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 0.0f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const char *path = scratch("state"), *bad = scratch("changed");
    mw_trainer_save(trainer, path, NULL, &err);
    CHECK_OK(err);
    copy before = take(trainer);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_changed(trainer, path, bad, rows[i].name, rows[i].value, &err);
        CHECK_OK(err);
        mw_trainer_load(trainer, bad, NULL, &err);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, rows[i].message);
        CHECK(strstr(err.message, rows[i].name) != NULL && is_same(trainer, &before));
        err = (mw_error){0};
    }
    write_changed(trainer, path, bad, "fc1.weight#v", 0.25f, &err);
    mw_trainer_load(trainer, bad, NULL, &err);
    CHECK_OK(err);
    free(before.bytes);
    mw_trainer_destroy(trainer);
}

/* ---- a whole training ---- */

enum { EXAMPLES = 12 };

/* loss = mean over examples of |x w|, whose gradient is 0 * inf for an example of zeros. */
static mw_trainer *create_norms(mw_device device, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(N, 3));
    mw_tensor *w = mw_parameter(g, "w", MW_F32, MW_SHAPE(3), mw_init_constant(0.5f));
    mw_tensor *norms = mw_sqrt(mw_reduce_sum(mw_square(mw_mul(x, w)), MW_AXES(1), false));
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(norms, MW_ALL_AXES, false), mw_adam(0.01f));
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(g);
    return trainer;
}

typedef struct data {
    float x[EXAMPLES * 3];
    bool spoils; /* an example becomes zeros at the end of the first epoch */
} data;

static bool on_progress(void *user, const mw_progress *progress)
{
    data *d = user;
    if (d->spoils && progress->epoch_end)
        memset(d->x + 15, 0, 3 * sizeof *d->x);
    return false; /* do not stop */
}

static mw_status fit(mw_trainer *trainer, data *d, const char *path, mw_error *err)
{
    for (int i = 0; i < EXAMPLES * 3; i++)
        d->x[i] = 0.1f * (float)(i % 7 - 3) + 0.05f;
    const mw_column column = {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(3), .data = d->x};
    mw_dataset *set = mw_dataset_create(&column, 1, EXAMPLES, false, err);
    mw_fit_options options = mw_fit_defaults(set, 3);
    options.checkpoint.path = path;
    options.progress.quiet = true;
    options.progress.function = on_progress;
    options.progress.user = d;
    const mw_status status = mw_trainer_fit(trainer, &options, err);
    mw_dataset_destroy(set);
    return status;
}

static void test_a_fit_that_meets_a_norm_at_zero_leaves_a_file_that_loads(void)
{
    for (size_t k = 0; k < 2; k++) {
        mw_error err = {0};
        data d = {.spoils = true};
        const char *path = scratch(k == 0 ? "fit" : "fit16");
        mw_trainer *trainer = create_norms(devices[k], &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        CHECK_INT(fit(trainer, &d, path, &err), MW_ERROR_NUMERIC);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, "in the gradient of sqrt");
        check_sound(trainer, "after the refusal");
        mw_trainer_destroy(trainer);
        err = (mw_error){0};
        trainer = create_norms(devices[k], &err);
        REQUIRE(trainer != NULL);
        d.spoils = false;
        fit(trainer, &d, path, &err); /* goes on from the file of the first epoch */
        CHECK_OK(err);
        CHECK_INT(mw_trainer_get_info(trainer).steps, 3 * EXAMPLES / N);
        CHECK(mw_trainer_get_info(trainer).counters.steps <= 2 * EXAMPLES / N);
        mw_trainer_destroy(trainer);
    }
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE", "ieee"); /* where IEEE has a NaN a chip has 0, which is refused nowhere */
    RUN(test_a_gradient_that_is_not_finite_is_refused);
    RUN(test_no_gradient_makes_a_state_that_is_not_finite);
    RUN(test_no_state_in_its_range_leaves_it);
    RUN(test_rates_beyond_the_proof_are_refused);
    RUN(test_a_name_of_a_state_is_refused);
    RUN(test_what_is_not_finite_is_never_saved_over_what_is);
    RUN(test_a_checkpoint_that_is_no_state_is_refused);
    RUN(test_a_fit_that_meets_a_norm_at_zero_leaves_a_file_that_loads);
    return check_finish();
}
