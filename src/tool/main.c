/* mw: the library from the shell. A first word chooses the command; popt reads the rest. */
#include "tool/meant.h"
#include "tool/source.h"
#include "tool/tool.h"

#include <fcntl.h>
#include <millwright/chip_all.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool json, quiet, help;
} common;

const tool_option tool_common_options[] = {
    {"json", '\0', TOOL_FLAG, &common.json, "the answer as JSON", .argument = NULL},
    {"quiet", 'q', TOOL_FLAG, &common.quiet, "no progress", .argument = NULL},
    {"help", 'h', TOOL_FLAG, &common.help, "this text", .argument = NULL},
    TOOL_OPTIONS_END,
};

static void print_usage(const tool_command *command)
{
    fprintf(stderr, "usage: mw %s [options] %s    (mw %s --help)\n", command->name, command->arguments, command->name);
}

static int usage_error(const tool_command *command, const char *what, const char *why)
{
    tool_complain("%s%s%s", what, why[0] != '\0' ? ": " : "", why);
    print_usage(command);
    return TOOL_USAGE;
}

/* The fields of the library's options by the options that are them, here or in mw convert. */
static void put_own_words(mw_error *err)
{
    static const struct {
        const char *field, *option, *argument;
    } words[] = {{"options.extents", "extent", "NAME=N"}, {"options.shapes", "shape", "NAME=SHAPE"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[sizeof err->message];
        const char *at = strstr(err->message, words[i].field);
        if (at == NULL)
            continue;
        snprintf(text, sizeof text, "%.*s--%s %s%s%s", (int)(at - err->message), err->message, words[i].option,
                 words[i].argument, tool_has_option(words[i].option) ? "" : " of mw convert",
                 at + strlen(words[i].field));
        snprintf(err->message, sizeof err->message, "%s", text);
    }
}

/* What the tool itself refused was said where it was found. */
static void say_own_failure(const tool_command *command, tool_call *call)
{
    mw_error said = {.status = MW_ERROR_ARGUMENT};
    if (tool_last_complaint() == NULL)
        tool_complain("%s failed without a reason: out of memory, or a fault of mw", command->name);
    snprintf(said.message, sizeof said.message, "%s", tool_last_complaint());
    if (call->json != NULL)
        tool_json_error(call->json, &said);
}

static void add_meant_file(void *user, const char *text) { meant_add_file(user, text); }

/* What the library would say is said here in the words of the tool. */
static int run_checked(const tool_command *command, tool_call *call)
{
    const int code = command->run(call);
    if (call->err->status == MW_OK) {
        if (code == TOOL_FAILED || code == TOOL_USAGE)
            say_own_failure(command, call);
        return code;
    }
    put_own_words(call->err);
    for (int i = 0; i < call->count; i++)
        meant_add_file(call->err, call->arguments[i]);
    tool_each_given_text(add_meant_file, call->err);
    const char *why = call->err->message;
    tool_complain("%s", why[0] != '\0' ? why : mw_status_name(call->err->status));
    if (call->json != NULL)
        tool_json_error(call->json, call->err);
    return code != TOOL_DONE ? code : call->err->status == MW_ERROR_STOPPED ? TOOL_INTERRUPTED : TOOL_FAILED;
}

static int run_with_json(const tool_command *command, tool_call *call)
{
    mw__json_writer json;
    mw__json_writer_init(&json, mw__allocator_or_default(NULL), false);
    mw__json_open(&json, NULL, '{');
    call->json = &json;
    const int code = run_checked(command, call);
    mw__json_close(&json, '}');
    const char *text = mw__json_text(&json);
    tool_puts(text != NULL ? text : "{}");
    tool_puts("\n");
    mw__json_writer_deinit(&json);
    return code;
}

static int count_arguments(const char **arguments)
{
    int count = 0;
    while (arguments != NULL && arguments[count] != NULL)
        count++;
    return count;
}

/* A word with control characters, for shells that have this form; a terminal would act on them as they are. */
static void write_escaped(mw__text *out, const char *word)
{
    mw__text_puts(out, " $'");
    for (; *word != '\0'; word++) {
        const unsigned char byte = (unsigned char)*word;
        if (byte < 0x20 || byte == 0x7f)
            mw__text_printf(out, "\\x%02x", byte);
        else
            mw__text_printf(out, byte == '\'' || byte == '\\' ? "\\%c" : "%c", byte);
    }
    mw__text_puts(out, "'");
}

/* In quotes, where a shell would take it for something else; an apostrophe stands outside of them. */
static void write_word(mw__text *out, const char *word)
{
    bool control = false;
    for (const char *at = word; *at != '\0'; at++)
        control = control || (unsigned char)*at < 0x20 || *at == 0x7f;
    if (control) {
        write_escaped(out, word);
        return;
    }
    if (word[0] != '\0' && word[strcspn(word, " \"'\\$`*?[]{}()<>|&;!#~^")] == '\0') {
        mw__text_printf(out, " %s", word);
        return;
    }
    mw__text_puts(out, " '");
    for (; *word != '\0'; word++)
        mw__text_printf(out, *word == '\'' ? "'\\''" : "%c", *word);
    mw__text_puts(out, "'");
}

/* "mw train digits.json --data 'my data'": a shell that is given it runs the same. */
static void write_command(mw__text *out, int argc, const char **argv)
{
    mw__text_init(out, mw__allocator_or_default(NULL));
    mw__text_puts(out, "mw");
    for (int i = 0; i < argc; i++)
        write_word(out, argv[i]);
}

static int run_command(const tool_command *command, const char **arguments, const char *typed)
{
    mw_error err = {0};
    tool_call call = {.arguments = arguments, .quiet = common.quiet, .err = &err, .command = typed};
    call.count = count_arguments(call.arguments);
    if (common.help) {
        tool_print_help(command);
        return TOOL_DONE;
    }
    if (call.count < command->least)
        return usage_error(command, "too few arguments", "");
    if (command->most >= 0 && call.count > command->most)
        return usage_error(command, "one argument too many", call.arguments[command->most]);
    return common.json ? run_with_json(command, &call) : run_checked(command, &call);
}

/* With "mw" before it for popt, which skips a program's name. */
static int parse_and_run(const tool_command *command, int argc, const char **argv)
{
    const tool_option options[] = {TOOL_OPTIONS(command->options), TOOL_OPTIONS(tool_common_options), TOOL_OPTIONS_END};
    const char **arguments;
    bool usage;
    mw__text typed;
    write_command(&typed, argc, argv);
    int code = tool_options_parse(options, argc, argv, &arguments, &usage);
    if (usage)
        print_usage(command);
    if (code == TOOL_DONE)
        code = run_command(command, arguments, typed.failed ? "mw" : typed.data);
    mw__text_deinit(&typed);
    tool_source_free();
    tool_options_free();
    return code;
}

/* A word that is no command: what was meant, or else all of them. */
static int refuse_command(const char *word)
{
    char hint[MEANT_BYTES];
    meant_command(hint, word);
    if (hint[0] == '\0')
        tool_print_commands(stderr);
    tool_complain("there is no command \"%s\"%s", word, hint);
    return TOOL_USAGE;
}

/* mw help, mw help COMMAND or TOPIC, mw --help, mw --version. */
static int answer_itself(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--version") == 0) {
        printf("mw %s\n", mw_version());
        return TOOL_DONE;
    }
    const bool asked = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
    if (asked && argc > 2)
        return tool_print_help_of(argv[2]);
    if (!asked && argc > 1)
        return refuse_command(word);
    tool_print_commands(asked ? stdout : stderr);
    return asked ? TOOL_DONE : TOOL_USAGE;
}

/* A file that is opened gets no standard number. Writing to what was closed fails, as before. */
static void fill_descriptors(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0)
            continue;
        if (open("/dev/null", O_RDONLY) < 0)
            return;
    }
}

int main(int argc, char **argv)
{
    fill_descriptors();
    mw_chip_register();
    signal(SIGPIPE, SIG_IGN); /* a reader that leaves may not end a training */
    const tool_command *command = argc > 1 ? tool_find(argv[1]) : NULL;
    const int code =
        command != NULL ? parse_and_run(command, argc - 1, (const char **)(argv + 1)) : answer_itself(argc, argv);
    return tool_out_close(code);
}
