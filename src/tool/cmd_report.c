/* mw report: a run as one page. */
#include "tool/commands.h"
#include "tool/data.h"

#include <millwright/report.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200 };

static struct {
    const char *out, *data, *model, *title;
    long long samples;
} o = {.samples = 8};

const tool_option tool_report_options[] = {
    {"out", 'o', TOOL_TEXT, &o.out, "the page (RUN/report.html)", .argument = "FILE"},
    {"data", '\0', TOOL_TEXT, &o.data, "examples that are predicted, otherwise those of the run", .argument = "PATH"},
    {"model", '\0', TOOL_TEXT, &o.model, "who predicts (RUN/model)", .argument = "FILE"},
    {"samples", '\0', TOOL_INTEGER, &o.samples, "examples seen right, and wrong (8)", .argument = "N", .high = 64},
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
    snprintf(r->model_path, sizeof r->model_path, o.model != NULL ? "%s" : "%s/model",
             o.model != NULL ? o.model : r->run);
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

/* The first input, which the columns of the data are named for. */
static bool rename_for_model(reporting *r)
{
    mw_port port;
    for (size_t i = 0; mw_model_port_at(r->model, i, &port); i++) {
        if (!port.is_output)
            return strcmp(port.name, "x") == 0 || data_rename(&r->data, port.name, "y", r->call->err);
    }
    return false;
}

/* What the training subtracted from the inputs. */
static bool take_offsets(const reporting *r, data_request *request)
{
    const config_node *list = r->has_about ? config_get(r->about.root, DATA_OFFSETS_KEY) : NULL;
    size_t count = 0;
    for (const config_node *node = list != NULL ? list->first : NULL; node != NULL; node = node->next)
        count++;
    request->offsets = count > 0 ? calloc(count, sizeof *request->offsets) : NULL;
    if (request->offsets == NULL)
        return count == 0;
    for (const config_node *node = list->first; node != NULL; node = node->next)
        request->offsets[request->offset_count++] = node->number;
    return true;
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

/* Model and data, where the run tells both; a report without them has no table of classes. */
static bool open_predictions(reporting *r)
{
    mw_port input;
    mw_model_options options = mw_model_defaults();
    const config_node *about = r->has_about ? r->about.root : NULL;
    const char *said = r->has_about ? config_string(&r->about, about, "data", NULL) : NULL;
    const char *loss = r->has_about ? config_string(&r->about, about, "loss", "") : "cross_entropy";
    data_request request = {.path = o.data != NULL ? o.data : said, .has_classes = true, .is_for_model = true};
    if (!is_there(r->model_path) || request.path == NULL || strcmp(loss, "cross_entropy") != 0)
        return false;
    options.batch = 64;
    r->model = mw_model_load(r->model_path, &options, r->call->err);
    const config_node *settings = r->has_recipe ? config_object(&r->recipe, r->recipe.root, "data") : NULL;
    config *c = r->has_recipe ? &r->recipe : &r->about;
    if (r->model == NULL || !take_offsets(r, &request))
        return false;
    request.input = find_input(r, &input);
    request.integers = request.input != NULL && input.dtype == MW_I32;
    const bool opened = data_open(&r->data, c, settings, &request, r->call->err) && rename_for_model(r);
    data_request_free(&request);
    return opened;
}

static mw_status write_page(reporting *r, bool predicts)
{
    char column[256] = "x";
    mw_port port;
    mw_report_options options = mw_report_defaults();
    options.title = o.title != NULL ? o.title : r->run;
    options.metrics = is_there(r->metrics) ? r->metrics : NULL;
    options.samples = (int)o.samples;
    options.command = r->has_about ? config_string(&r->about, r->about.root, "command", NULL) : NULL;
    if (predicts) {
        options.model = r->model;
        options.dataset = r->data.test != NULL ? r->data.test : r->data.validation;
        if (mw_model_port_at(r->model, 0, &port))
            snprintf(column, sizeof column, "%s", port.name);
        options.picture = column;
    }
    return mw_report_write(&options, r->page, r->call->err);
}

static int report(reporting *r)
{
    find_files(r);
    read_settings(r);
    if (!is_there(r->metrics) && !is_there(r->model_path)) {
        tool_complain("%.300s is no run: there is neither %.300s nor a model", r->run, r->metrics);
        return TOOL_FAILED;
    }
    const bool predicts = r->call->err->status == MW_OK && open_predictions(r);
    if (r->call->err->status != MW_OK || write_page(r, predicts) != MW_OK)
        return TOOL_FAILED;
    if (r->call->json != NULL)
        tool_json_string(r->call->json, "report", r->page);
    else
        tool_print("%s\n", r->page);
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
    data_close(&r->data);
    mw_model_destroy(r->model);
    if (r->about.path != NULL)
        config_close(&r->about);
    if (r->recipe.path != NULL)
        config_close(&r->recipe);
    free(r);
    return code;
}
