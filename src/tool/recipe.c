/* A training from settings: data, network, trainer, loop, what is written at the end. */
#include "tool/recipe.h"

#include "base/file.h"

#include "tool/dashboard.h"
#include "tool/network.h"

#include <errno.h>
#include <math.h>
#include <millwright/summary.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200 };

typedef struct training {
    const tool_call *call;
    const recipe_overrides *over;
    config c;
    mw_error *err;
    data_parts data;
    recipe_loss loss_kind;
    int64_t batch;
    mw_model *model;          /* whose network is trained, or NULL */
    mw_graph *source, *graph; /* of the model, in its own batch; what is trained */
    mw_tensor *x, *y, *out, *loss, *metric;
    bool probabilities; /* out is a softmax */
    bool has_head;      /* layers behind a model */
    mw_trainer *trainer;
    char checkpoint[PATH_BYTES], metrics[PATH_BYTES], refused[PATH_BYTES];
    const char *run, *output, *data_path;
} training;

static bool fail(training *t, mw_status status, const char *format, const char *what)
{
    if (t->err->status == MW_OK) {
        t->err->status = status;
        snprintf(t->err->message, sizeof t->err->message, format, what);
    }
    return false;
}

static int64_t pick(long long over, int64_t otherwise) { return over > 0 ? over : otherwise; }

/* ---- data ---- */

static const char *const loss_names[] = {"cross_entropy", "mse", "l1", "huber", "binary_cross_entropy", NULL};

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
    const char *said = config_string(&t->c, t->c.root, "model", NULL);
    const char *path = t->over->model != NULL ? t->over->model : said;
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    if (path == NULL)
        return true;
    t->model = mw_model_load(path, &options, t->err);
    t->source = t->model != NULL ? mw_graph_function(mw_model_graph(t->model), NULL, t->err) : NULL;
    const mw_tensor *input = t->source != NULL ? mw_graph_input_at(t->source, 0) : NULL;
    if (input == NULL)
        return fail(t, MW_ERROR_FORMAT, "%.200s has no input", path);
    *out_input =
        (mw_port){.name = mw_tensor_name(input), .dtype = mw_tensor_dtype(input), .shape = mw_tensor_shape(input)};
    request->input = out_input;
    request->is_for_model = true;
    request->integers = out_input->dtype == MW_I32 || out_input->dtype == MW_I16 || out_input->dtype == MW_U16;
    return data_request_offsets(request, mw_model_description(t->model), t->err);
}

static bool open_data(training *t)
{
    mw_port input;
    const config_node *root = t->c.root, *settings = config_object(&t->c, root, "data");
    const char *said = config_string(&t->c, settings, "path", NULL);
    data_request request = {.path = t->over->data != NULL ? t->over->data : said};
    t->loss_kind = (recipe_loss)config_choice(&t->c, root, "loss", loss_names, RECIPE_CROSS_ENTROPY);
    for (int i = 0; t->over->loss != NULL && loss_names[i] != NULL; i++) {
        if (strcmp(t->over->loss, loss_names[i]) == 0)
            t->loss_kind = (recipe_loss)i;
    }
    t->batch = pick(t->over->batch, config_integer(&t->c, root, "batch", 64, 1, 1 << 20));
    if (request.path == NULL)
        return fail(t, MW_ERROR_ARGUMENT, "where is the data? --data PATH%s, or \"data\": {\"path\": ..}", "");
    t->data_path = request.path;
    request.has_classes = t->loss_kind == RECIPE_CROSS_ENTROPY;
    request.integers = begins_with_embedding(config_get(root, "network"));
    const bool opened = t->err->status == MW_OK && open_model(t, &request, &input) &&
                        data_open(&t->data, &t->c, settings, &request, t->err);
    data_request_free(&request);
    return opened;
}

/* A batch is never larger than what there is to learn from. */
static void fit_batch(training *t)
{
    const int64_t examples = mw_dataset_examples(t->data.training);
    t->batch = t->batch > examples ? examples : t->batch;
}

/* ---- the network ---- */

static mw_dtype input_dtype(const training *t)
{
    const mw_dtype dtype = t->data.x->dtype;
    return dtype == MW_I32 || dtype == MW_I64 || dtype == MW_I16 ? MW_I32 : MW_F32;
}

/* [batch, ..]: pictures get an axis for their channel. */
static mw_shape input_shape(const training *t)
{
    const mw_shape one = t->data.x->shape;
    mw_shape shape = {.rank = 1, .dim = {t->batch}};
    const bool is_number = one.rank == 0 && input_dtype(t) == MW_F32; /* a table of one field; an index stays [batch] */
    if (is_number || (t->data.is_image && one.rank == 2))
        shape.dim[shape.rank++] = 1;
    for (int i = 0; i < one.rank && shape.rank < MW_RANK_MAX; i++)
        shape.dim[shape.rank++] = one.dim[i];
    return shape;
}

/* (x - mean) / deviation of each input, as constants: whoever runs the model feeds what the data has. */
static mw_tensor *normalise(training *t, mw_tensor *x)
{
    data_moments moments = {0};
    const bool good = data_moments_take(&moments, t->data.plain, t->err);
    const size_t fields = moments.count;
    float *numbers = good ? calloc(2 * fields + 1, sizeof *numbers) : NULL;
    mw_shape shape = mw_tensor_shape(x);
    if (shape.rank > 0)
        shape.dim[0] = 1;
    for (size_t i = 0; numbers != NULL && i < fields; i++) {
        numbers[i] = (float)data_moments_mean(&moments, i);
        numbers[fields + i] = data_moments_factor(&moments, i);
    }
    if (numbers != NULL)
        x = mw_mul(mw_sub(x, mw_constant(t->graph, MW_F32, shape, numbers)),
                   mw_constant(t->graph, MW_F32, shape, numbers + fields));
    free(numbers);
    data_moments_free(&moments);
    return x;
}

/* What the model will call its result: "scores", or the next that is free. */
static mw_tensor *name_result(const training *t, mw_tensor *out)
{
    char name[32] = "scores";
    for (int i = 2; i < 1000 && mw_graph_find(t->graph, name) != NULL; i++)
        snprintf(name, sizeof name, "scores_%d", i);
    return out != NULL ? mw_name(out, name) : NULL;
}

static bool build_network(training *t)
{
    const config_node *layers = config_get(t->c.root, "network");
    t->graph = mw_graph_create(NULL);
    t->x = mw_input(t->graph, "x", input_dtype(t), input_shape(t));
    mw_tensor *h = t->data.normalizes ? normalise(t, t->x) : t->x;
    if (layers == NULL)
        return fail(t, MW_ERROR_FORMAT, "%s has neither \"network\" nor \"model\"", t->c.path);
    t->out = name_result(t, network_build(&t->c, layers, h, t->data.classes));
    return t->out != NULL;
}

/* ---- a model that is there ---- */

static void say_choice(void *user, const mw_tune_choice *choice)
{
    const training *t = user;
    if (t->call->quiet || t->call->json != NULL)
        return;
    tool_puts(choice->outcome == MW_TUNE_LEFT ? "  left     " : "  trained  ");
    tool_show(choice->weight->name);
    tool_puts("\n");
}

static mw_graph *choose_weights(training *t, const mw_input_shape *shape)
{
    static const char *const all[] = {"*"};
    const bool some = t->over->layer_count > 0;
    const char *const *patterns = some ? t->over->layers : all;
    const size_t count = some ? t->over->layer_count : 1;
    if (t->over->lora > 0) {
        mw_lora_options options = mw_lora_defaults(patterns, count);
        options.rank = (int)t->over->lora;
        options.skip_fixed = true;
        options.dtype = MW_F32;
        options.shapes = shape;
        options.shape_count = 1;
        options.report = say_choice;
        options.report_user = t;
        return mw_graph_lora(t->source, &options, t->err);
    }
    mw_tune_options options = mw_tune_defaults(patterns, count);
    options.skip_fixed = true;
    options.dtype = MW_F32;
    options.shapes = shape;
    options.shape_count = 1;
    options.report = say_choice;
    options.report_user = t;
    return mw_graph_trainable(t->source, &options, t->err);
}

/* Its one input in the batch of this training. */
static bool shape_for_batch(training *t, const mw_tensor *input, mw_input_shape *out)
{
    mw_shape shape = mw_tensor_shape(input);
    *out = (mw_input_shape){mw_tensor_name(input), shape};
    if (shape.rank == 0)
        return fail(t, MW_ERROR_SHAPE, "the input \"%.100s\" of the model has no axis for examples", out->input);
    shape.dim[0] = t->batch;
    for (int i = 1; i < shape.rank; i++) /* `?`: as the data has it */
        shape.dim[i] = shape.dim[i] >= 0 ? shape.dim[i] : input_shape(t).dim[i];
    out->shape = shape;
    return true;
}

/* Elements in another order would pass as what the input takes. */
static bool check_pictures(training *t, mw_shape input)
{
    char numbers[300], given[128], taken[128];
    const mw_shape shape = input_shape(t);
    bool same = !t->data.is_image || input.rank != shape.rank;
    for (int i = 1; !same && i < shape.rank && shape.dim[i] == input.dim[i]; i++)
        same = i + 1 == shape.rank;
    if (same)
        return true;
    snprintf(numbers, sizeof numbers, "are %s in a batch, and the model's input is %s",
             tool_shape(given, sizeof given, shape), tool_shape(taken, sizeof taken, input));
    return fail(t, MW_ERROR_SHAPE, "the pictures %s: give them the size and channels that it takes", numbers);
}

static bool ends_in_softmax(const mw_graph *graph)
{
    mw_error err = {0};
    mw_summary *summary = mw_summary_create(graph, &err);
    const size_t count = mw_summary_count(summary);
    const bool softmax = count > 0 && strcmp(mw_summary_at(summary, count - 1)->kind, "softmax") == 0;
    mw_summary_destroy(summary);
    return softmax;
}

static bool take_model(training *t, const char *path)
{
    mw_input_shape shape;
    const mw_tensor *input = mw_graph_input_at(t->source, 0);
    if (mw_graph_input_at(t->source, 1) != NULL)
        return fail(t, MW_ERROR_UNSUPPORTED,
                    "%.200s has several inputs; a program in C can train it (docs/finetuning.md)", path);
    if (!shape_for_batch(t, input, &shape) || !check_pictures(t, shape.shape) ||
        !data_rename(&t->data, shape.input, t->err))
        return false;
    t->graph = choose_weights(t, &shape);
    t->x = t->graph != NULL ? mw_graph_input_at(t->graph, 0) : NULL;
    t->out = t->graph != NULL ? mw_graph_output_at(t->graph, 0) : NULL;
    t->probabilities = t->graph != NULL && ends_in_softmax(t->source);
    const config_node *head = config_get(t->c.root, "network");
    if (t->out != NULL && (head != NULL || t->over->head)) {
        t->probabilities = false;
        t->has_head = true;
        t->out = head != NULL ? network_build(&t->c, head, t->out, t->data.classes)
                              : mw_dense(network_flat(t->out), t->data.classes, "head");
        t->out = name_result(t, t->out);
    }
    return t->out != NULL;
}

/* ---- the loss ---- */

static bool make_class_loss(training *t)
{
    char numbers[80];
    mw_tensor *scores = network_flat(t->out);
    const mw_shape shape = mw_tensor_shape(scores);
    if (shape.rank != 2 || shape.dim[1] < t->data.classes) {
        snprintf(numbers, sizeof numbers, "%lld numbers an example, and there are %lld classes",
                 (long long)(shape.rank == 2 ? shape.dim[1] : 1), (long long)t->data.classes);
        return fail(t, MW_ERROR_SHAPE,
                    "the network gives %s: end it with {\"dense\": \"classes\"} (mw finetune: --head)", numbers);
    }
    t->y = mw_input(t->graph, "y", MW_I32, MW_SHAPE(t->batch));
    if (mw_tensor_dtype(scores) == MW_F16)
        scores = mw_cast(scores, MW_F32);
    mw_tensor *sure = mw_scalar(t->graph, MW_F32, 1e-7);
    t->loss = t->probabilities ? mw_nll(mw_log(mw_maximum(scores, sure), 0.0f), t->y) : mw_cross_entropy(scores, t->y);
    t->metric = mw_accuracy(scores, t->y);
    return true;
}

static bool make_value_loss(training *t)
{
    mw_tensor *values = network_flat(t->out);
    if (mw_tensor_dtype(values) == MW_F16)
        values = mw_cast(values, MW_F32);
    t->y = mw_input(t->graph, "y", MW_F32, mw_tensor_shape(values));
    t->loss = t->loss_kind == RECIPE_L1      ? mw_l1(values, t->y)
              : t->loss_kind == RECIPE_HUBER ? mw_huber(values, t->y, 1.0f)
              : t->loss_kind == RECIPE_MSE   ? mw_mse(values, t->y)
                                             : mw_binary_cross_entropy(values, t->y, NULL);
    t->metric = t->loss_kind == RECIPE_MSE || t->loss_kind == RECIPE_HUBER
                    ? mw_name(mw_l1(values, t->y), "mean_absolute_error")
                    : NULL;
    return true;
}

/* ---- the trainer ---- */

static mw_optimizer make_optimizer(training *t)
{
    static const char *const names[] = {"adam", "adamw", "sgd", "rmsprop", "adagrad", "lion", NULL};
    const config_node *o = config_object(&t->c, t->c.root, "optimizer");
    const int kind = config_choice(&t->c, o, "name", names, 0);
    const double said = config_number(&t->c, o, "learning_rate",
                                      kind == 2   ? 0.01
                                      : kind == 5 ? 1e-4
                                                  : 1e-3,
                                      1e-12, 1e3);
    const float rate = (float)(t->over->learning_rate > 0 ? t->over->learning_rate : said);
    const float decay = (float)config_number(&t->c, o, "weight_decay", kind == 1 || kind == 5 ? 0.01 : 0, 0, 1e3);
    const float momentum = (float)config_number(&t->c, o, "momentum", 0, 0, 0.99999);
    mw_optimizer made = kind == 1   ? mw_adamw(rate, decay)
                        : kind == 2 ? mw_sgd_momentum(rate, momentum, config_bool(&t->c, o, "nesterov", false))
                        : kind == 3 ? mw_rmsprop(rate)
                        : kind == 4 ? mw_adagrad(rate)
                        : kind == 5 ? mw_lion(rate, decay)
                                    : mw_adam(rate);
    made.weight_decay = decay;
    made.beta1 = (float)config_number(&t->c, o, "beta1", (double)made.beta1, 0, 0.99999);
    made.beta2 = (float)config_number(&t->c, o, "beta2", (double)made.beta2, 0, 0.9999999);
    return made;
}

static mw_schedule make_schedule(training *t)
{
    static const char *const names[] = {"constant", "linear", "cosine", "one_cycle", "step", NULL};
    const config_node *s = config_object(&t->c, t->c.root, "schedule");
    const int kind = config_choice(&t->c, s, "name", names, s != NULL ? 0 : 2);
    const double end = config_number(&t->c, s, "end", 0, 0, 1);
    mw_schedule made = kind == 1   ? mw_schedule_linear(end)
                       : kind == 2 ? mw_schedule_cosine(end)
                       : kind == 3 ? mw_schedule_one_cycle(0.3, 25, 1e4)
                       : kind == 4 ? mw_schedule_step(config_integer(&t->c, s, "period", 1000, 1, INT32_MAX),
                                                      config_number(&t->c, s, "gamma", 0.1, 0, 1))
                                   : mw_schedule_constant();
    made.warmup_steps = config_integer(&t->c, s, "warmup_steps", 0, 0, INT32_MAX);
    return made;
}

static bool make_trainer(training *t)
{
    const config_node *root = t->c.root;
    mw_trainer_options options = mw_trainer_defaults(t->loss, make_optimizer(t));
    options.metric = t->metric;
    options.prediction = t->out;
    options.clip_norm = (float)config_number(&t->c, root, "clip_norm", 0, 0, 1e9);
    options.accumulate = (int)config_integer(&t->c, root, "accumulate", 1, 1, 1024);
    options.watch_gradient_norms = config_bool(&t->c, root, "gradient_norms", t->run != NULL);
    options.replay_folder = t->refused[0] != '\0' ? t->refused : NULL;
    options.average_decay = (float)config_number(&t->c, root, "average_decay", 0, 0, 0.9999999);
    options.compile.seed = (uint64_t)pick(t->over->seed, config_integer(&t->c, root, "seed", 1, 0, INT64_MAX / 2048));
    options.compile.threads = (int)pick(t->over->threads, config_integer(&t->c, root, "threads", 0, 0, 1024));
    const char *said = config_string(&t->c, root, "device", "auto");
    if (!tool_parse_device(t->over->device != NULL ? t->over->device : said, &options.compile.device))
        return fail(t, MW_ERROR_ARGUMENT, "the device is not known%s", "");
    t->trainer = t->err->status == MW_OK ? mw_trainer_create(&options, t->err) : NULL;
    return t->trainer != NULL;
}

/* ---- the run ---- */

static bool make_folder(training *t, const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    return fail(t, MW_ERROR_FILE, "the folder %.200s cannot be made", path);
}

/* Where things go: the run's folder has metrics and the checkpoint, unless they are placed elsewhere. */
static bool place_files(training *t)
{
    const config_node *root = t->c.root;
    const char *run = config_string(&t->c, root, "run", NULL), *output = config_string(&t->c, root, "output", NULL);
    const char *checkpoint = config_string(&t->c, root, "checkpoint", NULL);
    const char *metrics = config_string(&t->c, root, "metrics", NULL);
    t->run = t->over->run != NULL ? t->over->run : run;
    t->output = t->over->output != NULL ? t->over->output : output;
    if (t->run != NULL && !make_folder(t, t->run))
        return false;
    if (checkpoint != NULL || t->run != NULL)
        snprintf(t->checkpoint, sizeof t->checkpoint, "%s%s", checkpoint != NULL ? checkpoint : t->run,
                 checkpoint != NULL ? "" : "/checkpoint.safetensors");
    if (t->run != NULL)
        snprintf(t->refused, sizeof t->refused, "%s/refused", t->run);
    if (metrics != NULL || t->run != NULL)
        snprintf(t->metrics, sizeof t->metrics, "%s%s", metrics != NULL ? metrics : t->run,
                 metrics != NULL ? "" : "/metrics.jsonl");
    return true;
}

/* run/recipe.json: the settings; run/about.json: how it was called, for mw report. */
static void keep_settings(training *t)
{
    char path[PATH_BYTES];
    tool_json about;
    if (t->run == NULL)
        return;
    tool_json_init(&about);
    tool_json_open(&about, NULL, '{');
    tool_json_string(&about, "command", t->call->command);
    tool_json_string(&about, "data", t->data_path);
    tool_json_string(&about, "loss", loss_names[t->loss_kind]);
    if (t->data.offsets.values != NULL) {
        tool_json_open(&about, "offsets", '[');
        for (size_t i = 0; i < t->data.offsets.count; i++)
            tool_json_number(&about, NULL, t->data.offsets.values[i]);
        tool_json_close(&about, ']');
    }
    tool_json_close(&about, '}');
    snprintf(path, sizeof path, "%s/about.json", t->run);
    const char *text = tool_json_text(&about);
    if (text != NULL)
        mw__file_write(mw__allocator_or_default(NULL), path, text, strlen(text), false, t->err);
    tool_json_deinit(&about);
    snprintf(path, sizeof path, "%s/recipe.json", t->run);
    text = t->c.text[0] != '\0' ? t->c.text : "{}";
    mw__file_write(mw__allocator_or_default(NULL), path, text, strlen(text), false, t->err);
}

/* {"by": "loss", "patience": 3}: the best epoch is what is left. */
static void take_early_stopping(training *t, mw_fit_options *fit)
{
    const config_node *stop = config_object(&t->c, t->c.root, "early_stopping");
    const config_node *plateau = config_object(&t->c, t->c.root, "plateau");
    if (stop != NULL || plateau != NULL) {
        fit->best_by = config_string(&t->c, stop, "by", fit->best_by != NULL ? fit->best_by : "loss");
        fit->best_highest = strcmp(fit->best_by, "accuracy") == 0;
        fit->min_delta = config_number(&t->c, stop, "min_delta", 0, 0, 1e9);
    }
    fit->patience = config_integer(&t->c, stop, "patience", stop != NULL ? 3 : 0, 1, 100000);
    fit->restore_best = config_bool(&t->c, stop, "restore_best", stop != NULL);
    if (plateau != NULL) {
        fit->plateau_patience = config_integer(&t->c, plateau, "patience", 2, 1, 100000);
        fit->plateau_factor = config_number(&t->c, plateau, "factor", 0.1, 1e-9, 0.999999);
        fit->plateau_least = config_number(&t->c, plateau, "least", 0, 0, 1e9);
    }
}

static mw_fit_options make_fit(training *t, dashboard *board)
{
    const config_node *root = t->c.root;
    const int64_t epochs = pick(t->over->epochs, config_integer(&t->c, root, "epochs", 5, 1, 1000000));
    mw_fit_options fit = mw_fit_defaults(t->data.training, epochs);
    fit.validation = t->data.validation;
    fit.schedule = make_schedule(t);
    fit.seed = (uint64_t)pick(t->over->seed, config_integer(&t->c, root, "seed", 1, 0, INT64_MAX / 2048));
    fit.checkpoint = t->checkpoint[0] != '\0' ? t->checkpoint : NULL;
    fit.checkpoint_steps = config_integer(&t->c, root, "checkpoint_steps", 0, 0, INT32_MAX);
    fit.keep_last = (int)config_integer(&t->c, root, "keep", 0, 0, 1000);
    fit.best_by = config_string(&t->c, root, "best", NULL);
    fit.best_highest = fit.best_by != NULL && strcmp(fit.best_by, "accuracy") == 0;
    fit.metrics = t->metrics[0] != '\0' ? t->metrics : NULL;
    fit.metrics_steps = config_integer(&t->c, root, "metrics_steps", 0, 0, INT32_MAX);
    take_early_stopping(t, &fit);
    dashboard_attach(board, &fit, t->call);
    return fit;
}

/* ---- what is left ---- */

/* Names of the classes, a line each, as what the model says of itself under "classes": mw run shows them. */
static char *class_names(const training *t)
{
    size_t size = 1, used = 0;
    const size_t count = mw_dataset_class_count(t->data.plain, "y");
    for (size_t i = 0; i < count; i++)
        size += strlen(mw_dataset_class_name(t->data.plain, "y", i)) + 1;
    char *names = count > 0 ? malloc(size) : NULL;
    for (size_t i = 0; names != NULL && i < count; i++)
        used += (size_t)snprintf(names + used, size - used, "%s%s", i > 0 ? "\n" : "",
                                 mw_dataset_class_name(t->data.plain, "y", i));
    return names;
}

/* Trainers write MIL; other formats are made of it. What a model said of itself goes along. */
static void write_as_model(training *t, const mw_graph *source, const char *path)
{
    char folder[PATH_BYTES + 16];
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    if (!tool_make_mil(folder, sizeof folder, path, t->err))
        return;
    mw_trainer_write_tuned(t->trainer, source, folder, t->err);
    mw_model *read = mw_model_load(folder, &options, t->err);
    char *names = class_names(t), *offsets = data_offsets_text(&t->data.offsets);
    mw_text_pair pairs[2];
    mw_description own = mw_description_defaults();
    own.pairs = pairs;
    if (names != NULL)
        pairs[own.pair_count++] = (mw_text_pair){"classes", names};
    if (offsets != NULL)
        pairs[own.pair_count++] = (mw_text_pair){DATA_OFFSETS_KEY, offsets};
    options.description = source != NULL ? mw_model_description(t->model) : &own;
    mw_model *written = mw_model_create(mw_model_graph(read), &options, t->err);
    mw_model_write(written, path, t->err);
    mw_model_destroy(written);
    mw_model_destroy(read);
    free(names);
    free(offsets);
    tool_remove_mil(folder);
}

/* A model that was read keeps its own batch, unless there is a layer behind it now. */
static void write_output(training *t, const char *path)
{
    const mw_graph *source = t->has_head ? NULL : t->source;
    if (tool_ends_in(path, ".safetensors"))
        mw_trainer_save_weights(t->trainer, path, t->err);
    else if (tool_ends_in(path, ".mlpackage") || tool_ends_in(path, ".onnx") || tool_ends_in(path, ".espresso.net"))
        write_as_model(t, source, path);
    else
        mw_trainer_write_tuned(t->trainer, source, path, t->err);
}

/* The model of the run, for mw report and whoever goes on with it. */
static void write_run_model(training *t)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/model", t->run);
    if (t->err->status == MW_OK)
        write_output(t, path);
}

static void say_measured(training *t, const char *set, const mw_dataset *data)
{
    mw_evaluation found;
    if (data == NULL || mw_trainer_measure(t->trainer, data, &found, t->err) != MW_OK)
        return;
    if (t->call->json == NULL) {
        tool_print("%s: loss %.5g", set, found.loss);
        for (size_t i = 0; i < found.metric_count; i++)
            tool_print(", %s %.5g", found.metrics[i].name, found.metrics[i].value);
        tool_print(" of %lld examples\n", (long long)found.examples);
        return;
    }
    tool_json_open(t->call->json, set, '{');
    tool_json_number(t->call->json, "loss", found.loss);
    for (size_t i = 0; i < found.metric_count; i++)
        tool_json_number(t->call->json, found.metrics[i].name, found.metrics[i].value);
    tool_json_integer(t->call->json, "examples", found.examples);
    tool_json_close(t->call->json, '}');
}

static void say_what_is_there(training *t)
{
    mw_summary *summary = mw_summary_create(t->graph, t->err);
    const mw_summary_totals totals = mw_summary_total(summary);
    mw_summary_destroy(summary);
    if (t->call->json != NULL) {
        tool_json_integer(t->call->json, "examples", mw_dataset_examples(t->data.training));
        tool_json_integer(t->call->json, "classes", t->data.classes);
        tool_json_integer(t->call->json, "parameters", totals.parameters);
        return;
    }
    tool_print("%lld examples, %lld for validation", (long long)mw_dataset_examples(t->data.training),
               (long long)mw_dataset_examples(t->data.validation));
    if (t->data.classes > 0)
        tool_print(", %lld classes", (long long)t->data.classes);
    tool_print("; %lld parameters; %s\n", (long long)totals.parameters,
               mw_program_where(mw_trainer_program(t->trainer)));
}

/* ---- the whole ---- */

static bool build(training *t)
{
    const char *said = config_string(&t->c, t->c.root, "model", NULL);
    const char *model = t->over->model != NULL ? t->over->model : said;
    fit_batch(t);
    if (!(model != NULL ? take_model(t, model) : build_network(t)))
        return false;
    const bool made = t->loss_kind == RECIPE_CROSS_ENTROPY ? make_class_loss(t) : make_value_loss(t);
    return made && mw_graph_check(t->graph, t->err) == MW_OK && make_trainer(t);
}

static int run(training *t)
{
    dashboard board;
    if (!open_data(t) || !place_files(t) || !build(t))
        return TOOL_FAILED;
    const mw_fit_options fit = make_fit(t, &board);
    config_finish(&t->c);
    if (t->err->status != MW_OK)
        return TOOL_FAILED;
    keep_settings(t);
    say_what_is_there(t);
    mw_fit(t->trainer, &fit, t->err);
    dashboard_end(&board);
    if (t->err->status != MW_OK)
        return mw_fit_signal() != 0 ? 128 + mw_fit_signal() : TOOL_FAILED;
    if (t->data.validation != NULL && !t->data.validation_is_test)
        say_measured(t, "validation", t->data.validation);
    say_measured(t, "test", t->data.test);
    if (t->output != NULL)
        write_output(t, t->output);
    if (t->run != NULL)
        write_run_model(t);
    return t->err->status == MW_OK ? TOOL_DONE : TOOL_FAILED;
}

int recipe_train(const char *path, const recipe_overrides *overrides, const tool_call *call)
{
    static config_node nothing = {.kind = CONFIG_OBJECT};
    static char no_text[] = "";
    training *t = calloc(1, sizeof *t);
    if (t == NULL)
        return TOOL_FAILED;
    *t = (training){.call = call, .over = overrides, .err = call->err};
    bool good = true;
    if (path != NULL) {
        good = config_open(&t->c, path, call->err);
    } else {
        t->c = (config){.path = "options", .text = no_text, .root = &nothing, .err = call->err};
    }
    const int code = good ? run(t) : TOOL_FAILED;
    mw_trainer_destroy(t->trainer);
    mw_graph_destroy(t->graph);
    mw_graph_destroy(t->source);
    mw_model_destroy(t->model);
    data_close(&t->data);
    if (path != NULL)
        config_close(&t->c);
    free(t);
    return code;
}
