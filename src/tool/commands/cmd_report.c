/* mw report: a run as one page. */
#include "tool/classes.h"
#include "tool/commands/commands.h"
#include "tool/model_text.h"
#include "tool/predict/kept.h"
#include "tool/train/data.h"

#include <millwright/report.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200 };

static struct {
    const char *out, *data, *model, *title;
    bool own_data;
    long long samples;
} o = {.samples = 8};

const tool_option tool_report_options[] = {
    {"out", 'o', TOOL_TEXT, &o.out, "the page (RUN/report.html)", .argument = "FILE"},
    {"data", '\0', TOOL_TEXT, &o.data, "examples that are predicted: all of the path, or its own test set",
     .argument = "PATH"},
    {"own-data", '\0', TOOL_FLAG, &o.own_data,
     "the data that the run names, wherever that is: its test set, or what was kept out for validation",
     .argument = NULL},
    {"model", '\0', TOOL_TEXT, &o.model, "who predicts (RUN/model)", .argument = "FILE", .needs = "data|own-data"},
    {"samples", '\0', TOOL_INTEGER, &o.samples, "examples seen right, and wrong (8)", .argument = "N", .high = 64,
     .needs = "data|own-data"},
    {"title", '\0', TOOL_WORDS, &o.title, "of the page", .argument = "TEXT"},
    TOOL_OPTIONS_END,
};

/* What a report is made of. */
typedef struct reporting {
    const tool_call *call;
    const char *run;
    char metrics[PATH_BYTES], model_path[PATH_BYTES], page[PATH_BYTES];
    config about, recipe;
    bool has_about, has_recipe;
    mw_model *model;
    data_parts data;
    class_list classes; /* by the index of the score */
    const char *label;  /* the column of labels */
    bool has_classes;   /* else its numbers are charts.. */
    answer answer;
    kept_numbers kept;
    const char *set; /* which part of the data is predicted; NULL = none */
} reporting;

static bool is_there(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0;
}

/* A run is a folder that mw train wrote, or a metrics file alone. */
static void find_files(reporting *r)
{
    struct stat entry;
    const bool folder = stat(r->run, &entry) == 0 && S_ISDIR(entry.st_mode);
    snprintf(r->metrics, sizeof r->metrics, folder ? "%s/metrics.jsonl" : "%s", r->run);
    char inside[PATH_BYTES];
    const char *model = o.model != NULL ? tool_model_path(o.model, inside, sizeof inside) : r->run;
    snprintf(r->model_path, sizeof r->model_path, o.model != NULL ? "%s" : "%s/model", model);
    snprintf(r->page, sizeof r->page,
             o.out != NULL ? "%s"
             : folder      ? "%s/report.html"
                           : "%s.html",
             o.out != NULL ? o.out : r->run);
}

static void read_settings(reporting *r)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/about.json", r->run);
    if (is_there(path))
        r->has_about = config_open(&r->about, path, r->call->err);
    snprintf(path, sizeof path, "%s/recipe.json", r->run);
    if (is_there(path) && r->call->err->status == MW_OK)
        r->has_recipe = config_open(&r->recipe, path, r->call->err);
}

/* The first input of the model, which says how pictures are read. */
static const mw_port *find_input(const reporting *r, mw_port *out)
{
    for (size_t i = 0; mw_model_port_at(r->model, i, out); i++) {
        if (!out->is_output)
            return out;
    }
    return NULL;
}

/* Scores of an example: the last axis of the first result that has rows. */
static int64_t score_count(const reporting *r)
{
    mw_port port;
    for (size_t i = 0; mw_model_port_at(r->model, i, &port); i++) {
        if (port.is_output && (port.dtype == MW_F32 || port.dtype == MW_F16) && port.shape.rank >= 2)
            return port.shape.dim[port.shape.rank - 1];
    }
    return 0;
}

/* The classes of the data in the order of the model, by name. */
static bool pair_classes(reporting *r, const char *data_path)
{
    class_list own = {0}, found = {0};
    mw_error *err = r->call->err;
    bool *labels = NULL;
    class_pairing pairing = {.model = &own,
                             .data = &found,
                             .scores = score_count(r),
                             .model_path = r->model_path,
                             .data_path = data_path,
                             .label_count = r->data.classes};
    if (class_list_of_model(&own, &pairing, r->model, r->run, err) &&
        class_list_of_dataset(&found, r->data.plain, "y", err))
        pairing.has_label = labels = data_find_labels(&r->data, err);
    int64_t *map = labels != NULL && err->status == MW_OK ? class_pair(&pairing, err) : NULL;
    const bool good = map != NULL;
    data_map_classes(&r->data, map, pairing.scores);
    r->classes = pairing.by_position ? found : own;
    class_list_free(pairing.by_position ? &own : &found);
    free(labels);
    return good;
}

static const char *find_loss(reporting *r)
{
    return r->has_about ? config_string(&r->about, r->about.root, "loss", "") : "cross_entropy";
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* Why nothing can be predicted; NULL if it can. */
static const char *find_obstacle(reporting *r)
{
    static char text[PATH_BYTES + 40];
    static const char *const of_numbers[] = {"mse", "l1", "huber", "quantile", "poisson", "binary_cross_entropy", NULL};
    static const char *const of_classes[] = {"cross_entropy", "focal", NULL};
    const char *loss = find_loss(r);
    r->has_classes = is_one_of(loss, of_classes);
    if (!r->has_classes && !is_one_of(loss, of_numbers)) {
        snprintf(text, sizeof text, "on a run whose loss is %.60s: no chart shows what it predicts", loss);
        return text;
    }
    snprintf(text, sizeof text, "without a model: %s is not there", r->model_path);
    return is_there(r->model_path) ? NULL : text;
}

/* The parts of a table are those of the same target, taken as the training took it. Labels whose loss was said are not
 * scaled, and others only by name: the encoder in the model tells which. */
static void follow_target(reporting *r, data_request *request)
{
    mw_error none = {0};
    mw_table_encoder *encoder = request->table != NULL ? mw_table_encoder_read(request->table, &none) : NULL;
    if (encoder == NULL)
        return;
    const bool is_label = strcmp(find_loss(r), "binary_cross_entropy") == 0;
    request->target = mw_table_encoder_target(encoder).kind;
    request->as_it_is = request->target == MW_TARGET_LABELS
                            ? strstr(request->table, "\"kind\":\"labels\",\"scale\":\"none\"") != NULL
                            : is_label || strcmp(find_loss(r), "poisson") == 0;
    mw_table_encoder_destroy(encoder);
}

static bool open_data(reporting *r, const char *path)
{
    mw_port input;
    data_request request = {.path = path,
                            .has_classes = r->has_classes,
                            .target = MW_TARGET_FOUND,
                            .is_for_model = true,
                            .own = o.data == NULL,
                            .whole = o.data != NULL};
    const config_node *settings = r->has_recipe ? config_object(&r->recipe, r->recipe.root, "data") : NULL;
    config *c = r->has_recipe ? &r->recipe : &r->about;
    if (!data_request_model(&request, r->model, r->model_path, r->run, r->call->err))
        return false;
    follow_target(r, &request);
    request.input = find_input(r, &input);
    request.integers = request.input != NULL && input.dtype == MW_I32;
    const bool opened = data_open(&r->data, c, settings, &request, r->call->err);
    data_request_free(&request);
    if (request.input == NULL || !opened)
        return false;
    const bool whole = r->data.test == NULL && (o.data != NULL || r->data.validation == NULL);
    r->set = r->data.test != NULL ? "the test set" : whole ? "all examples" : "the validation share";
    r->label = strcmp(input.name, "y") == 0 ? "labels" : "y";
    if (whole) { /* what is predicted is one of the parts that are renamed */
        mw_dataset_destroy(r->data.validation);
        r->data.validation = mw_dataset_prefetch(r->data.plain, 2, r->call->err);
    }
    return (!r->has_classes || pair_classes(r, path)) && data_rename(&r->data, input.name, r->label, r->call->err);
}

static const mw_dataset *predicted_set(const reporting *r)
{
    return r->data.test != NULL ? r->data.test : r->data.validation;
}

/* Values or labels of the whole set, for their charts. */
static bool keep_numbers(reporting *r)
{
    const answer_settings settings = {.result = NULL};
    if (!answer_find(&r->answer, &settings, r->model, r->model_path, r->call->err))
        return false;
    const kept_set set = {.model = r->model,
                          .answer = &r->answer,
                          .dataset = predicted_set(r),
                          .label = r->label,
                          .encoder = r->data.encoder};
    kept_begin(&r->kept, &r->answer);
    return kept_predict(&r->kept, &set, r->call->err);
}

/* Model and data, where they are asked for; a report without them has no table of classes. A run that came from
 * elsewhere names paths, which are not opened unless somebody says so. */
static bool open_predictions(reporting *r)
{
    mw_model_options options = mw_model_defaults();
    const char *said = r->has_about ? config_string(&r->about, r->about.root, "data", NULL) : NULL;
    const char *path = o.data != NULL ? o.data : o.own_data ? said : NULL;
    if (path == NULL && said != NULL && find_obstacle(r) == NULL && !r->call->quiet)
        tool_complain("no examples are predicted; --own-data takes %.200s, which the run names, --data PATH others",
                      said);
    if (path == NULL)
        return false;
    options.batch = 64;
    r->model = mw_model_open(r->model_path, &options, r->call->err);
    return r->model != NULL && open_data(r, path) && (r->has_classes || keep_numbers(r));
}

static mw_status write_page(reporting *r, bool predicts)
{
    mw_port port;
    mw_report_options options = mw_report_defaults();
    options.title = o.title != NULL ? o.title : r->run;
    options.metrics = is_there(r->metrics) ? r->metrics : NULL;
    options.samples = (int)o.samples;
    options.command = r->has_about ? config_string(&r->about, r->about.root, "command", NULL) : NULL;
    if (predicts && !r->has_classes) {
        options.graph = mw_model_get_info(r->model).graph;
        if (!kept_say(&r->kept, &r->answer, &options, r->call->err))
            return r->call->err->status;
    } else if (predicts) {
        options.model = r->model;
        options.dataset = predicted_set(r);
        options.label = r->label;
        options.class_names = (const char *const *)r->classes.names;
        options.class_count = r->classes.count;
        options.picture = mw_model_port_at(r->model, 0, &port) ? port.name : "x";
    }
    return mw_report_write(&options, r->page, r->call->err);
}

static void say_page(const reporting *r)
{
    const mw_dataset *set = predicted_set(r);
    if (r->call->json != NULL) {
        mw__json_add_string(r->call->json, "report", r->page);
        mw__json_add_string(r->call->json, "set", r->set);
        mw__json_add_integer(r->call->json, "examples", mw_dataset_examples(set));
    } else if (r->set != NULL) {
        tool_print("%s  %s, %lld examples\n", r->page, r->set, (long long)mw_dataset_examples(set));
    } else {
        tool_print("%s\n", r->page);
    }
}

/* Options that ask for predictions where there are none. */
static bool check_asked(reporting *r)
{
    const char *why = find_obstacle(r);
    if (o.data != NULL && o.own_data)
        return !TOOL_REFUSE("with --data", "own-data");
    if (o.own_data && (!r->has_about || config_string(&r->about, r->about.root, "data", NULL) == NULL))
        return !TOOL_REFUSE("here: the run does not name its data", "own-data");
    if (why == NULL && !r->has_classes)
        return !TOOL_REFUSE("on values and labels: their examples are points of a chart", "samples");
    return why == NULL || !TOOL_REFUSE(why, "data", "own-data");
}

static int report(reporting *r)
{
    find_files(r);
    read_settings(r);
    if (!is_there(r->metrics) && !is_there(r->model_path)) {
        tool_complain("%.300s is no run: there is neither %.300s nor a model", r->run, r->metrics);
        return TOOL_FAILED;
    }
    if (r->call->err->status == MW_OK && !check_asked(r))
        return TOOL_USAGE;
    const bool predicts = r->call->err->status == MW_OK && open_predictions(r);
    if (r->call->err->status != MW_OK || write_page(r, predicts) != MW_OK)
        return TOOL_FAILED;
    say_page(r);
    return TOOL_DONE;
}

int tool_report(const tool_call *call)
{
    reporting *r = calloc(1, sizeof *r);
    if (r == NULL) {
        tool_complain("there is no memory");
        return TOOL_FAILED;
    }
    r->call = call;
    r->run = call->arguments[0];
    const int code = report(r);
    class_list_free(&r->classes);
    kept_free(&r->kept);
    answer_free(&r->answer);
    data_close(&r->data);
    mw_model_destroy(r->model);
    if (r->about.path != NULL)
        config_close(&r->about);
    if (r->recipe.path != NULL)
        config_close(&r->recipe);
    free(r);
    return code;
}
