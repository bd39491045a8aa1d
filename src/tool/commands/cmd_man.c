/* mw man, mw completion: the table in the words of man and of shells. */
#include "tool/commands/commands.h"
#include "tool/meant.h"

#include <string.h>

/* Text of troff: a backslash is written \e, a hyphen \-, and no line begins with a dot or an apostrophe. */
static void put_troff(const char *text)
{
    bool start = true;
    for (; *text != '\0'; text++) {
        if (start && (*text == '.' || *text == '\''))
            tool_puts("\\&");
        if (*text == '\\' || *text == '-')
            tool_print("\\%c", *text == '-' ? '-' : 'e');
        else if (strncmp(text, "\n\n", 2) == 0)
            tool_puts("\n.PP");
        else
            tool_print("%c", *text);
        start = *text == '\n';
    }
    tool_puts("\n");
}

static void put_option(void *user, const tool_option *option)
{
    (void)user;
    tool_puts(".TP\n");
    if (option->letter != '\0')
        tool_print("\\fB\\-%c\\fR, ", option->letter);
    tool_puts("\\fB\\-\\-");
    for (const char *at = option->name; *at != '\0'; at++)
        tool_print(*at == '-' ? "\\-" : "%c", *at);
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

static const char before[] =
    ".SH NAME\nmw \\- tensor graphs, models and training from the shell\n.SH SYNOPSIS\n.B mw\n.I command\n"
    "[options] [arguments]\n.SH DESCRIPTION\nmw shows, converts, runs, checks and trains models with the library "
    "Millwright. Each command is described below.\n.SH OPTIONS\nOf every command:\n";
static const char behind[] =
    ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nan error: one sentence on standard error; with \\-\\-json also \"error\" "
    "in "
    "the answer\n.TP\n2\na wrong option or argument\n.TP\n3\nit was done, and the answer is no: differs, refused, not "
    "passed\n.TP\n130, 143\nstopped by SIGINT or SIGTERM, after saving\n.TP\n141\nnobody reads standard output any "
    "more; "
    "what was asked for besides is done\n";

int tool_man(const tool_call *call)
{
    (void)call;
    tool_print(".TH MW 1 \"\" \"Millwright %s\" \"\"\n%s", mw_version(), before);
    tool_each_option(tool_common_options, put_option, NULL);
    tool_puts(".SH COMMANDS\n");
    for (size_t i = 0; i < tool_command_count; i++)
        put_command(&tool_commands[i]);
    tool_puts(behind);
    return TOOL_DONE;
}

/* ---- completion ---- */

static void put_long(void *user, const tool_option *option)
{
    (void)user;
    tool_print(" --%s", option->name);
}

static void put_bash(void)
{
    tool_puts("_mw() {\n    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
              "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < tool_command_count; i++)
        tool_print("%s%s", i > 0 ? " " : "", tool_commands[i].name);
    tool_puts("\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < tool_command_count; i++) {
        tool_print("    %s) options=\"", tool_commands[i].name);
        tool_each_option(tool_commands[i].options, put_long, NULL);
        tool_each_option(tool_common_options, put_long, NULL);
        tool_puts("\" ;;\n");
    }
    tool_puts("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
              "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
              "complete -o filenames -F _mw mw\n");
}

/* Quoted for zsh and fish: an apostrophe ends the string, stands escaped, and begins it again. */
static void put_quoted(const char *text)
{
    tool_puts("'");
    for (; *text != '\0'; text++)
        tool_print(*text == '\'' ? "'\\''" : "%c", *text);
    tool_puts("'");
}

static const char *fish_command;

static void put_fish_option(void *user, const tool_option *option)
{
    (void)user;
    tool_print("complete -c mw -n '__fish_seen_subcommand_from %s' -l %s%s", fish_command, option->name,
               option->argument != NULL ? " -r" : "");
    if (option->letter != '\0')
        tool_print(" -s %c", option->letter);
    tool_puts(" -d ");
    put_quoted(option->text);
    tool_puts("\n");
}

static void put_fish(void)
{
    for (size_t i = 0; i < tool_command_count; i++) {
        fish_command = tool_commands[i].name;
        tool_print("complete -c mw -n __fish_use_subcommand -a %s -d ", fish_command);
        put_quoted(tool_commands[i].summary);
        tool_puts("\n");
        tool_each_option(tool_commands[i].options, put_fish_option, NULL);
        tool_each_option(tool_common_options, put_fish_option, NULL);
    }
}

static void put_zsh_option(void *user, const tool_option *option)
{
    (void)user;
    tool_puts(" ");
    char text[400];
    snprintf(text, sizeof text, "--%s[%s]%s%s:", option->name, option->text, option->argument != NULL ? ":" : "",
             option->argument != NULL ? option->argument : "");
    for (char *at = text + 3; *at != '\0' && *at != '\1'; at++)
        *at = *at == ':' && at[1] != '\0' && at > strchr(text, '[') && at < strrchr(text, ']') ? ',' : *at;
    if (option->argument == NULL)
        text[strlen(text) - 1] = '\0';
    else
        strncat(text, "_files", sizeof text - strlen(text) - 1);
    put_quoted(text);
}

static void put_zsh(void)
{
    tool_puts("#compdef mw\n_mw() {\n    if (( CURRENT == 2 )); then\n        local -a commands\n        commands=(");
    for (size_t i = 0; i < tool_command_count; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s:%s", tool_commands[i].name, tool_commands[i].summary);
        tool_puts("\n            ");
        put_quoted(text);
    }
    tool_puts(")\n        _describe command commands\n        return\n    fi\n    case $words[2] in\n");
    for (size_t i = 0; i < tool_command_count; i++) {
        tool_print("    %s) _arguments '*:file:_files'", tool_commands[i].name);
        tool_each_option(tool_commands[i].options, put_zsh_option, NULL);
        tool_each_option(tool_common_options, put_zsh_option, NULL);
        tool_puts(" ;;\n");
    }
    tool_puts("    esac\n}\ncompdef _mw mw\n");
}

int tool_completion(const tool_call *call)
{
    static const struct {
        const char *shell;
        void (*put)(void);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(call->arguments[0], shells[i].shell) == 0) {
            shells[i].put();
            return TOOL_DONE;
        }
    }
    char hint[MEANT_BYTES];
    tool_complain("completion is for bash, zsh and fish, not for \"%.60s\"%s", call->arguments[0],
                  meant_listed(hint, call->arguments[0], "bash, zsh, fish"));
    return TOOL_USAGE;
}
