/* A training from settings: data, network, trainer, loop, what is written at the end. Nothing is written before all of
 * it was accepted. */
#include "tool/meant.h"
#include "tool/model_text.h"
#include "tool/train/network.h"
#include "tool/train/sounds.h"
#include "tool/train/training_scores.h"
#include "tool/train/training_text.h"

#include "base/text/printable.h"

#include <errno.h>
#include <math.h>
#include <millwright/summary.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool training_fail(training *t, mw_status status, const char *format, ...)
{
    va_list arguments;
    if (t->err->status != MW_OK)
        return false;
    t->err->status = status;
    va_start(arguments, format);
    mw__printable_vprintf(t->err->message, sizeof t->err->message, format, arguments);
    va_end(arguments);
    return false;
}

/* A layer is an element of a list, and has its own. */
static void offer_keys(const config_node *object, mw__spelling *spelling)
{
    if (object->key == NULL && object->parent != NULL)
        network_offer_options(object, spelling);
    else
        field_offer(object, spelling);
}

static const config_keys known_keys = {
    .condition = field_condition, .is_listed = field_has_members, .offer = offer_keys, .owner = field_owner};

const char *const training_losses[] = {
    "cross_entropy", "mse",     "l1",     "huber", "binary_cross_entropy", "focal", "dice",
    "quantile",      "poisson", "cosine", NULL};

/* ---- data ---- */

/* Whether the first layer looks its inputs up. */
static bool begins_with_embedding(const config_node *layers)
{
    const config_node *layer = layers != NULL && layers->kind == CONFIG_ARRAY ? layers->first : NULL;
    for (; layer != NULL && layer->kind == CONFIG_OBJECT && layer->first != NULL; layer = layer->next) {
        const char *kind = layer->first->key;
        if (strcmp(kind, "embedding") == 0)
            return true;
        if (strcmp(kind, "reshape") != 0 && strcmp(kind, "transpose") != 0)
            return false;
    }
    return false;
}

/* The model that is trained on, if there is one: its input says how the data is read. */
static bool open_model(training *t, data_request *request, mw_port *out_input)
{
    const char *said = field_text(&t->c, t->c.root, "model", NULL);
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    t->model_path = t->over->model != NULL ? t->over->model : said;
    if (t->model_path == NULL)
        return true;
    t->model_path = tool_model_path(t->model_path, t->model_folder, sizeof t->model_folder);
    t->model = mw_model_open(t->model_path, &options, t->err);
    t->source = t->model != NULL ? mw_graph_function(mw_model_get_info(t->model).graph, NULL, t->err) : NULL;
    const mw_tensor *input = t->source != NULL ? mw_graph_input_at(t->source, 0) : NULL;
    if (input == NULL)
        return training_fail(t, MW_ERROR_FORMAT, "%.200s has no input", t->model_path);
    *out_input =
        (mw_port){.name = mw_tensor_name(input), .dtype = mw_tensor_dtype(input), .shape = mw_tensor_shape(input)};
    request->input = out_input;
    request->source = t->source;
    request->is_for_model = true;
    request->new_classes = t->over->head || config_get(t->c.root, "network") != NULL;
    request->integers = out_input->dtype == MW_I32 || out_input->dtype == MW_I16 || out_input->dtype == MW_U16;
    return data_request_model(request, t->model, t->model_path, NULL, t->err);
}

/* Whether the settings or an option say it: else the target of a table tells. */
static bool is_loss_said(const training *t) { return t->over->loss != NULL || config_get(t->c.root, "loss") != NULL; }

static recipe_loss choose_loss(training *t)
{
    recipe_loss loss = (recipe_loss)field_choice(&t->c, t->c.root, "loss", RECIPE_CROSS_ENTROPY);
    for (int i = 0; t->over->loss != NULL && training_losses[i] != NULL; i++)
        loss = strcmp(t->over->loss, training_losses[i]) == 0 ? (recipe_loss)i : loss;
    return loss;
}

/* The loss follows the target of the table. */
static bool take_target(training *t)
{
    static const char *const targets[] = {"", "classes", "values", "labels"};
    static const recipe_loss usual[] = {RECIPE_CROSS_ENTROPY, RECIPE_CROSS_ENTROPY, RECIPE_MSE,
                                        RECIPE_BINARY_CROSS_ENTROPY};
    const mw_target_kind kind = mw_table_encoder_target(t->data.encoder).kind;
    const bool is_class = recipe_has_classes(t->loss_kind), is_label = recipe_has_labels(t->loss_kind);
    const bool fits = kind == MW_TARGET_CLASS ? is_class : kind == MW_TARGET_LABELS ? is_label : !is_class;
    if (!fits && is_loss_said(t))
        return training_fail(t, MW_ERROR_ARGUMENT, "the loss is %s, and the model was trained for %s",
                             training_losses[t->loss_kind], targets[kind]);
    t->loss_kind = fits ? t->loss_kind : usual[kind];
    return true;
}

static bool open_data(training *t)
{
    mw_port input;
    if (t->over->text.path != NULL)
        return training_text_open(t);
    config *c = &t->c;
    const config_node *settings = field_object(c, c->root, "data");
    const char *said = field_text(c, settings, "data.path", NULL);
    data_request request = {.path = t->over->data != NULL ? t->over->data : said,
                            .files = t->over->files,
                            .file_count = t->over->file_count,
                            .folds = t->over->folds,
                            .fold = t->over->fold};
    t->loss_kind = choose_loss(t);
    const int64_t batch = field_integer(c, c->root, "batch", 64);
    t->batch = t->over->batch > 0 ? t->over->batch : batch;
    t->data_path = request.path;
    if (request.path == NULL)
        return training_fail(t, MW_ERROR_ARGUMENT, "where is the data? --data PATH, or \"data\": {\"path\": ..}");
    request.has_classes = recipe_has_classes(t->loss_kind);
    request.target = !is_loss_said(t) ? MW_TARGET_FOUND : request.has_classes ? MW_TARGET_CLASS : MW_TARGET_VALUE;
    request.as_it_is = recipe_has_labels(t->loss_kind) || t->loss_kind == RECIPE_POISSON;
    request.has_network = config_get(c->root, "network") != NULL;
    request.integers = begins_with_embedding(config_get(c->root, "network"));
    tool_waiting_read(t->call, request.path);
    const bool opened = t->err->status == MW_OK && open_model(t, &request, &input) &&
                        data_open(&t->data, c, settings, &request, t->err);
    tool_waiting_end();
    data_request_free(&request);
    meant_add_file(t->err, t->data_path);
    if (t->model_path != NULL)
        meant_add_file(t->err, t->model_path);
    if (opened && t->data.encoder != NULL)
        return take_target(t);
    return opened;
}

/* ---- what is said ---- */

static bool is_measured(const mw_evaluation *found, const char *name)
{
    const char *also = strcmp(name, "mae") == 0 ? "mean_absolute_error" : name;
    for (size_t i = 0; i < found->metric_count; i++)
        if (strcmp(found->metrics[i].name, name) == 0 || strcmp(found->metrics[i].name, also) == 0)
            return true;
    return false;
}

/* Loss and metrics of the trainer, then the figures it has not. */
static void say_figures(const training *t, const mw_evaluation *found, const mw_scores *scores)
{
    const bool is_json = t->call->json != NULL;
    for (size_t i = 0; i < found->metric_count + mw_scores_count(scores); i++) {
        const bool own = i < found->metric_count;
        const mw_score score = own ? (mw_score){.name = found->metrics[i].name, .value = found->metrics[i].value}
                                   : mw_scores_get(scores, i - found->metric_count);
        if (!own && is_measured(found, score.name))
            continue;
        if (is_json)
            mw__json_add_number(t->call->json, score.name, score.value);
        else if (isnan(score.value))
            tool_print(", %s undefined", score.name);
        else
            tool_print(", %s %.5g", score.name, score.value);
    }
    if (is_json)
        mw__json_add_integer(t->call->json, "examples", found->examples);
    else
        tool_print(" of %lld examples\n", (long long)found->examples);
}

static void say_measured(training *t, const char *set, const mw_dataset *data)
{
    mw_evaluation found;
    if (data == NULL || mw_trainer_evaluate(t->trainer, data, NULL, &found, t->err) != MW_OK)
        return;
    const bool finds = t->over->measured == NULL || t->over->wants_scores;
    mw_scores *scores = finds ? training_scores_find(t, data) : NULL;
    if (t->over->measured != NULL) {
        t->over->measured(t->over->measured_user, set, &found, scores);
        training_scores_keep(t, set, scores);
        mw_scores_destroy(scores);
        return;
    }
    if (t->call->json != NULL) {
        mw__json_open(t->call->json, set, '{');
        mw__json_add_number(t->call->json, "loss", found.loss);
    } else {
        tool_print("%s: loss %.5g", set, found.loss);
    }
    say_figures(t, &found, scores);
    if (t->call->json != NULL)
        mw__json_close(t->call->json, '}');
    training_scores_keep(t, set, scores);
    mw_scores_destroy(scores);
}

/* What a limit of memory came to. */
static void say_memory(const training *t)
{
    const mw_trainer_recomputation r = mw_trainer_get_info(t->trainer).recomputation;
    char now[32], before[32];
    if (t->over->memory_limit <= 0.0 || t->call->quiet)
        return;
    tool_print("a step takes %s; %zu parts are computed again", tool_bytes(now, sizeof now, (double)r.bytes),
               r.stretches);
    if (r.stretches > 0 && r.flops_before > 0.0)
        tool_print(", which takes %.2f times the operations (%s without)", r.flops / r.flops_before,
                   tool_bytes(before, sizeof before, (double)r.bytes_before));
    tool_puts("\n");
}

/* What became of the fields of a table. */
static void say_table(training *t)
{
    const bool is_json = t->call->json != NULL;
    char *said = t->data.encoder == NULL ? NULL
                 : is_json               ? mw_table_encoder_write(t->data.encoder, t->err)
                                         : mw_table_encoder_print(t->data.encoder, t->err);
    if (said != NULL && is_json)
        mw__json_add_raw(t->call->json, "table", said);
    else if (said != NULL && !t->call->quiet)
        tool_puts(said);
    mw_string_free(said);
}

/* How sounds are read. */
static void say_sounds(training *t)
{
    const mw_sound_options *o = &t->data.sound;
    char *said = t->data.is_sound ? sounds_text(o) : NULL;
    if (said != NULL && t->call->json != NULL)
        mw__json_add_raw(t->call->json, "sound", said);
    else if (said != NULL && !t->call->quiet)
        tool_print("sounds at %lld samples a second, %.4g s of each from its %s%s\n", (long long)o->rate,
                   (double)o->length / (double)o->rate, o->place == MW_SOUND_MIDDLE ? "middle" : "begin",
                   o->channels == 1 ? ", mixed to one channel" : "");
    free(said);
}

static void say_what_is_there(training *t)
{
    mw_summary *summary = mw_summary_create(t->graph, t->err);
    const mw_summary_totals totals = mw_summary_get_totals(summary);
    mw_summary_destroy(summary);
    if (t->call->json != NULL) {
        mw__json_add_integer(t->call->json, "examples", mw_dataset_examples(t->data.training));
        mw__json_add_integer(t->call->json, "classes", t->data.classes);
        mw__json_add_integer(t->call->json, "parameters", totals.parameters);
        return;
    }
    tool_print("%lld examples, %lld for validation", (long long)mw_dataset_examples(t->data.training),
               (long long)mw_dataset_examples(t->data.validation));
    if (t->data.classes > 0)
        tool_print(", %lld classes", (long long)t->data.classes);
    tool_print("; %lld parameters; %s\n", (long long)totals.parameters,
               mw_program_get_info(mw_trainer_program(t->trainer)).where);
    say_memory(t);
}

/* What does not train, or not as it should, before a step is made. */
static void say_warnings(const training *t)
{
    enum { SAID_MAX = 32 };
    mw_warning warning;
    const size_t count = mw_trainer_get_info(t->trainer).warning_count;
    for (size_t i = 0; i < count && i < SAID_MAX && mw_trainer_warning_at(t->trainer, i, &warning); i++)
        tool_complain("%s", warning.message);
    if (count > SAID_MAX)
        tool_complain("and %zu more warnings like these", count - SAID_MAX);
    if (t->device == MW_DEVICE_ANE && training_largest_target(t) > 65504)
        tool_complain(
            "values of the target are up to about %.4g, and fp16 ends at 65504: the model's result is infinite "
            "there on the ANE; write the target in larger units, or train on the CPU",
            training_largest_target(t));
}

/* ---- the whole ---- */

static bool prepare_fit(training *t, mw_fit_options *fit)
{
    if (!training_place_files(t) || !open_data(t) || !training_build(t) || !training_make_trainer(t))
        return false;
    *fit = training_make_fit(t);
    training_scores_choose(t);
    config_finish(&t->c, &known_keys);
    if (t->err->status != MW_OK)
        return false;
    t->c.refused = !training_check_checkpoint(t);
    return !t->c.refused && t->err->status == MW_OK && training_check_outputs(t);
}

/* What follows a step was accepted, whatever the step was. */
static bool was_accepted(mw_status status) { return status == MW_ERROR_NUMERIC || status == MW_ERROR_STOPPED; }

static int fit_and_measure(training *t, const mw_fit_options *fit)
{
    say_table(t);
    say_sounds(t);
    say_what_is_there(t);
    say_warnings(t);
    mw_trainer_fit(t->trainer, fit, t->err);
    dashboard_end(&t->board);
    if (was_accepted(t->err->status))
        training_keep_settings(t);
    if (t->err->status != MW_OK)
        return mw_fit_signal() != 0 ? 128 + mw_fit_signal() : TOOL_FAILED;
    if (t->data.validation != NULL && !t->data.validation_is_test)
        say_measured(t, "validation", t->data.validation);
    say_measured(t, "test", t->data.test);
    training_write_outputs(t);
    return t->err->status == MW_OK ? TOOL_DONE : TOOL_FAILED;
}

static int run_training(training *t)
{
    mw_fit_options fit;
    if (!prepare_fit(t, &fit))
        return t->c.refused ? TOOL_USAGE : TOOL_FAILED;
    if (t->over->find_rate)
        return training_find_rate(t, &fit);
    if (t->run != NULL && mkdir(t->run, 0777) != 0 && errno != EEXIST) {
        training_fail(t, MW_ERROR_FILE, "the folder %.200s cannot be made: %s", t->run, strerror(errno));
        return TOOL_FAILED;
    }
    return fit_and_measure(t, &fit);
}

/* Shows the batch with which mw train begins. */
static bool look_at_step(training *t, const mw_fit_options *fit)
{
    mw_loader_options options = mw_loader_defaults(t->data.training, t->batch);
    options.seed = fit->data.seed;
    mw_loader *loader = mw_loader_create(&options, t->err);
    const mw_batch *batch = loader != NULL ? mw_loader_next(loader, t->err) : NULL;
    const bool good = batch != NULL && t->over->look(t->over->look_user, t->trainer, batch, t->err);
    mw_loader_destroy(loader);
    return good;
}

static int build_alone(training *t)
{
    mw_fit_options fit = {0};
    bool built = training_place_files(t) && open_data(t) && training_build(t);
    if (built && t->over->built != NULL)
        t->over->built(t->over->compile->passes.report_user, t->graph);
    built = built && training_make_trainer(t);
    if (built)
        fit = training_make_fit(t); /* asks for the other fields */
    if (built)
        training_scores_choose(t);
    if (built)
        config_finish(&t->c, &known_keys);
    if (built && t->over->look != NULL && t->err->status == MW_OK && !t->c.refused)
        built = look_at_step(t, &fit);
    return t->c.refused ? TOOL_USAGE : t->err->status == MW_OK && built ? TOOL_DONE : TOOL_FAILED;
}

static void close_training(training *t)
{
    mw_trainer_destroy(t->trainer);
    mw_graph_destroy(t->graph);
    for (size_t i = 0; i < t->variant_count; i++)
        mw_graph_destroy(mw_tensor_graph(t->variants[i]));
    mw_graph_destroy(t->source);
    mw_model_destroy(t->model);
    class_list_free(&t->classes);
    free(t->target);
    free(t->tune.listed);
    free(t->tune.factors);
    for (size_t i = 0; i < t->tune.factor_count; i++)
        free(t->tune.factor_names[i]);
    free(t->tune.factor_names);
    data_close(&t->data);
    training_text_close(t);
    free(t);
}

/* A key that nobody knows is said before a file that it would have named is missed. */
static bool check_keys(training *t)
{
    config_check(&t->c, &known_keys);
    return t->err->status == MW_OK;
}

static int with_settings(const char *path, const recipe_overrides *overrides, int (*run)(training *t),
                         const tool_call *call)
{
    static config_node nothing = {.kind = CONFIG_OBJECT};
    static char no_text[] = "";
    training *t = calloc(1, sizeof *t);
    if (t == NULL) {
        tool_complain("there is no memory");
        return TOOL_FAILED;
    }
    *t = (training){.call = call, .over = overrides, .err = call->err};
    bool good = true;
    if (path != NULL)
        good = config_open(&t->c, path, call->err) && check_keys(t);
    else
        t->c = (config){.path = "options", .text = no_text, .root = &nothing, .err = call->err};
    const int code = good ? run(t) : t->c.refused ? TOOL_USAGE : TOOL_FAILED;
    if (path != NULL)
        config_close(&t->c);
    close_training(t);
    return code;
}

int recipe_train(const char *path, const recipe_overrides *overrides, const tool_call *call)
{
    return with_settings(path, overrides, run_training, call);
}

int recipe_build(const char *path, const recipe_overrides *overrides, const tool_call *call)
{
    return with_settings(path, overrides, build_alone, call);
}
