/* mw generate: a language model goes on with a text. */
#include "base/clock.h"
#include "base/file/file.h"
#include "tool/commands/commands.h"
#include "tool/source.h"

#include <millwright/text.h>
#include <signal.h>
#include <string.h>

static struct {
    const char *prompt, *prompt_file, **stops;
    long long tokens, top_k, context;
    double temperature, top_p, min_p, repetition;
} o = {.tokens = 256, .top_k = 40, .temperature = 0.8, .top_p = 0.95, .repetition = 1.0};

const tool_option tool_generate_options[] = {
    {"prompt", 'p', TOOL_TEXT, &o.prompt, "the text to go on with", .argument = "TEXT"},
    {"prompt-file", 'f', TOOL_TEXT, &o.prompt_file, "the text of this file, instead of --prompt", .argument = "FILE"},
    {"tokens", 'n', TOOL_INTEGER, &o.tokens, "the most that are written (256)", .argument = "N", .low = 1, .high = 1e9},
    {"temperature", '\0', TOOL_NUMBER, &o.temperature, "0 = always the likeliest token (0.8)", .argument = "X",
     .high = 100},
    {"top-k", '\0', TOOL_INTEGER, &o.top_k, "among the K likeliest; 0 = all (40)", .argument = "K", .high = INT32_MAX},
    {"top-p", '\0', TOOL_NUMBER, &o.top_p, "among the likeliest of this probability together (0.95)", .argument = "P",
     .low = 1e-6, .high = 1},
    {"min-p", '\0', TOOL_NUMBER, &o.min_p, "among those of at least this part of the largest probability (0)",
     .argument = "P", .high = 1},
    {"repetition", '\0', TOOL_NUMBER, &o.repetition, "what logits of tokens that came already are divided by (1)",
     .argument = "X", .low = 0.01, .high = 100},
    {"stop", '\0', TOOL_LIST, &o.stops, "end before this text; may be given several times", .argument = "TEXT"},
    {"context", '\0', TOOL_INTEGER, &o.context, "the most tokens of prompt and answer together (1024)", .argument = "N",
     .low = 2, .high = 1e9},
    TOOL_OPTIONS(tool_drawing_options),
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS_END,
};

/* ---- as it comes ---- */

static volatile sig_atomic_t interrupted;
static void note_signal(int number) { interrupted = number; }

typedef struct telling {
    bool shows;
    long long parts;
} telling;

static bool tell(void *user, const char *text)
{
    telling *t = user;
    t->parts++;
    if (t->shows) {
        tool_puts(text);
        fflush(stdout);
    }
    return interrupted == 0;
}

static mw_generate_options asked(telling *t)
{
    mw_generate_options options = mw_generate_defaults();
    options.tokens = o.tokens;
    options.temperature = (float)o.temperature;
    options.top_k = (int)o.top_k;
    options.top_p = (float)o.top_p;
    options.min_p = (float)o.min_p;
    options.repetition = (float)o.repetition;
    options.seed = tool_seed();
    options.stops = o.stops;
    while (o.stops != NULL && o.stops[options.stop_count] != NULL)
        options.stop_count++;
    options.token = tell;
    options.user = t;
    return options;
}

/* Ctrl-C ends the answer, not the program in the middle of a line. */
static char *write_answer(mw_text_model *model, const char *prompt, const tool_call *call, telling *t)
{
    struct sigaction own = {.sa_handler = note_signal}, before;
    char *text = NULL;
    const mw_generate_options options = asked(t);
    sigaction(SIGINT, &own, &before);
    text = mw_text_model_generate(model, prompt, &options, call->err);
    sigaction(SIGINT, &before, NULL);
    return text;
}

static void say_rate(const telling *t, double seconds, const tool_call *call)
{
    if (call->quiet || call->json != NULL || !tool_is_terminal(stderr))
        return;
    fprintf(stderr, "%lld parts in %.1f s, %.1f a second\n", t->parts, seconds, (double)t->parts / seconds);
}

static int generate(mw_text_model *model, const char *prompt, const tool_call *call)
{
    telling t = {.shows = call->json == NULL};
    const double begin = mw__clock_seconds();
    char *text = write_answer(model, prompt, call, &t);
    const double seconds = mw__clock_seconds() - begin;
    if (t.shows && t.parts > 0)
        tool_puts("\n");
    if (text == NULL)
        return TOOL_FAILED;
    if (call->json != NULL) {
        mw__json_add_string(call->json, "text", text);
        mw__json_add_number(call->json, "seconds", seconds);
    }
    say_rate(&t, seconds, call);
    mw_string_free(text);
    return interrupted != 0 ? TOOL_INTERRUPTED : TOOL_DONE;
}

/* ---- the command ---- */

static char *read_prompt(const tool_call *call)
{
    char *text = NULL;
    size_t size = o.prompt != NULL ? strlen(o.prompt) + 1 : 0;
    if (o.prompt != NULL) {
        text = mw__alloc(mw__allocator_default(), size, 1, call->err);
        return text != NULL ? memcpy(text, o.prompt, size) : NULL;
    }
    mw__file_read(mw__allocator_default(), o.prompt_file, (size_t)1 << 24, &text, &size, call->err);
    return text;
}

int tool_generate(const tool_call *call)
{
    mw_compile_options compile;
    if (tool_given("prompt") == tool_given("prompt-file")) {
        tool_complain("--prompt TEXT or --prompt-file FILE: one of them");
        return TOOL_USAGE;
    }
    if (TOOL_REFUSE("a text is written one at a time", "batch") || !tool_compile_options(&compile))
        return TOOL_USAGE;
    char *prompt = read_prompt(call);
    mw_text_model_options options = mw_text_model_defaults();
    options.compile = &compile;
    options.cache = o.context;
    mw_text_model *model = prompt != NULL ? mw_text_model_open(call->arguments[0], &options, call->err) : NULL;
    const int code = model != NULL ? generate(model, prompt, call) : TOOL_FAILED;
    mw_text_model_destroy(model);
    mw__free(mw__allocator_default(), prompt);
    return code;
}
