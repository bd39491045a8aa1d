/* mw passes: what happens to a program while it is compiled. */
#include "base/file/file.h"
#include "base/file/fresh_folder.h"
#include "tool/commands/commands.h"
#include "tool/source.h"
#include "tool/train/recipe.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *chip, *training, *data, *off, *why, *dump;
    bool list, all;
} o;

const tool_option tool_passes_options[] = {
    {"training", '\0', TOOL_TEXT, &o.training, "the step of this recipe of mw train, instead of a model",
     .argument = "RECIPE"},
    {"data", '\0', TOOL_TEXT, &o.data, "that of the recipe", .argument = "PATH", .needs = "training"},
    {"chip", 'c', TOOL_TEXT, &o.chip, "for this chip: m1 to m6, a13 to a18, h13 to h19, or any (any)",
     .argument = "CHIP", .needs = "device=ane"},
    {"off", '\0', TOOL_TEXT, &o.off, "passes and rules that are left out, with commas between them",
     .argument = "NAMES"},
    {"why", 'w', TOOL_TEXT, &o.why, "what rules made of the operation with this result, and why not; '*' = of all",
     .argument = "NAME"},
    {"all", 'a', TOOL_FLAG, &o.all, "also rules that only left operations as they were", .argument = NULL},
    {"dump", '\0', TOOL_TEXT, &o.dump, "the program after each pass: .mil, and .txt of steps", .argument = "FOLDER"},
    {"list", 'l', TOOL_FLAG, &o.list, "all passes and rules there are", .argument = NULL},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

/* Who hears of the passes. */
typedef struct listener {
    const tool_call *call;
    size_t count, note_count, broken;
    mw__fresh_folder folder; /* of --dump; its path is NULL without */
    mw_error err;            /* the first of writing it */
} listener;

/* ---- files ---- */

static const char source_name[] = "00-source.mil";

static void write_text(listener *l, const char *name, const char *text)
{
    char path[4400];
    if (l->folder.path == NULL || l->err.status != MW_OK)
        return;
    const int length = snprintf(path, sizeof path, "%s/%s", l->folder.path, name);
    if (length < (int)sizeof path) {
        mw__file_write(mw__allocator_or_default(NULL), path, text, strlen(text), false, &l->err);
        return;
    }
    l->err.status = MW_ERROR_ARGUMENT;
    snprintf(l->err.message, sizeof l->err.message, "--dump: a path of %d bytes is too long", length);
}

static void write_source(void *user, const mw_graph *graph)
{
    listener *l = user;
    const mw_write_options options = mw_write_defaults();
    if (l->folder.path == NULL)
        return;
    char *text = mw_graph_print_mil(graph, &options, &l->err);
    if (text != NULL)
        write_text(l, source_name, text);
    mw_string_free(text);
}

/* "07-fp16.mil" */
static void write_pass(listener *l, const mw_pass *pass)
{
    char name[128];
    const char *ending = strcmp(pass->stage, "steps") == 0 ? "txt" : "mil";
    if (pass->text == NULL)
        return;
    snprintf(name, sizeof name, "%02zu-%.100s.%s", l->count, pass->name, ending);
    write_text(l, name, pass->text);
}

/* What was written before is replaced, and nothing else. */
static bool may_replace(const char *path)
{
    char source[4400];
    snprintf(source, sizeof source, "%s/%s", path, source_name);
    DIR *folder = opendir(path);
    size_t count = 0;
    while (folder != NULL && count < 3 && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    if (count < 3 || access(source, F_OK) == 0)
        return true;
    tool_complain("--dump %.300s: the folder holds something else; name one that is empty, or not there", path);
    return false;
}

/* ---- a line for each pass ---- */

static void json_rules(mw__json_writer *json, const mw_pass *pass)
{
    mw__json_open(json, "rules", '[');
    for (size_t i = 0; i < pass->rule_count; i++) {
        mw__json_open(json, NULL, '{');
        mw__json_add_string(json, "name", pass->rules[i].name);
        mw__json_add_integer(json, "hits", (int64_t)pass->rules[i].hits);
        mw__json_add_integer(json, "refusals", (int64_t)pass->rules[i].refusals);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

static void json_notes(mw__json_writer *json, const mw_pass *pass)
{
    mw__json_open(json, "notes", '[');
    for (size_t i = 0; i < pass->note_count; i++) {
        mw__json_open(json, NULL, '{');
        mw__json_add_string(json, "rule", pass->notes[i].rule);
        mw__json_add_string(json, "operation", pass->notes[i].operation);
        mw__json_add_bool(json, "written", pass->notes[i].refused == NULL);
        mw__json_add_string(json, "refused", pass->notes[i].refused);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

static void json_pass(mw__json_writer *json, const mw_pass *pass)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "stage", pass->stage);
    mw__json_add_string(json, "name", pass->name);
    mw__json_add_string(json, "sentence", pass->sentence);
    mw__json_add_string(json, "function", pass->function);
    mw__json_add_number(json, "seconds", pass->seconds);
    mw__json_add_integer(json, "before", (int64_t)pass->before);
    mw__json_add_integer(json, "after", (int64_t)pass->after);
    mw__json_add_bool(json, "changed", pass->changed);
    json_rules(json, pass);
    if (o.why != NULL)
        json_notes(json, pass);
    mw__json_add_string(json, "broken", pass->broken);
    mw__json_close(json, '}');
}

static void say_rules(const mw_pass *pass)
{
    for (size_t i = 0; i < pass->rule_count; i++) {
        const mw_pass_rule *rule = &pass->rules[i];
        if (rule->hits > 0 || o.all)
            tool_print("            %-28s %6zu hits %6zu refused\n", rule->name, rule->hits, rule->refusals);
    }
}

static void say_notes(const mw_pass *pass)
{
    for (size_t i = 0; i < pass->note_count; i++) {
        const mw_pass_note *note = &pass->notes[i];
        tool_print("            %s: ", note->rule);
        tool_show(note->operation);
        tool_puts(note->refused != NULL ? " is left: " : " is written");
        tool_show(note->refused != NULL ? note->refused : "");
        tool_puts("\n");
    }
}

static void say_pass(const mw_pass *pass)
{
    tool_print("%-9s %-14s %9.3f ms %6zu -> %zu", pass->stage, pass->name, pass->seconds * 1e3, pass->before,
               pass->after);
    if (strcmp(pass->function, "main") != 0) {
        tool_puts(" in ");
        tool_show(pass->function);
    }
    tool_puts(pass->changed ? "\n" : ", unchanged\n");
    say_rules(pass);
    say_notes(pass);
    if (pass->broken != NULL)
        tool_print("            BROKEN: after this pass \"%s\" does not hold\n", pass->broken);
}

static void hear_pass(void *user, const mw_pass *pass)
{
    listener *l = user;
    l->count++;
    l->note_count += pass->note_count;
    write_pass(l, pass);
    if (l->call->json != NULL)
        json_pass(l->call->json, pass);
    else
        say_pass(pass);
    if (pass->broken == NULL)
        return;
    l->broken++;
    tool_complain("the pass %s is broken: \"%s\" does not hold after it; that is a fault of this library", pass->name,
                  pass->broken);
}

/* ---- what is compiled ---- */

static int compile_file(const tool_call *call, const mw_compile_options *options)
{
    int code;
    mw_graph *graph = tool_open_graph(call, &code);
    if (graph == NULL)
        return code;
    write_source(options->passes.report_user, graph);
    mw_program *program = mw_program_create(graph, options, call->err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return program != NULL ? TOOL_DONE : TOOL_FAILED;
}

static int build_training(const tool_call *call, const mw_compile_options *options)
{
    const recipe_overrides over = {.data = o.data,
                                   .device = tool_device(),
                                   .batch = tool_batch(),
                                   .threads = tool_given("threads") ? options->threads : -1,
                                   .seed = -1,
                                   .compile = options,
                                   .built = write_source};
    return recipe_build(o.training, &over, call);
}

/* ---- options ---- */

/* A program of one operation shows whether the library knows the names. */
static bool check_names(mw_compile_options options)
{
    static const char prefix[] = "compile option passes.off";
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(1))), "y");
    options.passes = (mw_passes){.off = o.off};
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    if (strncmp(err.message, prefix, strlen(prefix)) != 0)
        return true;
    tool_complain("--off%s", err.message + strlen(prefix));
    return false;
}

static bool check_options(const tool_call *call)
{
    if (o.list && TOOL_REFUSE("with --list", "training", "off", "why", "all", "dump", "device", "profile", "threads",
                              "batch", "cache", "shape", "extent", "function"))
        return false;
    if (call->count + (o.training != NULL) + o.list != 1) {
        tool_complain("passes: one of FILE, --training RECIPE and --list is expected");
        return false;
    }
    if (o.training != NULL && TOOL_REFUSE("with --training", "shape", "extent", "function"))
        return false;
    return !TOOL_REFUSE("here: what is fetched from a cache goes through no pass", "cache") && tool_check_device();
}

static bool take_options(mw_compile_options *out, listener *l)
{
    if (!tool_compile_options(out) || (o.chip != NULL && !tool_parse_chip(o.chip, &out->chip)))
        return false;
    out->function = NULL;
    out->passes =
        (mw_passes){.off = o.off, .report = hear_pass, .report_user = l, .why = o.why, .texts = o.dump != NULL};
    return (o.off == NULL || check_names(*out)) && (o.dump == NULL || may_replace(o.dump));
}

/* ---- the whole ---- */

static int compile_with(const tool_call *call, const mw_compile_options *options, listener *l)
{
    if (call->json != NULL)
        mw__json_open(call->json, "passes", '[');
    const int code = o.training != NULL ? build_training(call, options) : compile_file(call, options);
    if (call->json != NULL)
        mw__json_close(call->json, ']');
    else if (code == TOOL_DONE)
        tool_print("%zu passes\n", l->count);
    if (call->err->status == MW_OK)
        *call->err = l->err;
    return code;
}

static int finish(int code, const listener *l)
{
    if (code != TOOL_DONE || l->broken > 0)
        return code != TOOL_DONE ? code : TOOL_FAILED;
    if (o.why == NULL || l->note_count > 0)
        return TOOL_DONE;
    tool_complain("--why %.100s: no rule looked at an operation with a result of that name", o.why);
    return TOOL_FAILED;
}

int tool_passes(const tool_call *call)
{
    listener l = {.call = call};
    mw_compile_options options;
    if (!check_options(call))
        return TOOL_USAGE;
    if (o.list) {
        tool_say_pass_list(call);
        return TOOL_DONE;
    }
    if (!take_options(&options, &l))
        return TOOL_USAGE;
    if (o.dump != NULL && mw__fresh_folder_begin(&l.folder, mw__allocator_or_default(NULL), o.dump, call->err) != MW_OK)
        return TOOL_FAILED;
    const int code = compile_with(call, &options, &l);
    if (o.dump != NULL && call->err->status == MW_OK && code == TOOL_DONE)
        mw__fresh_folder_commit(&l.folder, call->err);
    mw__fresh_folder_deinit(&l.folder);
    return finish(code, &l);
}
