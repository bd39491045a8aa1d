/* mw convert, mw average: one file into another. */
#include "tool/commands/commands.h"
#include "tool/data_scale.h"
#include "tool/model_text.h"
#include "tool/source.h"

#include "base/file/fresh_folder.h"
#include "base/text/string.h"

#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct {
    const char *weights, *trained;
    bool verify;
    long long bits, least, version, context;
    double tolerance;
} o = {.least = 2048, .version = 1, .tolerance = -1};

const tool_option tool_convert_options[] = {
    {"weights", 'w', TOOL_TEXT, &o.weights,
     "how weights are stored: fp16, int8 or palette; of a language model fp32, fp16, bf16, q8_0 or q4_0",
     .argument = "FORM"},
    {"trained", '\0', TOOL_TEXT, &o.trained,
     "of a language model: weights or adapters that were trained, merged into those of IN", .argument = "PATH"},
    {"llama2c-version", '\0', TOOL_INTEGER, &o.version, "of llama2.c's files: 0, 1 or 2 (1)", .argument = "N",
     .high = 2},
    {"context", '\0', TOOL_INTEGER, &o.context, "of a language model as .mlpackage: the most tokens of a text (1024)",
     .argument = "N", .low = 1, .high = 1 << 24},
    {"bits", '\0', TOOL_INTEGER, &o.bits, "of a palette: 1, 2, 4, 6 or 8 (4)", .argument = "N", .low = 1, .high = 8,
     .choices = "1, 2, 4, 6, 8", .needs = "weights=palette"},
    {"least", '\0', TOOL_INTEGER, &o.least, "weights of fewer elements stay (2048)", .argument = "N", .high = 1e15,
     .needs = "weights"},
    {"verify", 'v', TOOL_FLAG, &o.verify, "run both on the same inputs and compare", .argument = NULL},
    {"tolerance", '\0', TOOL_NUMBER, &o.tolerance,
     "how much results may differ, as a part of their largest (1e-5; with --weights 0.1)", .argument = "X",
     .high = 1e30, .needs = "verify"},
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

/* ---- weights that take less ---- */

static void say_compressed(void *user, const mw_compress_choice *report)
{
    const tool_call *call = user;
    char before[32], after[32];
    if (call->json != NULL || call->quiet)
        return;
    tool_print("  %-9s -> %-9s error %.2e  ", tool_bytes(before, sizeof before, (double)report->size_before),
               tool_bytes(after, sizeof after, (double)report->size_after), report->relative_error);
    tool_show(report->name);
    tool_puts(report->reason != NULL ? "  stays: " : "");
    tool_show(report->reason);
    tool_puts("\n");
}

static bool choose_form(mw_weight_form *out)
{
    static const char *const names[] = {"fp16", "int8", "palette"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(o.weights, names[i]) == 0) {
            *out = (mw_weight_form)(MW_WEIGHTS_F16 + i);
            return true;
        }
    }
    tool_complain("--weights %.60s is none of fp16, int8, palette", o.weights);
    return false;
}

/* Compressed constants came with ios16: an older program becomes one of it, by way of its text in a folder that stands
 * beside the output for a moment. */
static mw_graph *raise_opset(const mw_graph *graph, const char *path, const tool_call *call)
{
    mw__fresh_folder folder;
    mw_write_options options = mw_write_defaults();
    options.opset = MW_IOS16;
    if (mw_graph_opset(graph) >= MW_IOS16)
        return mw_graph_function(graph, NULL, call->err);
    if (mw__fresh_folder_begin(&folder, mw__allocator_or_default(NULL), path, call->err) == MW_OK)
        mw_graph_write(graph, folder.path, &options, call->err);
    char text[4300];
    snprintf(text, sizeof text, "%s/model.mil", folder.path != NULL ? folder.path : "");
    mw_graph *raised = mw_graph_open_mil(text, NULL, call->err);
    mw__fresh_folder_deinit(&folder);
    return raised;
}

static mw_graph *compress(const mw_graph *graph, const tool_call *call, bool *usage)
{
    mw_weight_form form;
    *usage = !choose_form(&form);
    if (*usage)
        return NULL;
    mw_compress_options options = mw_compress_defaults(form);
    options.bits = o.bits > 0 ? (int)o.bits : options.bits;
    options.least_elements = o.least;
    options.report = say_compressed;
    options.report_user = (void *)(uintptr_t)call;
    return mw_graph_compress(graph, &options, call->err);
}

/* ---- models ---- */

/* As it was read, or with other weights; a graph of one function each. */
static int write_as_it_is(const mw_model *model, const char *path, const tool_call *call)
{
    return tool_write_model(model, call->arguments[0], path, call->err) == MW_OK ? TOOL_DONE : TOOL_FAILED;
}

static int write_compressed(const mw_model *model, const char *path, const tool_call *call)
{
    bool usage;
    mw_model_options options = mw_model_defaults();
    mw_graph *raised = raise_opset(mw_model_get_info(model).graph, path, call);
    mw_graph *small = compress(raised, call, &usage);
    options.read_only = true;
    options.description = mw_model_get_info(model).description;
    mw_model *written = small != NULL ? mw_model_create(small, &options, call->err) : NULL;
    const int code = written != NULL ? write_as_it_is(written, path, call) : usage ? TOOL_USAGE : TOOL_FAILED;
    mw_model_destroy(written);
    mw_graph_destroy(small);
    mw_graph_destroy(raised);
    return code;
}

/* A model without what is subtracted from its inputs would give other results. */
static bool check_place(const mw_model *model, const tool_call *call)
{
    char *offsets = NULL;
    if (!tool_has_place(call->arguments[1]) &&
        !tool_model_text(model, call->arguments[0], NULL, DATA_OFFSETS_KEY, &offsets, call->err))
        return false;
    if (offsets != NULL)
        tool_complain("%.200s has no place for what is subtracted from the inputs of %.200s, and would give other "
                      "results; write .mlpackage, .onnx or a folder",
                      call->arguments[1], call->arguments[0]);
    const bool good = offsets == NULL;
    free(offsets);
    return good;
}

static int convert_model(const tool_call *call)
{
    bool usage;
    mw_model *model = tool_open_model(call->arguments[0], false, call, &usage);
    if (model == NULL)
        return usage ? TOOL_USAGE : TOOL_FAILED;
    if (!check_place(model, call)) {
        mw_model_destroy(model);
        return TOOL_FAILED;
    }
    int code = (o.weights != NULL ? write_compressed : write_as_it_is)(model, call->arguments[1], call);
    mw_model_destroy(model);
    if (code == TOOL_DONE && o.verify)
        code = tool_compare_files(call->arguments[0], call->arguments[1], true,
                                  o.tolerance >= 0    ? o.tolerance
                                  : o.weights != NULL ? 0.1
                                                      : 1e-5,
                                  call);
    if (code == TOOL_DONE && call->json != NULL)
        mw__json_add_string(call->json, "written", call->arguments[1]);
    return code;
}

/* ---- files of tensors ---- */

/* What does not come along. */
static void say_left_out(const mw_tensors *tensors)
{
    const mw_tensors_note *item;
    for (size_t i = 0; (item = mw_tensors_left_out_at(tensors, i)) != NULL; i++)
        tool_complain("left out: \"%.150s\": %.250s", item->key, item->value);
}

static int convert_tensors(const tool_call *call)
{
    mw_dtype wanted = MW_DTYPE_NONE;
    if (TOOL_REFUSE("on files of tensors", "bits", "least", "verify", "tolerance", "shape", "extent", "function",
                    "trained", "llama2c-version", "context"))
        return TOOL_USAGE;
    if (o.weights != NULL && !tool_parse_dtype(o.weights, &wanted))
        return TOOL_USAGE;
    mw_tensors *tensors = mw_tensors_open(call->arguments[0], call->err);
    if (tensors == NULL)
        return TOOL_FAILED;
    say_left_out(tensors);
    const mw_status status = mw_tensors_convert(tensors, call->arguments[1], wanted, call->err);
    if (status == MW_OK && call->json != NULL)
        mw__json_add_integer(call->json, "tensors", (int64_t)mw_tensors_get_info(tensors).count);
    mw_tensors_destroy(tensors);
    return status == MW_OK ? TOOL_DONE : TOOL_FAILED;
}

/* ---- language models ---- */

static bool is_language_model(const char *path)
{
    char file[4300];
    struct stat found;
    snprintf(file, sizeof file, "%s/config.json", path);
    return mw__string_ends(path, ".gguf") || mw__string_ends(path, ".bin") || stat(file, &found) == 0;
}

static bool choose_type(const char **out)
{
    static const char *const names[][2] = {
        {"fp32", "F32"}, {"fp16", "F16"}, {"bf16", "BF16"}, {"q8_0", "Q8_0"}, {"q4_0", "Q4_0"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(o.weights, names[i][0]) == 0) {
            *out = names[i][1];
            return true;
        }
    tool_complain("--weights %.60s: a language model has fp32, fp16, bf16, q8_0 or q4_0", o.weights);
    return false;
}

static int convert_text(const tool_call *call)
{
    mw_text_save_options options = mw_text_save_defaults();
    if (TOOL_REFUSE("on language models", "bits", "least", "verify", "tolerance", "shape", "extent", "function"))
        return TOOL_USAGE;
    if (o.weights != NULL && !choose_type(&options.type))
        return TOOL_USAGE;
    options.trained = o.trained;
    options.version = (int)o.version;
    options.cache = o.context;
    if (!mw__string_ends(call->arguments[1], ".mlpackage") &&
        TOOL_REFUSE("but on a .mlpackage, whose cache it is", "context"))
        return TOOL_USAGE;
    if (!mw__string_ends(call->arguments[1], ".bin") && TOOL_REFUSE("but on llama2.c's .bin", "llama2c-version"))
        return TOOL_USAGE;
    if (mw_text_save(call->arguments[0], call->arguments[1], &options, call->err) != MW_OK)
        return TOOL_FAILED;
    if (call->json != NULL)
        mw__json_add_string(call->json, "written", call->arguments[1]);
    return TOOL_DONE;
}

int tool_convert(const tool_call *call)
{
    static const char *const endings[] = {".safetensors", ".npz", ".npy"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (mw__string_ends(call->arguments[1], endings[i]))
            return convert_tensors(call);
    }
    if (is_language_model(call->arguments[0]))
        return convert_text(call);
    if (TOOL_REFUSE("on other models than those of language", "trained", "llama2c-version", "context"))
        return TOOL_USAGE;
    return convert_model(call);
}

/* ---- average ---- */

static struct {
    const char *out;
} a;

const tool_option tool_average_options[] = {
    {"out", 'o', TOOL_TEXT, &a.out, "where the mean goes: .safetensors or .npz", .argument = "FILE"},
    TOOL_OPTIONS_END,
};

int tool_average(const tool_call *call)
{
    if (a.out == NULL) {
        tool_complain("average: --out FILE is missing");
        return TOOL_USAGE;
    }
    const mw_status status = mw_tensors_average(call->arguments, (size_t)call->count, a.out, call->err);
    return status == MW_OK ? TOOL_DONE : TOOL_FAILED;
}
