/* How it is trained: optimizer, schedule, trainer and loop, from the fields of a recipe and the options. A field is
 * asked for only where it has an effect. */
#include "tool/train/training_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An option goes before the field; below 0 or 0, as the option's range allows neither, is none. */
static int64_t pick(long long over, bool given, int64_t otherwise) { return given ? over : otherwise; }

/* ---- optimizer and schedule ---- */

typedef enum optimizer_name { ADAM, ADAMW, SGD, RMSPROP, ADAGRAD, LION, MUON } optimizer_name;

const char *const training_optimizers[] = {"adam", "adamw", "sgd", "rmsprop", "adagrad", "lion", "muon", NULL};

mw_optimizer training_begin_optimizer(int name, float rate)
{
    switch ((optimizer_name)name) {
    case ADAMW:
        return mw_adamw(rate, 0.01f);
    case SGD:
        return mw_sgd(rate);
    case RMSPROP:
        return mw_rmsprop(rate);
    case ADAGRAD:
        return mw_adagrad(rate);
    case LION:
        return mw_lion(rate, 0.01f);
    case MUON:
        return mw_muon(rate, 0.01f);
    default:
        return mw_adam(rate);
    }
}

float training_optimizer_rate(int name) { return name == SGD ? 0.01f : name == LION ? 1e-4f : 1e-3f; }

/* Whether a recipe says it: the learning rate is asked for before. */
static bool is_said(const mw_optimizer_number_info *number, char *path, size_t size)
{
    snprintf(path, size, "optimizer.%s", number->name);
    return number->number != MW_OPTIMIZER_LEARNING_RATE && field_is_there(path);
}

/* Those that this optimizer has. */
static void take_numbers(config *c, const config_node *o, mw_optimizer *made)
{
    mw_optimizer_number_info n;
    char path[64];
    for (size_t i = 0; mw_optimizer_number_at(made, i, &n); i++) {
        const bool without = n.number == MW_OPTIMIZER_NESTEROV && mw_optimizer_get(made, MW_OPTIMIZER_MOMENTUM) == 0.0;
        if (is_said(&n, path, sizeof path) && !without)
            mw_optimizer_set(made, n.number,
                             n.is_switch ? field_bool(c, o, path, n.value != 0.0) : field_number(c, o, path, n.value));
    }
}

static mw_optimizer make_optimizer(training *t)
{
    config *c = &t->c;
    const config_node *o = field_object(c, c->root, "optimizer");
    const optimizer_name name = (optimizer_name)field_choice(c, o, "optimizer.name", ADAM);
    const double standard = t->text != NULL ? training_text_rate(t) : (double)training_optimizer_rate((int)name);
    const double said = field_number(c, o, "optimizer.learning_rate", standard);
    mw_optimizer made =
        training_begin_optimizer((int)name, (float)(t->over->learning_rate > 0 ? t->over->learning_rate : said));
    take_numbers(c, o, &made);
    return made;
}

static mw_schedule make_schedule(training *t)
{
    config *c = &t->c;
    const config_node *s = field_object(c, c->root, "schedule");
    const int kind = field_choice(c, s, "schedule.name", s != NULL ? 0 : 2);
    const double end = kind == 1 || kind == 2 ? field_number(c, s, "schedule.end", 0) : 0;
    const int64_t period = kind == 4 ? field_integer(c, s, "schedule.period", 1000) : 1;
    mw_schedule made = kind == 1   ? mw_schedule_linear(end)
                       : kind == 2 ? mw_schedule_cosine(end)
                       : kind == 3 ? mw_schedule_one_cycle(0.3, 25, 1e4)
                       : kind == 4 ? mw_schedule_step(period, field_number(c, s, "schedule.gamma", 0.1))
                                   : mw_schedule_constant();
    made.warmup_steps = field_integer(c, s, "schedule.warmup_steps", 0);
    return made;
}

/* ---- the trainer ---- */

static uint64_t seed_of(training *t)
{
    return (uint64_t)pick(t->over->seed, t->over->seed >= 0, field_integer(&t->c, t->c.root, "seed", 1));
}

static mw_device device_of(training *t)
{
    static const mw_device devices[] = {MW_DEVICE_AUTO, MW_DEVICE_CPU, MW_DEVICE_GPU,
                                        MW_DEVICE_ANE}; /* RECIPE_DEVICES */
    mw_device device = devices[field_choice(&t->c, t->c.root, "device", 0)];
    if (t->over->device != NULL)
        tool_parse_device(t->over->device, &device); /* its choices are those of the row */
    return device;
}

/* What a step may take, and into how many programs it is cut. */
static mw_trainer_memory memory_of(const training *t)
{
    const long long segments = t->over->segments;
    return (mw_trainer_memory){.limit = (uint64_t)(t->over->memory_limit * 1e6),
                               .segments = segments == 0  ? MW_SEGMENTS_AUTO
                                           : segments > 0 ? (int)segments
                                                          : 0};
}

/* Of mw passes. */
static void take_compile(const training *t, mw_compile_options *out)
{
    const mw_compile_options *said = t->over->compile;
    if (said == NULL)
        return;
    out->chip = said->chip;
    out->profile = said->profile;
    out->exact_convolution = said->exact_convolution;
    out->passes = said->passes;
}

bool training_make_trainer(training *t)
{
    config *c = &t->c;
    const config_node *root = c->root;
    const bool has_metrics = t->metrics[0] != '\0';
    t->optimizer = make_optimizer(t);
    mw_trainer_options options = mw_trainer_defaults(t->loss, t->optimizer);
    options.metric = t->metric;
    options.prediction = t->out;
    options.variants = t->variants;
    options.variant_count = t->variant_count;
    options.clipping.norm = (float)field_number(c, root, "clip_norm", 0);
    const int64_t accumulate = field_integer(c, root, "accumulate", 1);
    options.accumulate = (int)pick(t->over->accumulate, t->over->accumulate > 0, accumulate);
    options.watch.gradient_norms = has_metrics && field_bool(c, root, "gradient_norms", t->run != NULL);
    options.watch.replay_folder = t->refused[0] != '\0' ? t->refused : NULL;
    options.memory = memory_of(t);
    options.average_decay = (float)field_number(c, root, "average_decay", 0);
    options.average_from = options.average_decay > 0 ? (int)field_integer(c, root, "average_from", 1) : 0;
    if (t->text == NULL && !training_take_rates(t, &options.rates))
        return false;
    options.compile.seed = seed_of(t);
    const int64_t threads = field_integer(c, root, "threads", 0);
    t->threads = options.compile.threads = (int)pick(t->over->threads, t->over->threads >= 0, threads);
    t->device = options.compile.device = device_of(t);
    take_compile(t, &options.compile);
    if (t->text != NULL && training_text_compensates(t))
        mw_optimizer_set(&t->optimizer, MW_OPTIMIZER_COMPENSATED, 1);
    options.optimizer = t->optimizer;
    if (options.rates.report != NULL && t->call->json != NULL)
        mw__json_open(t->call->json, "rates", '[');
    tool_waiting_compile(t->call, &options.compile);
    t->trainer = t->err->status == MW_OK ? mw_trainer_create(&options, t->err) : NULL;
    tool_waiting_end();
    if (options.rates.report != NULL && t->call->json != NULL)
        mw__json_close(t->call->json, ']');
    if (t->trainer != NULL && options.average_decay > 0)
        mw_trainer_use_averages(t->trainer, true, t->err);
    return t->trainer != NULL && t->err->status == MW_OK && (t->text == NULL || training_text_load(t));
}

/* ---- the loop ---- */

/* `said`, or else `run` and what is in its folder. */
static bool join_path(training *t, char out[TRAINING_PATH_BYTES], const char *said, const char *run, const char *name)
{
    out[0] = '\0';
    if (said == NULL && run == NULL)
        return true;
    const int length = snprintf(out, TRAINING_PATH_BYTES, "%s%s", said != NULL ? said : run, said != NULL ? "" : name);
    return length < TRAINING_PATH_BYTES ||
           training_fail(t, MW_ERROR_ARGUMENT, "a path of %d bytes is too long", length);
}

/* A folder below that of the run; a fold leaves no model elsewhere. */
static void place_fold(training *t)
{
    t->output = NULL;
    if (t->run == NULL)
        return;
    mkdir(t->run, 0777); /* what it refuses is said by the first that writes there */
    snprintf(t->fold_run, sizeof t->fold_run, "%.4000s/fold-%d", t->run, t->over->fold + 1);
    t->run = t->fold_run;
}

/* Where things go: the run's folder has metrics and the checkpoint, unless they are placed elsewhere. */
bool training_place_files(training *t)
{
    config *c = &t->c;
    const char *run = field_text(c, c->root, "run", NULL), *output = field_text(c, c->root, "output", NULL);
    t->run = t->over->run != NULL ? t->over->run : run;
    t->output = t->over->output != NULL ? t->over->output : output;
    const char *checkpoint = field_text(c, c->root, "checkpoint", NULL);
    const char *metrics = field_text(c, c->root, "metrics", NULL);
    if (t->over->folds > 0)
        place_fold(t);
    if (t->over->measured != NULL) /* one of several trainings of the recipe */
        checkpoint = metrics = NULL;
    return join_path(t, t->checkpoint, checkpoint, t->run, "/checkpoint.safetensors") &&
           join_path(t, t->refused, NULL, t->run, "/refused") &&
           join_path(t, t->metrics, metrics, t->run, "/metrics.jsonl");
}

static const char *const compared[] = {"loss", "accuracy", "mean_absolute_error"}; /* the choices of "best" and "by" */

static const char *choose_compared(training *t, const config_node *object, const char *path)
{
    const int index = field_choice(&t->c, object, path, -1);
    return index >= 0 ? compared[index] : NULL;
}

static void take_early_stopping(training *t, const config_node *stop, mw_fit_options *fit)
{
    config *c = &t->c;
    const char *by = choose_compared(t, stop, "early_stopping.by");
    if (by != NULL && fit->stopping.best_by != NULL && strcmp(by, fit->stopping.best_by) != 0)
        config_fail(c, config_get(stop, "by"),
                    "\"by\" is \"%s\", and \"best\" is \"%s\": one run compares epochs by one", by,
                    fit->stopping.best_by);
    fit->stopping.best_by = by != NULL ? by : fit->stopping.best_by;
    fit->stopping.min_delta = field_number(c, stop, "early_stopping.min_delta", 0);
    fit->stopping.patience = field_integer(c, stop, "early_stopping.patience", 3);
    fit->stopping.restore_best = field_bool(c, stop, "early_stopping.restore_best", true);
}

static void take_plateau(training *t, const config_node *plateau, mw_fit_options *fit)
{
    config *c = &t->c;
    fit->schedule.plateau_patience = field_integer(c, plateau, "plateau.patience", 2);
    fit->schedule.plateau_factor = field_number(c, plateau, "plateau.factor", 0.1);
    fit->schedule.plateau_least = field_number(c, plateau, "plateau.least", 0);
}

/* {"by": "loss", "patience": 3}: the best epoch is what is left. */
static void take_stopping(training *t, mw_fit_options *fit)
{
    const config_node *stop = field_object(&t->c, t->c.root, "early_stopping");
    const config_node *plateau = field_object(&t->c, t->c.root, "plateau");
    if (stop != NULL)
        take_early_stopping(t, stop, fit);
    if (plateau != NULL)
        take_plateau(t, plateau, fit);
    if (fit->stopping.best_by == NULL && (stop != NULL || plateau != NULL))
        fit->stopping.best_by = "loss";
    fit->stopping.best_highest = fit->stopping.best_by != NULL && strcmp(fit->stopping.best_by, "accuracy") == 0;
    if (fit->stopping.best_by != NULL && fit->data.validation == NULL)
        config_fail(&t->c,
                    stop != NULL      ? stop
                    : plateau != NULL ? plateau
                                      : config_get(t->c.root, "best"),
                    "epochs are compared by what a validation set finds, and there is none");
}

static void take_saving(training *t, mw_fit_options *fit)
{
    config *c = &t->c;
    fit->checkpoint.path = t->checkpoint;
    fit->checkpoint.steps = field_integer(c, c->root, "checkpoint_steps", 0);
    fit->checkpoint.keep_last = (int)field_integer(c, c->root, "keep", 0);
    fit->stopping.best_by = choose_compared(t, c->root, "best");
}

/* The first call is the first sign that the run was accepted: its checkpoint fits, and no other process has it. */
static bool report_progress(void *user, const mw_progress *progress)
{
    training *t = user;
    training_keep_settings(t);
    if (t->text != NULL)
        training_text_report(t, progress);
    return dashboard_report(&t->board, progress);
}

/* What is learned of each id, or of a list, comes with a few rows at a time. */
static bool learns_words(const training *t)
{
    mw_encoded_field f;
    for (size_t i = 0; mw_table_encoder_field_at(t->data.encoder, i, &f); i++)
        if ((f.kind == MW_FIELD_ID && f.width < (int64_t)f.word_count) || f.kind == MW_FIELD_SEQUENCE)
            return true;
    return false;
}

/* A small table, and few sounds or pictures without a network of the recipe, are learned in some 500 steps, 5 to 200
 * epochs: more fit their noise. Ids and lists take four times that. */
static int64_t usual_epochs(const training *t)
{
    const int64_t steps = mw_dataset_examples(t->data.training) / t->batch;
    const int64_t epochs = (learns_words(t) ? 2000 : 500) / (steps > 0 ? steps : 1);
    const bool is_usual = t->data.is_image && config_get(t->c.root, "network") == NULL;
    const bool is_small = t->data.encoder != NULL || t->data.is_sound || is_usual;
    return !is_small || t->model != NULL || epochs < 5 ? 5 : epochs < 200 ? epochs : 200;
}

mw_fit_options training_make_fit(training *t)
{
    config *c = &t->c;
    const int64_t epochs =
        pick(t->over->epochs, t->over->epochs > 0, field_integer(c, c->root, "epochs", usual_epochs(t)));
    mw_fit_options fit = mw_fit_defaults(t->data.training, epochs);
    fit.data.validation = t->data.validation;
    fit.schedule.rate = make_schedule(t);
    fit.data.seed = seed_of(t);
    if (t->checkpoint[0] != '\0')
        take_saving(t, &fit);
    if (t->metrics[0] != '\0') {
        fit.metrics.path = t->metrics;
        fit.metrics.steps = field_integer(c, c->root, "metrics_steps", 0);
    }
    take_stopping(t, &fit);
    fit.progress.no_warnings = true; /* they are said before */
    fit.progress.quiet = dashboard_begin(&t->board, t->call) || t->call->quiet;
    fit.progress.function = report_progress;
    fit.progress.user = t;
    return fit;
}

/* ---- a run that goes on ---- */

/* The value of " key=" in the line that describes an optimizer. */
static bool find_number(const char *line, const char *key, double *out)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, " %s=", key);
    const char *at = strstr(line, wanted);
    if (at == NULL)
        return false;
    *out = strtod(at + strlen(wanted), NULL);
    return true;
}

/* The state of an optimizer belongs to its numbers, which the step program has: other ones are refused. */
static bool check_numbers(training *t, const char *line)
{
    mw_optimizer_number_info n;
    char path[64];
    for (size_t i = 0; mw_optimizer_number_at(&t->optimizer, i, &n); i++) {
        double saved;
        if (is_said(&n, path, sizeof path) && find_number(line, n.name, &saved) && (float)saved != (float)n.value) {
            tool_complain("%.200s was trained with \"%s\" %g, the settings say %g: a run goes on with the optimizer "
                          "that it began with; begin another with --run",
                          t->checkpoint, n.name, saved, n.value);
            return false;
        }
    }
    return true;
}

/* That of the checkpoint goes before the one of the settings, as plateaus may have lowered it. */
static void say_rate(const training *t, const char *saved)
{
    const double rate = (double)strtof(saved, NULL), ours = mw_optimizer_get(&t->optimizer, MW_OPTIMIZER_LEARNING_RATE);
    if (rate != ours)
        tool_complain("the run goes on with the learning rate %g of %.200s; %g of %s is not taken (begin another with "
                      "--run)",
                      rate, t->checkpoint, ours, t->over->learning_rate > 0 ? "--lr" : "the settings");
}

/* The scores of the run stand for the classes that it began with. */
static bool check_classes(training *t)
{
    char path[TRAINING_PATH_BYTES + 16], ours[160], theirs[160];
    config kept;
    struct stat entry;
    class_list began = {0};
    mw_error local = {0};
    snprintf(path, sizeof path, "%s/about.json", t->run != NULL ? t->run : "");
    if (t->run == NULL || stat(path, &entry) != 0)
        return true;
    const char *lines = config_open(&kept, path, &local) ? config_string(&kept, kept.root, "classes", NULL) : NULL;
    if (local.status != MW_OK) {
        config_close(&kept);
        return training_fail(t, local.status, "\"classes\" of the run are not known: %.400s", local.message);
    }
    bool same = lines == NULL || !class_list_of_lines(&began, lines, &local) || began.count == t->classes.count;
    for (size_t i = 0; same && i < began.count; i++)
        same = strcmp(began.names[i], t->classes.names[i]) == 0;
    if (!same)
        training_fail(t, MW_ERROR_ARGUMENT,
                      "the run in %.100s began with the classes %s, and the data has %s: begin another with --run",
                      t->run, class_list_print(theirs, sizeof theirs, &began),
                      class_list_print(ours, sizeof ours, &t->classes));
    class_list_free(&began);
    config_close(&kept);
    return same;
}

/* What the run was fitted on fills and scales the inputs of its weights. */
static bool check_table(training *t)
{
    char path[TRAINING_PATH_BYTES + 16];
    config kept;
    struct stat entry;
    mw_error local = {0};
    snprintf(path, sizeof path, "%s/about.json", t->run != NULL ? t->run : "");
    if (t->run == NULL || t->data.encoder == NULL || stat(path, &entry) != 0)
        return true;
    const char *began = config_open(&kept, path, &local) ? config_string(&kept, kept.root, DATA_TABLE_KEY, NULL) : NULL;
    char *text = began != NULL ? mw_table_encoder_write(t->data.encoder, t->err) : NULL;
    if (text != NULL && strcmp(text, began) != 0)
        training_fail(t, MW_ERROR_ARGUMENT,
                      "the run in %.100s was fitted on other rows or fields than %.200s has: begin another with --run",
                      t->run, t->data_path);
    mw_string_free(text);
    config_close(&kept);
    return t->err->status == MW_OK;
}

bool training_check_checkpoint(training *t)
{
    struct stat entry;
    mw_error local = {0};
    bool good = true;
    if (t->checkpoint[0] == '\0' || stat(t->checkpoint, &entry) != 0)
        return true;
    if (!check_classes(t) || !check_table(t))
        return true; /* the error is set */
    mw_tensors *tensors =
        mw_tensors_open(t->checkpoint, &local); /* mw_trainer_fit says what is wrong with a broken one */
    const mw_tensors_note *note;
    for (size_t i = 0; good && tensors != NULL && (note = mw_tensors_note_at(tensors, i)) != NULL; i++) {
        if (strcmp(note->key, "mw.optimizer") == 0)
            good = check_numbers(t, note->value);
        if (strcmp(note->key, "mw.learning_rate") == 0)
            say_rate(t, note->value);
    }
    mw_tensors_destroy(tensors);
    return good;
}
