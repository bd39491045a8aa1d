/* mw package: a model as apps take it, with what it says of itself. */
#include "tool/commands/commands.h"
#include "tool/data_scale.h"
#include "tool/model_text.h"
#include "tool/predict/predicting.h"
#include "tool/source.h"
#include "tool/train/pictures.h"

#include "base/text/printable.h"
#include "base/text/string.h"

#include <millwright/app.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *author, *license, *about, *version;
    bool arrays;
} o;

const tool_option tool_package_options[] = {
    {"author", '\0', TOOL_WORDS, &o.author, "who made the model", .argument = "TEXT"},
    {"license", '\0', TOOL_WORDS, &o.license, "under which it may be used", .argument = "TEXT"},
    {"about", '\0', TOOL_WORDS, &o.about, "what it does, in a sentence", .argument = "TEXT"},
    {"version", '\0', TOOL_WORDS, &o.version, "of the model", .argument = "TEXT"},
    {"arrays", '\0', TOOL_FLAG, &o.arrays, "inputs and results stay arrays, also in a .mlpackage", .argument = NULL},
    TOOL_OPTIONS(tool_answer_options),
    TOOL_OPTIONS(tool_picture_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

/* What is written. */
typedef struct packaging {
    const tool_call *call;
    const char *from, *to;
    mw_model *model;
    answer answer;
    mw_port input;
    picture_plan plan;
    bool has_plan;    /* the input is a picture, and something says how */
    bool has_image;   /* it becomes an image */
    bool has_classes; /* scores become labels */
    mw_app_options app;
    int64_t *numbers; /* labels of classes without names */
    char *texts[2];   /* of the picture, and the names of classes */
    tool_description said;
    mw_text_pair *pairs;
} packaging;

static bool fail_memory(packaging *p)
{
    if (p->call->err->status == MW_OK)
        p->call->err->status = MW_ERROR_MEMORY;
    return false;
}

/* ---- what there is ---- */

static const mw_feature *find_feature(const packaging *p)
{
    const mw_description *d = mw_model_get_info(p->model).description;
    return d != NULL && d->function_count > 0 ? mw_description_find(&d->functions[d->standard], p->input.name) : NULL;
}

/* The one input, if it is a picture of which somebody says how it is read. */
static void find_picture(packaging *p)
{
    mw_error none = {0};
    const int64_t batch = mw_model_get_info(p->model).batch;
    for (size_t i = 0; mw_model_port_at(p->model, i, &p->input) && p->input.is_output;)
        i++;
    const int64_t count = p->input.is_output ? -1 : mw_shape_count(p->input.shape);
    const mw_feature *feature = find_feature(p);
    const bool is_image = feature != NULL && feature->kind == MW_FEATURE_IMAGE;
    p->has_plan =
        count > 0 && batch > 0 &&
        picture_plan_make(&p->plan, &tool_picture_given, p->model, p->from, &p->input, count / batch, &none) &&
        p->plan.is_said && !is_image;
}

/* Whether it says its labels by itself. */
static bool is_classifier(const packaging *p)
{
    mw_classes classes;
    mw_error none = {0};
    return mw_model_classes(p->model, p->answer.result, &classes, &none) == MW_OK;
}

static bool check_pictures(const packaging *p)
{
    static const char *const why = "on a model whose input is no picture, or is an image already";
    return p->has_plan || !TOOL_REFUSE(why, "fit", "crop", "scale", "mean", "deviation", "order", "skip-broken");
}

/* ---- what becomes of it ---- */

/* "image", unless the model has a port of this name. */
static const char *choose_name(const packaging *p)
{
    mw_port port;
    for (size_t i = 0; mw_model_port_at(p->model, i, &port); i++)
        if (strcmp(port.name, "image") == 0)
            return p->input.name;
    return "image";
}

/* (byte * scale - mean) / deviation is byte * scale' + bias. */
static void choose_image(packaging *p)
{
    const picture_plan *plan = &p->plan;
    mw_app_image *image = &p->app.image;
    *image = (mw_app_image){.input = p->input.name,
                            .name = choose_name(p),
                            .layout = plan->options.channels == 1 ? MW_IMAGE_GRAY
                                      : plan->blue_first          ? MW_IMAGE_BGR
                                                                  : MW_IMAGE_RGB,
                            .height = plan->options.height,
                            .width = plan->options.width,
                            .channels_last = !plan->options.channels_first};
    for (int c = 0; c < 3; c++) {
        const double deviation = plan->normalizes ? (double)plan->deviation[c] : 1;
        image->scale[c] = (float)((double)plan->scale / deviation);
        image->bias[c] = plan->normalizes ? (float)(-(double)plan->mean[c] / deviation) : 0.0f;
    }
}

/* Classes without names are numbers from 0 on. */
static bool choose_classes(packaging *p)
{
    const answer *a = &p->answer;
    const bool named = a->names.count > 0;
    p->numbers = named ? NULL : calloc((size_t)a->width, sizeof *p->numbers);
    for (int64_t i = 0; p->numbers != NULL && i < a->width; i++)
        p->numbers[i] = i;
    p->app.scores = a->result;
    p->app.classes = (mw_classes){
        .count = (size_t)a->width, .names = named ? (const char *const *)a->names.names : NULL, .numbers = p->numbers};
    p->app.is_probabilities = a->is_probabilities;
    return named || p->numbers != NULL || fail_memory(p);
}

static bool choose_forms(packaging *p)
{
    const bool is_app = mw__string_ends(p->to, ".mlpackage") && !o.arrays;
    p->app = mw_app_defaults();
    p->has_image = is_app && p->has_plan;
    p->has_classes = is_app && p->answer.task == ANSWER_CLASSES && !is_classifier(p);
    if (p->has_image)
        choose_image(p);
    return !p->has_classes || choose_classes(p);
}

static mw_graph *make_graph(packaging *p)
{
    mw_graph *graph = tool_model_graph(p->model, p->call);
    if (graph == NULL || !(p->has_image || p->has_classes))
        return graph;
    mw_graph *made = mw_graph_for_app(graph, &p->app, p->call->err);
    mw_graph_destroy(graph);
    return made;
}

/* ---- what it says ---- */

static void set_pair(packaging *p, mw_description *d, const char *key, const char *value)
{
    if (value == NULL)
        return;
    for (size_t i = 0; i < d->pair_count; i++) {
        if (strcmp(p->pairs[i].key, key) == 0) {
            p->pairs[i].value = value;
            return;
        }
    }
    p->pairs[d->pair_count++] = (mw_text_pair){key, value};
}

/* An image takes bytes: scale and mean are in the program. */
static bool make_texts(packaging *p)
{
    const picture_plan *plan = &p->plan;
    p->texts[1] = class_list_lines(&p->answer.names);
    if (p->has_plan)
        p->texts[0] = p->has_image ? pictures_text(&plan->options, 1, NULL, NULL)
                                   : pictures_text(&plan->options, plan->scale, plan->normalizes ? plan->mean : NULL,
                                                   plan->deviation);
    return (!p->has_plan || p->texts[0] != NULL) && (p->texts[1] != NULL || p->answer.names.count == 0);
}

static bool describe(packaging *p, mw_description *out)
{
    if (!make_texts(p))
        return fail_memory(p);
    if (!tool_describe(&p->said, p->model, p->from, p->call->err))
        return false;
    *out = p->said.described;
    p->pairs = calloc(out->pair_count + 4, sizeof *p->pairs);
    if (p->pairs == NULL)
        return fail_memory(p);
    for (size_t i = 0; i < out->pair_count; i++)
        p->pairs[i] = out->pairs[i];
    set_pair(p, out, TOOL_TASK_KEY, answer_task_name(p->answer.task));
    set_pair(p, out, TOOL_PICTURE_KEY, p->texts[0]);
    set_pair(p, out, "classes", p->texts[1]);
    out->pairs = p->pairs;
    out->author = o.author != NULL ? o.author : out->author;
    out->license = o.license != NULL ? o.license : out->license;
    out->text = o.about != NULL ? o.about : out->text;
    out->version = o.version != NULL ? o.version : out->version;
    return true;
}

/* ---- writing ---- */

/* What is told of the ports, where one is an image; else the program tells it. ONNX takes any number of examples. */
static mw_status write_package(packaging *p, const mw_graph *graph, mw_description *d)
{
    const mw_feature image = mw_app_image_feature(&p->app);
    const mw_function_description function = {.name = "main", .inputs = &image, .input_count = 1};
    mw_write_options options = mw_write_defaults();
    const bool changed = p->has_image || p->has_classes;
    d->functions = p->has_image ? &function : changed ? NULL : d->functions;
    d->function_count = p->has_image ? 1 : changed ? 0 : d->function_count;
    d->standard = changed ? 0 : d->standard;
    options.description = d;
    options.any_batch = mw__string_ends(p->to, ".onnx");
    mw_graph_write(graph, p->to, &options, p->call->err);
    if (!options.any_batch || p->call->err->status != MW_ERROR_UNSUPPORTED)
        return p->call->err->status;
    mw_error_clear(p->call->err); /* operations hold it at its own batch */
    options.any_batch = false;
    return mw_graph_write(graph, p->to, &options, p->call->err);
}

static void say_package(const packaging *p)
{
    if (p->call->json != NULL) {
        mw__json_add_string(p->call->json, "written", p->to);
        mw__json_add_bool(p->call->json, "image", p->has_image);
        mw__json_add_bool(p->call->json, "labels", p->has_classes);
        return;
    }
    tool_print("%s", p->to);
    if (p->has_image)
        tool_print("  image \"%s\" of %lld x %lld", p->app.image.name, (long long)p->app.image.height,
                   (long long)p->app.image.width);
    if (p->has_classes)
        tool_print("  labels \"%s\" and \"%s\" of %zu classes", p->app.label, p->app.probabilities,
                   p->app.classes.count);
    tool_puts("\n");
}

static bool package(packaging *p)
{
    mw_description d;
    mw_graph *graph = make_graph(p);
    const bool good = graph != NULL && describe(p, &d) && write_package(p, graph, &d) == MW_OK;
    mw_graph_destroy(graph);
    if (good)
        say_package(p);
    return good;
}

int tool_package(const tool_call *call)
{
    bool usage = false;
    packaging p = {.call = call, .from = call->arguments[0], .to = call->arguments[1]};
    if (!tool_has_place(p.to)) {
        tool_complain("package: %.200s has no place for what a model says of itself; write .mlpackage, .onnx or a "
                      "folder",
                      p.to);
        return TOOL_USAGE;
    }
    p.model = tool_open_model(p.from, true, call, &usage);
    int code = usage ? TOOL_USAGE : TOOL_FAILED;
    if (p.model != NULL && answer_find(&p.answer, &tool_answer_given, p.model, p.from, call->err)) {
        find_picture(&p);
        code = !check_pictures(&p) ? TOOL_USAGE : choose_forms(&p) && package(&p) ? TOOL_DONE : TOOL_FAILED;
    }
    tool_description_free(&p.said);
    free(p.numbers);
    free(p.pairs);
    free(p.texts[0]);
    free(p.texts[1]);
    answer_free(&p.answer);
    mw_model_destroy(p.model);
    return code;
}
