/* mw: the library from the shell. A first word chooses the command; popt reads the rest. */
#include "tool/tool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int json, quiet, help, json_before;
} common;

const struct poptOption tool_common_options[] = {
    {"json", '\0', POPT_ARG_NONE, &common.json, 0, "the answer as JSON", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &common.quiet, 0, "no progress", NULL},
    {"help", 'h', POPT_ARG_NONE, &common.help, 0, "this text", NULL},
    POPT_TABLEEND,
};

static int usage_error(const tool_command *command, const char *what, const char *why)
{
    tool_complain("%s%s%s", what, why[0] != '\0' ? ": " : "", why);
    fprintf(stderr, "usage: mw %s [options] %s    (mw %s --help)\n", command->name, command->arguments, command->name);
    return TOOL_USAGE;
}

/* What the library would say is said here in the words of the tool. */
static int run_checked(const tool_command *command, tool_call *call)
{
    const int code = command->run(call);
    if (call->err->status == MW_OK)
        return code;
    tool_complain("%s", call->err->message);
    if (call->json != NULL)
        tool_json_error(call->json, call->err);
    return code != TOOL_DONE ? code : call->err->status == MW_ERROR_STOPPED ? TOOL_INTERRUPTED : TOOL_FAILED;
}

static int run_with_json(const tool_command *command, tool_call *call)
{
    tool_json json;
    tool_json_init(&json);
    tool_json_open(&json, NULL, '{');
    call->json = &json;
    const int code = run_checked(command, call);
    tool_json_close(&json, '}');
    const char *text = tool_json_text(&json);
    tool_puts(text != NULL ? text : "{}");
    tool_puts("\n");
    tool_json_deinit(&json);
    return code;
}

static int count_arguments(const char **arguments)
{
    int count = 0;
    while (arguments != NULL && arguments[count] != NULL)
        count++;
    return count;
}

/* "mw train digits.json --data 'my data'", as a shell takes it. */
static void write_command(int argc, const char **argv, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "mw");
    for (int i = 0; i < argc && used < size; i++) {
        const bool plain = argv[i][0] != '\0' && argv[i][strcspn(argv[i], " \t\n\"'\\$`*?[]{}()<>|&;!#~")] == '\0';
        used += (size_t)snprintf(out + used, size - used, plain ? " %s" : " '%s'", argv[i]);
    }
}

static int run_command(const tool_command *command, poptContext context, const char *typed)
{
    mw_error err = {0};
    tool_call call = {.arguments = poptGetArgs(context), .quiet = common.quiet != 0, .err = &err, .command = typed};
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
    struct poptOption options[] = {
        {NULL, '\0', POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)command->options, 0, NULL, NULL},
        {NULL, '\0', POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)tool_common_options, 0, NULL, NULL},
        POPT_TABLEEND,
    };
    char typed[4096];
    write_command(argc, argv, typed, sizeof typed);
    poptContext context = poptGetContext("mw", argc, argv, command->options != NULL ? options : options + 1, 0);
    const int rc = poptGetNextOpt(context);
    const int code = rc < -1 ? usage_error(command, poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(rc))
                             : run_command(command, context, typed);
    poptFreeContext(context);
    return code;
}

/* mw help, mw help COMMAND, mw help layers, mw --help, mw --version. */
static int answer_itself(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--version") == 0) {
        printf("mw %s\n", mw_version());
        return TOOL_DONE;
    }
    const bool asked = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
    const tool_command *command = asked && argc > 2 ? tool_find(argv[2]) : NULL;
    if (asked && argc > 2 && strcmp(argv[2], "layers") == 0)
        tool_print_layers();
    else if (command != NULL)
        tool_print_help(command);
    else
        tool_print_commands(asked ? stdout : stderr);
    if (!asked && argc > 1)
        tool_complain("there is no command \"%s\"", word);
    return asked ? TOOL_DONE : TOOL_USAGE;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a reader that leaves may not end a training */
    const tool_command *command = argc > 1 ? tool_find(argv[1]) : NULL;
    const int code =
        command != NULL ? parse_and_run(command, argc - 1, (const char **)(argv + 1)) : answer_itself(argc, argv);
    return tool_out_close(code);
}
