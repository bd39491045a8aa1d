/* mw completion: commands, options and their values in the words of shells, from the tables. */
#include "tool/commands/commands.h"
#include "tool/meant.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a value may be ---- */

/* The words of the first argument of some commands; those of others are files. */
static const struct {
    const char *command, *words;
} first_words[] = {{"completion", "bash, zsh, fish"}, {"new", TOOL_NEW_KINDS}};

/* "bash, zsh, fish" as words with blanks between. */
static void put_words(const char *list)
{
    for (const char *at = list; *at != '\0'; at++)
        if (*at != ',')
            tool_print("%c", *at);
}

static const char *words_of(const char *command)
{
    for (size_t i = 0; i < sizeof first_words / sizeof first_words[0]; i++)
        if (strcmp(first_words[i].command, command) == 0)
            return first_words[i].words;
    return NULL;
}

/* Whether the value of an option is a path. */
static bool takes_path(const tool_option *option)
{
    static const char *const paths[] = {"FILE", "PATH", "FOLDER", "RECIPE"};
    for (size_t i = 0; option->argument != NULL && i < sizeof paths / sizeof paths[0]; i++)
        if (strcmp(option->argument, paths[i]) == 0)
            return true;
    return false;
}

/* Quoted for zsh and fish: an apostrophe ends the string, stands escaped, and begins it again. */
static void put_quoted(const char *text)
{
    tool_puts("'");
    for (; *text != '\0'; text++)
        tool_print(*text == '\'' ? "'\\''" : "%c", *text);
    tool_puts("'");
}

/* The topics of mw help, one after the other. */
static void put_topics(void)
{
    const char *name;
    for (size_t i = 0; (name = tool_topic_at(i)) != NULL; i++)
        tool_print(" %s", name);
}

static void put_commands(void)
{
    for (size_t i = 0; i < tool_command_count; i++)
        tool_print("%s%s", i > 0 ? " " : "", tool_commands[i].name);
}

/* ---- bash ---- */

static void put_long(void *user, const tool_option *option)
{
    (void)user;
    tool_print(" --%s", option->name);
}

static const char *bash_command;

/* "    train--loss|train-l) values="..": what stands behind an option; a number has none. */
static void put_bash_value(void *user, const tool_option *option)
{
    (void)user;
    if (option->kind == TOOL_FLAG || takes_path(option))
        return;
    tool_print("    %s--%s", bash_command, option->name);
    if (option->letter != '\0')
        tool_print("|%s-%c", bash_command, option->letter);
    tool_puts(") COMPREPLY=(");
    if (option->choices != NULL) {
        tool_puts("$(compgen -W \"");
        put_words(option->choices);
        tool_puts("\" -- \"$word\")");
    }
    tool_puts("); return ;;\n");
}

static void put_bash_values(void)
{
    tool_puts("    case ${COMP_WORDS[1]}$before in\n");
    for (size_t i = 0; i < tool_command_count; i++) {
        bash_command = tool_commands[i].name;
        tool_each_option(tool_commands[i].options, put_bash_value, NULL);
    }
    tool_puts("    esac\n");
}

static void put_bash_case(const tool_command *command)
{
    tool_print("    %s) options=\"", command->name);
    tool_each_option(command->options, put_long, NULL);
    tool_each_option(tool_common_options, put_long, NULL);
    tool_puts("\"");
    if (words_of(command->name) != NULL) {
        tool_puts("; [ \"$COMP_CWORD\" -eq 2 ] && words=\"");
        put_words(words_of(command->name));
        tool_puts("\"");
    }
    tool_puts(" ;;\n");
}

static void put_bash(void)
{
    tool_puts("_mw() {\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words=\n"
              "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
              "    [ \"$word\" = = ] && before=${COMP_WORDS[COMP_CWORD-1]} && word=\n"
              "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    put_commands();
    tool_puts(" help\" -- \"$word\"))\n        return\n    fi\n");
    put_bash_values();
    tool_puts("    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < tool_command_count; i++)
        put_bash_case(&tool_commands[i]);
    tool_puts("    help) words=\"");
    put_commands();
    put_topics();
    tool_puts("\" ;;\n    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
              "    *) if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
              "       else COMPREPLY=($(compgen -f -- \"$word\")); fi ;;\n    esac\n}\n"
              "complete -o filenames -F _mw mw\n");
}

/* ---- fish ---- */

static const char *fish_command;

static void put_fish_option(void *user, const tool_option *option)
{
    (void)user;
    tool_print("complete -c mw -n '__fish_seen_subcommand_from %s' -l %s%s", fish_command, option->name,
               option->argument == NULL ? ""
               : takes_path(option)     ? " -r"
                                        : " -x");
    if (option->letter != '\0')
        tool_print(" -s %c", option->letter);
    if (option->choices != NULL) {
        tool_puts(" -a '");
        put_words(option->choices);
        tool_puts("'");
    }
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
        if (words_of(fish_command) == NULL)
            continue;
        tool_print("complete -c mw -n '__fish_seen_subcommand_from %s' -a '", fish_command);
        put_words(words_of(fish_command));
        tool_puts("'\n");
    }
    tool_puts("complete -c mw -n '__fish_seen_subcommand_from help' -f -a '");
    put_commands();
    put_topics();
    tool_puts("'\n");
}

/* ---- zsh ---- */

/* In a description a colon would end it, and a bracket too. */
static void put_zsh_text(mw__text *out, const char *text)
{
    for (; *text != '\0'; text++)
        mw__text_printf(out, "%c", *text == ':' ? ',' : *text == '[' ? '(' : *text == ']' ? ')' : *text);
}

/* '--loss[what is minimized]:NAME:(mse l1)'. */
static void put_zsh_option(void *user, const tool_option *option)
{
    mw__text text;
    (void)user;
    mw__text_init(&text, mw__allocator_or_default(NULL));
    mw__text_printf(&text, "--%s[", option->name);
    put_zsh_text(&text, option->text);
    mw__text_puts(&text, "]");
    if (option->argument != NULL)
        mw__text_printf(&text, ":%s:%s", option->argument, takes_path(option) ? "_files" : "");
    if (option->choices != NULL) {
        mw__text_puts(&text, "(");
        for (const char *at = option->choices; *at != '\0'; at++)
            if (*at != ',')
                mw__text_append(&text, at, 1);
        mw__text_puts(&text, ")");
    }
    tool_puts(" ");
    put_quoted(text.failed ? "" : text.data);
    mw__text_deinit(&text);
}

static void put_zsh_case(const tool_command *command)
{
    tool_print("    %s) _arguments ", command->name);
    if (words_of(command->name) != NULL) {
        tool_puts("'2:word:(");
        put_words(words_of(command->name));
        tool_puts(")' ");
    }
    tool_puts("'*:file:_files'");
    tool_each_option(command->options, put_zsh_option, NULL);
    tool_each_option(tool_common_options, put_zsh_option, NULL);
    tool_puts(" ;;\n");
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
    tool_puts("\n            'help:what a command does, or what a recipe may name'");
    tool_puts(")\n        _describe command commands\n        return\n    fi\n    case $words[2] in\n");
    for (size_t i = 0; i < tool_command_count; i++)
        put_zsh_case(&tool_commands[i]);
    tool_puts("    help) compadd ");
    put_commands();
    put_topics();
    tool_puts(" ;;\n    esac\n}\ncompdef _mw mw\n");
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
