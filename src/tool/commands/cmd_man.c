/* mw man: the table in the words of man. */
#include "tool/commands/commands.h"

#include <string.h>

/* A word: a backslash is written \e, a hyphen \-. */
static int put_troff_word(const char *word, size_t length, bool first)
{
    int columns = 0;
    if (first && (*word == '.' || *word == '\''))
        tool_puts("\\&");
    for (size_t i = 0; i < length; i++) {
        const bool escaped = word[i] == '\\' || word[i] == '-';
        tool_print(escaped ? "\\%c" : "%c", word[i] == '\\' ? 'e' : word[i]);
        columns += escaped ? 2 : 1;
    }
    return columns;
}

/* Text of troff in lines of at most 78 columns. */
static void put_troff(const char *text)
{
    enum { COLUMNS = 76 };
    int used = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " \n");
        if (used > 0 && used + 1 + (int)length > COLUMNS) {
            tool_puts("\n");
            used = 0;
        }
        tool_puts(used > 0 ? " " : "");
        used += put_troff_word(text, length, used == 0) + 1;
        text += length;
        if (strncmp(text, "\n\n", 2) == 0) {
            tool_puts("\n.PP\n");
            used = 0;
        }
        text += strspn(text, " \n");
    }
    tool_puts("\n");
}

/* Within a line. */
static void put_troff_line(const char *text)
{
    for (; *text != '\0'; text++)
        tool_print(*text == '-' ? "\\-" : "%c", *text);
}

static void put_option(void *user, const tool_option *option)
{
    (void)user;
    tool_puts(".TP\n");
    if (option->letter != '\0')
        tool_print("\\fB\\-%c\\fR, ", option->letter);
    tool_puts("\\fB\\-\\-");
    put_troff_line(option->name);
    tool_print("\\fR%s%s%s\n", option->argument != NULL ? " \\fI" : "",
               option->argument != NULL ? option->argument : "", option->argument != NULL ? "\\fR" : "");
    char text[500], range[64];
    tool_option_range(range, sizeof range, option);
    snprintf(text, sizeof text, "%s%s%s%s", option->text, range[0] != '\0' ? " [" : "", range,
             range[0] != '\0' ? "]" : "");
    put_troff(text);
}

static void put_command(const tool_command *command)
{
    tool_print(".SS \"mw %s [options] %s\"\n", command->name, command->arguments);
    put_troff(command->text);
    tool_each_option(command->options, put_option, NULL);
}

/* ---- sections that are no commands ---- */

typedef struct man_row {
    const char *term, *text;
} man_row;

static const man_row examples[] = {
    {"mw info net.mlpackage", "what is in a model"},
    {"mw convert net.onnx net.mlpackage --weights int8 --verify", "in another format, and whether it is the same"},
    {"mw new table people.csv", "a recipe with comments for a table"},
    {"mw train people.json --out people.onnx", "train it, and write the model"},
    {"mw train people.csv --run people", "without a recipe: the last field from the others"},
    {"mw report people --own-data", "curves, classes and examples as one page"},
    {"mw run people -i x=new.csv --out results.npz", "what it says of new rows"},
    {"mw finetune Detector.mlpackage --data pictures --lora 8 --out Tuned.mlpackage", "learn classes of one's own"},
    {"mw sweep people.json --over lr=1e-4..1e-1 --seeds 3 --run sweep", "several learning rates, three times each"},
    {"mw generate model --prompt 'Once upon'", "a language model goes on"},
    {"mw check net.onnx --chip m1", "what an ANE would refuse"},
};

static const man_row files[] = {
    {"RUN/recipe.json, RUN/about.json", "the recipe as it was read, and how mw train was called; mw report reads them"},
    {"RUN/metrics.jsonl", "the curves, a line each step or epoch; mw plot draws them"},
    {"RUN/checkpoint.safetensors", "from which the same command goes on, bit for bit"},
    {"RUN/model", "the trained model as MIL; mw run and mw convert take RUN for it"},
    {"RUN/refused", "a step that was refused, for mw replay"},
    {"RUN/report.html", "what mw report wrote"},
};

/* docs/environment.md has values and details. */
static const man_row variables[] = {
    {"NO_COLOR", "if it is not empty, nothing is colored"},
    {"TERM", "if it is \"dumb\" or not set, nothing is colored and no line is written anew"},
    {"TMPDIR", "where temporary folders are made"},
    {"MW_BLAS", "the library for large matrix products, or none"},
    {"MW_E5RT_LIBRARY", "another engine"},
    {"MW_ENGINE_THREADS", "threads of a program; --threads for one command"},
    {"MW_ENGINE_WAKE", "from how many nanoseconds on threads are woken"},
    {"MW_ENGINE_WIDE", "the widest vectors: 0, 256, 512"},
    {"MW_ENGINE_PROFILE", "arithmetic of the model of the ANE; --profile for one command"},
    {"MW_ENGINE_REF, MW_ENGINE_FUSE, MW_ENGINE_FOLD, MW_ENGINE_EXACT_CONVOLUTION, MW_ENGINE_SUBNORMALS",
     "how it is computed; to compare"},
    {"MW_ENGINE_LOADED, MW_ENGINE_STREAMS", "limits of a Mac that are kept; for tests"},
    {"MW_ENGINE_PACK", "from how many bytes on weights stay as they are stored"},
    {"MW_ENGINE_CACHE_BYTES, MW_ENGINE_CACHE_ENTRIES", "what the folder of --cache may hold"},
    {"MW_PASSES_OFF", "passes and rules that are left out; mw passes --list"},
};

static void put_rows(const char *title, const man_row *rows, size_t count)
{
    tool_print(".SH %s\n", title);
    for (size_t i = 0; i < count; i++) {
        tool_puts(".TP\n\\fB");
        put_troff_line(rows[i].term);
        tool_puts("\\fR\n");
        put_troff(rows[i].text);
    }
}
#define PUT_ROWS(title, rows) put_rows((title), (rows), sizeof(rows) / sizeof((rows)[0]))

static const man_row codes[] = {
    {"0", "done"},
    {"1", "an error: one sentence on standard error; with --json also \"error\" in the answer"},
    {"2", "a wrong option or argument"},
    {"3", "it was done, and the answer is no: differs, refused, not passed"},
    {"130, 143", "stopped by SIGINT or SIGTERM, after saving"},
    {"141", "nobody reads standard output any more; what was asked for besides is done"},
};

static const char before[] =
    ".SH NAME\nmw \\- tensor graphs, models and training from the shell\n.SH SYNOPSIS\n.B mw\n.I command\n"
    "[options] [arguments]\n.br\n.B mw help\n[\\fIcommand\\fR | \\fItopic\\fR]\n.SH DESCRIPTION\nmw shows, converts, "
    "runs, checks and trains models\nwith the library Millwright. Each command is described below.\n";

static void put_topics(void)
{
    const char *name;
    tool_puts("Topics of help, which list what a recipe may name:\n");
    for (size_t i = 0; (name = tool_topic_at(i)) != NULL; i++)
        tool_print("%s%s", i > 0 ? ", " : "", name);
    tool_puts(".\n");
}

int tool_man(const tool_call *call)
{
    (void)call;
    tool_print(".TH MW 1 2026-12-01 \"Millwright %s\" \"\"\n%s", mw_version(), before);
    put_topics();
    tool_puts(".SH OPTIONS\nOf every command:\n");
    tool_each_option(tool_common_options, put_option, NULL);
    tool_puts(".SH COMMANDS\n");
    for (size_t i = 0; i < tool_command_count; i++)
        put_command(&tool_commands[i]);
    PUT_ROWS("EXAMPLES", examples);
    PUT_ROWS("FILES", files);
    PUT_ROWS("ENVIRONMENT", variables);
    PUT_ROWS("EXIT STATUS", codes);
    return TOOL_DONE;
}
