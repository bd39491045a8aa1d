/* What C lets a program do with objects and callbacks: two threads in one object, calls back into it, destroying it in
 * the middle or twice. Each ends in MW_ERROR_STATE and loses nothing. */
#include "support/check.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 4, D = 3, C = 2, EXAMPLES = 8 };

/* ---- a trainer whose data comes from a function ---- */

typedef struct world {
    mw_dataset *data;
    mw_trainer *trainer;
    mw_loader *loader;
    mw_program *program;
    mw_error err;
    mw_status (*inside)(struct world *w); /* called by a callback, once */
    bool called;
    mw_status found; /* what it returned */
    mw_error said;   /* and its error */
} world;

/* From within a callback: the first time only. */
static void misuse(world *w)
{
    if (w->inside == NULL || w->called)
        return;
    w->called = true;
    w->found = w->inside(w);
}

static mw_status make_example(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    (void)err;
    if (column == 0)
        for (int i = 0; i < D; i++)
            ((float *)out)[i] = (float)((example + i) % 5) / 4.0f;
    else
        *(int32_t *)out = (int32_t)(example % C);
    misuse(user);
    return MW_OK;
}

static mw_graph *make_model(mw_tensor **out_loss, mw_tensor **out_logits)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    *out_logits = mw_dense(x, C, "fc");
    *out_loss = mw_cross_entropy(*out_logits, y);
    return graph;
}

static mw_trainer *make_trainer(mw_error *err)
{
    mw_tensor *loss, *logits;
    mw_graph *graph = make_model(&loss, &logits);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
    options.prediction = logits;
    options.average_decay = 0.9f;
    options.compile.threads = 1;
    const mw_watch watch = mw_watch_tensor(loss, "loss", MW_WATCH_VALUES);
    options.watch.values = &watch;
    options.watch.count = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static mw_program *make_program(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_program *program = mw_program_create(graph, NULL, err);
    mw_graph_destroy(graph);
    return program;
}

static mw_dataset *make_data(world *user, mw_error *err)
{
    static const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = {1, {D}}},
                                        {.name = "y", .dtype = MW_I32}};
    return mw_dataset_create_callback(columns, 2, EXAMPLES, make_example, user, err);
}

static mw_status call_save(world *w);

static void world_init(world *w, mw_status (*inside)(world *w))
{
    *w = (world){0};
    w->data = make_data(w, &w->err);
    w->trainer = make_trainer(&w->err);
    w->program = make_program(&w->err);
    const mw_loader_options options = mw_loader_defaults(w->data, N);
    w->loader = mw_loader_create(&options, &w->err);
    CHECK_OK(w->err);
    w->inside = inside;
    call_save(w); /* for the calls that load */
    CHECK_OK(w->said);
}

/* What was destroyed inside is NULL here. */
static void world_deinit(world *w)
{
    mw_trainer_destroy(w->trainer);
    mw_loader_destroy(w->loader);
    mw_program_destroy(w->program);
    mw_dataset_destroy(w->data);
}

typedef struct batch {
    float x[N * D];
    int32_t y[N];
    mw_feed feeds[2];
    mw_batch batch;
} batch;

static const mw_batch *make_batch(batch *b)
{
    memset(b, 0, sizeof *b);
    b->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = b->x, .count = N * D};
    b->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = b->y, .count = N};
    b->batch = (mw_batch){.feeds = b->feeds, .feed_count = 2, .examples = N};
    return &b->batch;
}

/* ---- every call on a trainer, from within a callback ---- */

static const char *scratch(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "test_misuse.%d.%s", (int)getpid(), name);
    return path;
}

static mw_status call_step(world *w)
{
    batch b;
    return mw_trainer_step(w->trainer, make_batch(&b), NULL, &w->said);
}
static mw_status call_step_many(world *w)
{
    batch b;
    return mw_trainer_step_many(w->trainer, make_batch(&b), 1, NULL, &w->said);
}
static mw_status call_fit(world *w)
{
    mw_fit_options options = mw_fit_defaults(w->data, 1);
    options.progress.quiet = options.progress.ignore_signals = true;
    return mw_trainer_fit(w->trainer, &options, &w->said);
}
static mw_status call_load(world *w) { return mw_trainer_load(w->trainer, scratch("saved"), NULL, &w->said); }
static mw_status call_save(world *w) { return mw_trainer_save(w->trainer, scratch("saved"), NULL, &w->said); }
static mw_status call_save_weights(world *w)
{
    return mw_trainer_save_weights(w->trainer, scratch("weights"), &w->said);
}
static mw_status call_load_weights(world *w)
{
    const mw_status saved = call_save_weights(w);
    return saved != MW_OK ? saved : mw_trainer_load_weights(w->trainer, scratch("weights"), NULL, &w->said);
}
static mw_status call_read(world *w)
{
    float bias[C];
    return mw_trainer_read(w->trainer, "fc.bias", MW_F32, bias, C, &w->said);
}
static mw_status call_write(world *w)
{
    const float bias[C] = {0};
    return mw_trainer_write(w->trainer, "fc.bias", MW_F32, bias, C, &w->said);
}
static mw_status call_rate(world *w) { return mw_trainer_set_learning_rate(w->trainer, 0.05f, &w->said); }
static mw_status call_averages(world *w) { return mw_trainer_use_averages(w->trainer, false, &w->said); }
static mw_status call_measure(world *w)
{
    mw_evaluation found;
    return mw_trainer_evaluate(w->trainer, w->data, NULL, &found, &w->said);
}
static mw_status call_evaluate(world *w) { return mw_trainer_evaluate(w->trainer, w->data, NULL, NULL, &w->said); }
static mw_status call_watch(world *w)
{
    float loss;
    return mw_trainer_watch_values(w->trainer, 0, MW_F32, &loss, 1, &w->said);
}
static mw_status call_log(world *w) { return mw_trainer_log(w->trainer, NULL, 0, &w->said); }
static mw_status call_predict(world *w)
{
    batch b;
    float out[N * C];
    return mw_trainer_predict(w->trainer, make_batch(&b), MW_F32, out, N * C, &w->said);
}
static mw_status call_export(world *w) { return mw_trainer_export(w->trainer, NULL, "exported", NULL, &w->said); }
static mw_status call_plan(world *w)
{
    mw_plan *plan = mw_plan_create_trainer(w->trainer, MW_TRAINER_STEP, &w->said);
    mw_plan_destroy(plan);
    return plan != NULL ? MW_OK : w->said.status;
}
static mw_status call_profile(world *w) { return mw_trainer_profile(w->trainer, MW_TRAINER_STEP, 0, &w->said); }

typedef struct call_row {
    const char *name;
    mw_status (*call)(world *w);
    bool in_progress; /* the progress callback may */
} call_row;

static const call_row calls[] = {
    {"mw_trainer_step", call_step, false},
    {"mw_trainer_step_many", call_step_many, false},
    {"mw_trainer_fit", call_fit, false},
    {"mw_trainer_load", call_load, false},
    {"mw_trainer_save", call_save, true},
    {"mw_trainer_save_weights", call_save_weights, true},
    {"mw_trainer_load_weights", call_load_weights, true},
    {"mw_trainer_export", call_export, true},
    {"mw_trainer_read", call_read, true},
    {"mw_trainer_write", call_write, true},
    {"mw_trainer_set_learning_rate", call_rate, true},
    {"mw_trainer_use_averages", call_averages, true},
    {"mw_trainer_evaluate", call_measure, true},
    {"mw_trainer_evaluate", call_evaluate, true},
    {"mw_trainer_predict", call_predict, true},
    {"mw_trainer_watch_values", call_watch, true},
    {"mw_trainer_log", call_log, true},
    {"mw_plan_create_trainer", call_plan, true},
    {"mw_trainer_profile", call_profile, true},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static bool on_progress(void *user, const mw_progress *progress)
{
    (void)progress;
    misuse(user);
    return false;
}

static double on_schedule(void *user, int64_t step, int64_t steps)
{
    (void)step;
    (void)steps;
    misuse(user);
    return 1.0;
}

static mw_fit_options quiet_fit(const world *w)
{
    mw_fit_options options = mw_fit_defaults(w->data, 2);
    options.progress.quiet = options.progress.ignore_signals = true;
    return options;
}

/* The refusal names the call, the callback and what it interrupts. */
static void check_refused(const world *w, const call_row *row, const char *callback, const char *outer)
{
    check_note(w->called && w->found == MW_ERROR_STATE, __FILE__, __LINE__, "%s in the %s gave %d: %s", row->name,
               callback, (int)w->found, w->said.message);
    check_note(strstr(w->said.message, callback) != NULL && strstr(w->said.message, outer) != NULL, __FILE__, __LINE__,
               "%s: %s", row->name, w->said.message);
}

static void test_the_progress_callback_may_look_but_not_train(void)
{
    for (int i = 0; i < CALLS; i++) {
        world w;
        world_init(&w, calls[i].call);
        mw_fit_options options = quiet_fit(&w);
        options.progress.function = on_progress;
        options.progress.user = &w;
        world data = {0}; /* whose function does nothing but make examples */
        mw_dataset_destroy(w.data);
        w.data = make_data(&data, &w.err);
        options.data.training = w.data;
        CHECK_INT(mw_trainer_fit(w.trainer, &options, &w.err), MW_OK);
        CHECK_OK(w.err);
        CHECK_INT(mw_trainer_get_info(w.trainer).steps, 4);
        if (calls[i].in_progress)
            check_note(w.called && w.found == MW_OK, __FILE__, __LINE__, "%s: %s", calls[i].name, w.said.message);
        else
            check_refused(&w, &calls[i], "progress callback", "mw_trainer_fit");
        world_deinit(&w);
    }
}

static void test_functions_of_data_and_schedules_may_not_use_the_trainer(void)
{
    for (int i = 0; i < CALLS; i++) {
        for (int k = 0; k < 3; k++) {
            world w;
            world_init(&w, calls[i].call);
            mw_fit_options options = quiet_fit(&w);
            if (k == 1) {
                w.inside = NULL; /* of the data; the schedule gets it */
                world scheduled = w;
                scheduled.inside = calls[i].call;
                options.schedule.rate = mw_schedule_custom(on_schedule, &scheduled);
                CHECK_INT(mw_trainer_fit(w.trainer, &options, &w.err), MW_OK);
                check_refused(&scheduled, &calls[i], "function of the schedule", "mw_trainer_fit");
            } else if (k == 0) {
                CHECK_INT(mw_trainer_fit(w.trainer, &options, &w.err), MW_OK);
                check_refused(&w, &calls[i], "function of the data set", "mw_trainer_fit");
            } else {
                CHECK_INT(mw_trainer_evaluate(w.trainer, w.data, NULL, NULL, &w.err), MW_OK);
                check_refused(&w, &calls[i], "function of the data set", "mw_trainer_evaluate");
            }
            CHECK_OK(w.err);
            world_deinit(&w);
        }
    }
}

/* ---- destroying inside ---- */

static mw_status destroy_trainer(world *w)
{
    mw_trainer *trainer = w->trainer;
    w->trainer = NULL;
    mw_trainer_destroy(trainer);
    mw_trainer_destroy(trainer); /* twice, too */
    return mw_trainer_step(trainer, NULL, NULL, &w->said);
}

static mw_status destroy_loader(world *w)
{
    mw_loader *loader = w->loader;
    w->loader = NULL;
    mw_loader_destroy(loader);
    return mw_loader_seek(loader, (mw_loader_position){0}, &w->said);
}

static mw_status destroy_data(world *w)
{
    mw_dataset *data = w->data;
    w->data = NULL;
    mw_dataset_destroy(data);
    const mw_loader_options options = mw_loader_defaults(data, 2);
    return mw_loader_create(&options, &w->said) != NULL ? MW_OK : w->said.status;
}

static void test_a_trainer_destroyed_in_a_callback_dies_when_the_call_ends(void)
{
    for (int k = 0; k < 3; k++) {
        world w;
        world_init(&w, k == 1 ? NULL : destroy_trainer);
        world other = w;
        mw_fit_options options = quiet_fit(&w);
        if (k == 1) {
            other.inside = destroy_trainer;
            options.progress.function = on_progress;
            options.progress.user = &other;
        }
        mw_trainer *trainer = w.trainer;
        const mw_status status = k == 2 ? mw_trainer_evaluate(trainer, w.data, NULL, NULL, &w.err)
                                        : mw_trainer_fit(trainer, &options, &w.err);
        CHECK_INT(status, MW_ERROR_STATE);
        CHECK_ERROR(w.err, MW_ERROR_STATE, "the trainer was destroyed");
        CHECK_CONTAINS(w.err.message, k == 2 ? "mw_trainer_evaluate" : "mw_trainer_fit");
        CHECK_INT((k == 1 ? other : w).found, MW_ERROR_STATE);
        w.trainer = NULL;
        mw_error_clear(&w.err);
        CHECK_INT(mw_trainer_step(trainer, NULL, NULL, &w.err), MW_ERROR_STATE); /* it is gone */
        world_deinit(&w);
    }
}

static void test_loaders_and_data_destroyed_in_a_callback(void)
{
    world w;
    world_init(&w, destroy_loader);
    CHECK(mw_loader_next(w.loader, &w.err) == NULL);
    CHECK_ERROR(w.err, MW_ERROR_STATE, "mw_loader_next: the loader was destroyed");
    CHECK_INT(w.found, MW_ERROR_STATE);
    world_deinit(&w);
    world_init(&w, destroy_data);
    CHECK(mw_loader_next(w.loader, &w.err) != NULL); /* it keeps the data alive */
    CHECK_OK(w.err);
    CHECK_INT(w.found, MW_ERROR_STATE);
    mw_fit_options options = mw_fit_defaults(w.data, 1);
    CHECK_INT(mw_trainer_fit(w.trainer, &options, &w.err), MW_ERROR_ARGUMENT); /* NULL by now */
    world_deinit(&w);
}

static mw_status call_next(world *w) { return mw_loader_next(w->loader, &w->said) != NULL ? MW_OK : w->said.status; }

static void test_a_loader_is_not_entered_by_the_function_that_it_calls(void)
{
    world w;
    world_init(&w, call_next);
    const mw_batch *served = mw_loader_next(w.loader, &w.err);
    CHECK(served != NULL && served->examples == N);
    CHECK_INT(w.found, MW_ERROR_STATE);
    CHECK_CONTAINS(w.said.message, "mw_loader_next: called by the function of the data set");
    CHECK_INT(mw_loader_tell(w.loader).batch, 1);
    world_deinit(&w);
}

/* ---- the log hook ---- */

static void step_from_log(void *user, mw_log_level level, const char *line)
{
    (void)level;
    (void)line;
    misuse(user);
}

/* The first loss that runs away is said through the hook, in the middle of a step. */
static void test_the_log_hook_may_not_use_the_trainer(void)
{
    world w;
    batch b;
    world_init(&w, NULL);
    make_batch(&b);
    for (int i = 0; i < 20; i++)
        mw_trainer_step(w.trainer, &b.batch, NULL, &w.err);
    mw_trainer_write(w.trainer, "fc.bias", MW_F32, (float[C]){-1e6f, 1e6f}, C, &w.err);
    mw_log_set(step_from_log, &w);
    w.inside = call_step;
    mw_trainer_step(w.trainer, &b.batch, NULL, &w.err);
    mw_log_set(NULL, NULL);
    CHECK_OK(w.err);
    CHECK(w.called && w.found == MW_ERROR_STATE);
    CHECK_CONTAINS(w.said.message, "called by the log hook while mw_trainer_step is at work");
    CHECK_INT(mw_trainer_get_info(w.trainer).steps, 21);
    world_deinit(&w);
}

/* ---- threads ---- */

/* Steps until it has been refused or let in often enough. */
typedef struct stepper {
    mw_trainer *trainer;
    mw_program *program;
    int64_t done, refused, other;
} stepper;

static void *step_often(void *user)
{
    stepper *s = user;
    batch b;
    make_batch(&b);
    for (int i = 0; i < 2000; i++) {
        mw_error err = {0};
        const mw_status status =
            s->trainer != NULL ? mw_trainer_step(s->trainer, &b.batch, NULL, &err) : mw_program_run(s->program, &err);
        s->done += status == MW_OK;
        s->refused += status == MW_ERROR_STATE && strstr(err.message, "another thread is inside") != NULL;
    }
    s->other = 2000 - s->done - s->refused;
    return NULL;
}

static void run_both(stepper *both)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, step_often, &both[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(both[0].other + both[1].other, 0);
}

static void test_two_threads_in_one_trainer_lose_no_step(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(&err), *alone = make_trainer(&err);
    stepper both[2] = {{.trainer = trainer}, {.trainer = trainer}};
    run_both(both);
    CHECK_INT(mw_trainer_get_info(trainer).steps, both[0].done + both[1].done);
    batch b; /* the batches are all alike: so many steps by one thread give the same bits */
    make_batch(&b);
    for (int64_t i = 0; i < both[0].done + both[1].done; i++)
        mw_trainer_step(alone, &b.batch, NULL, &err);
    float ours[C * D], theirs[C * D];
    mw_trainer_read(trainer, "fc.weight", MW_F32, ours, C * D, &err);
    mw_trainer_read(alone, "fc.weight", MW_F32, theirs, C * D, &err);
    CHECK_OK(err);
    CHECK(memcmp(ours, theirs, sizeof ours) == 0);
    mw_trainer_destroy(trainer);
    mw_trainer_destroy(alone);
}

static void test_two_threads_in_one_program_are_told(void)
{
    mw_error err = {0};
    mw_program *program = make_program(&err);
    stepper both[2] = {{.program = program}, {.program = program}};
    CHECK_OK(err);
    run_both(both);
    CHECK(both[0].done > 0 && both[1].done > 0);
    mw_program_destroy(program);
}

/* A trainer that is inside a callback of one thread is refused to another for sure. */
static void *step_once(void *user)
{
    world *w = user;
    w->found = call_step(w);
    return NULL;
}

static mw_status step_in_a_thread(world *w)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, step_once, w) != 0)
        return MW_ERROR_MEMORY;
    pthread_join(thread, NULL);
    return w->found;
}

static void test_the_second_thread_learns_what_the_first_does(void)
{
    world w;
    world_init(&w, step_in_a_thread);
    CHECK_INT(mw_trainer_evaluate(w.trainer, w.data, NULL, NULL, &w.err), MW_OK);
    CHECK(w.called && w.found == MW_ERROR_STATE);
    CHECK_CONTAINS(w.said.message, "mw_trainer_step: the trainer is in use: another thread is inside "
                                   "mw_trainer_evaluate");
    CHECK_INT(mw_trainer_get_info(w.trainer).steps, 0);
    world_deinit(&w);
}

static void *destroy_once(void *user)
{
    world *w = user;
    mw_trainer_destroy(w->trainer);
    w->trainer = NULL;
    return NULL;
}

static mw_status destroy_in_a_thread(world *w)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, destroy_once, w) != 0)
        return MW_ERROR_MEMORY;
    pthread_join(thread, NULL);
    return MW_OK;
}

static void test_a_trainer_destroyed_by_another_thread_dies_when_the_call_ends(void)
{
    world w;
    world_init(&w, destroy_in_a_thread);
    CHECK_INT(mw_trainer_evaluate(w.trainer, w.data, NULL, NULL, &w.err), MW_ERROR_STATE);
    CHECK_ERROR(w.err, MW_ERROR_STATE, "mw_trainer_evaluate: the trainer was destroyed meanwhile");
    world_deinit(&w);
}

/* ---- twice ---- */

static int refusals;

static void count_refusals(void *user, mw_log_level level, const char *line)
{
    (void)user;
    refusals += level == MW_LOG_ERROR && strstr(line, "was destroyed before, or never was one") != NULL;
}

static void test_destroying_twice_does_nothing_and_says_so(void)
{
    world w;
    world_init(&w, NULL);
    mw_plan *plan = mw_plan_create(w.program, &w.err);
    CHECK_OK(w.err);
    mw_log_set(count_refusals, NULL);
    refusals = 0;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(refusals, 0);
        mw_plan_destroy(plan);
        mw_loader_destroy(w.loader);
        mw_dataset_destroy(w.data);
        mw_program_destroy(w.program);
        mw_trainer_destroy(w.trainer);
    }
    mw_log_set(NULL, NULL);
    CHECK_INT(refusals, 5);
    mw_error err = {0};
    CHECK_INT(mw_program_run(w.program, &err), MW_ERROR_STATE);
    CHECK_CONTAINS(err.message, "mw_program_run: the program was destroyed before");
    mw_error_clear(&err);
    CHECK_INT(mw_plan_write(plan, "never", &err), MW_ERROR_STATE);
    mw_error_clear(&err);
    CHECK(mw_loader_next(w.loader, &err) == NULL && err.status == MW_ERROR_STATE);
    mw_error_clear(&err);
    CHECK_INT(call_fit(&w), MW_ERROR_STATE);
}

static void count_errors(void *user, mw_log_level level, const char *line)
{
    refusals += level == MW_LOG_ERROR && strstr(line, user) != NULL;
}

static void test_the_program_of_a_trainer_is_not_destroyed_by_others(void)
{
    world w;
    world_init(&w, NULL);
    mw_log_set(count_errors, "mw_program_destroy: the program belongs to a trainer");
    refusals = 0;
    mw_program_destroy(mw_trainer_program(w.trainer));
    CHECK_INT(refusals, 1);
    CHECK_INT(call_step(&w), MW_OK);
    world_deinit(&w);
    mw_log_set(NULL, NULL);
    CHECK_INT(refusals, 1);
}

/* ---- the header's promise ---- */

static void check_header(const char *name)
{
    static char path[512], text[1 << 17];
    snprintf(path, sizeof path, "%s/../include/millwright/%s", MW_TESTS_DIR, name);
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (const char *at = text; (at = strstr(at, "MW_API mw_status mw_trainer_")) != NULL;) {
        at += strlen("MW_API mw_status ");
        const size_t length = strcspn(at, "(");
        bool found = strncmp(at, "mw_trainer_save_lora(", length + 1) == 0; /* it wants adapters: as save_weights */
        for (int i = 0; i < CALLS; i++)
            found = found || (strlen(calls[i].name) == length && strncmp(calls[i].name, at, length) == 0);
        check_note(found, __FILE__, __LINE__, "%.*s is not tried from callbacks", (int)length, at);
    }
}

/* Every call that takes a trainer and an error stands in the table. */
static void test_every_call_of_a_trainer_is_in_the_table(void)
{
    static const char *const headers[] = {"trainer.h", "fit.h", "watch.h", "weights.h", "model.h", "plan.h"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        check_header(headers[i]);
}

int main(void)
{
    RUN(test_the_progress_callback_may_look_but_not_train);
    RUN(test_functions_of_data_and_schedules_may_not_use_the_trainer);
    RUN(test_a_trainer_destroyed_in_a_callback_dies_when_the_call_ends);
    RUN(test_loaders_and_data_destroyed_in_a_callback);
    RUN(test_a_loader_is_not_entered_by_the_function_that_it_calls);
    RUN(test_the_log_hook_may_not_use_the_trainer);
    RUN(test_two_threads_in_one_trainer_lose_no_step);
    RUN(test_two_threads_in_one_program_are_told);
    RUN(test_the_second_thread_learns_what_the_first_does);
    RUN(test_a_trainer_destroyed_by_another_thread_dies_when_the_call_ends);
    RUN(test_destroying_twice_does_nothing_and_says_so);
    RUN(test_the_program_of_a_trainer_is_not_destroyed_by_others);
    RUN(test_every_call_of_a_trainer_is_in_the_table);
    remove(scratch("saved"));
    remove(scratch("weights"));
    return check_finish();
}
