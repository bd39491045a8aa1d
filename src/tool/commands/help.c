/* Help, the man page and the completions, each from the table of commands and their options. */
#include "tool/tool.h"
#include "tool/train/network.h"

#include <string.h>

/* "--shape NAME=EXTENTS" with the short form in front. */
static void print_option(void *user, const tool_option *option)
{
    char left[80], range[64];
    FILE *out = user;
    snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter != '\0' ? "-" : " ",
             option->letter != '\0' ? option->letter : ' ', option->letter != '\0' ? ", " : "  ", option->name,
             option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    tool_option_range(range, sizeof range, option);
    fprintf(out, "  %-30s %s%s%s%s\n", left, option->text, range[0] != '\0' ? " [" : "", range,
            range[0] != '\0' ? "]" : "");
}

/* Paragraphs, broken between words at 78 columns. */
static void print_paragraphs(FILE *out, const char *text)
{
    int column = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " \n");
        if (column > 0 && column + 1 + (int)length > 78) {
            fputs("\n", out);
            column = 0;
        }
        column += fprintf(out, "%s%.*s", column > 0 ? " " : "", (int)length, text);
        text += length;
        if (strncmp(text, "\n\n", 2) == 0) {
            fputs("\n\n", out);
            column = 0;
        }
        text += strspn(text, " \n");
    }
    fputs("\n", out);
}

void tool_print_help(const tool_command *command)
{
    const char *strong = tool_style_of(stdout, TOOL_STRONG), *plain = tool_style_of(stdout, TOOL_PLAIN);
    printf("%susage:%s mw %s [options] %s\n\n", strong, plain, command->name, command->arguments);
    print_paragraphs(stdout, command->text);
    printf("\n%sOptions:%s\n", strong, plain);
    tool_each_option(command->options, print_option, stdout);
    tool_each_option(tool_common_options, print_option, stdout);
}

void tool_print_commands(FILE *out)
{
    fputs("usage: mw COMMAND [options] [arguments]\n\n", out);
    for (size_t i = 0; i < tool_command_count; i++)
        fprintf(out, "  %s%-11s%s %s\n", tool_style_of(out, TOOL_STRONG), tool_commands[i].name,
                tool_style_of(out, TOOL_PLAIN), tool_commands[i].summary);
    tool_print_topics(out);
}

void tool_print_layers(void)
{
    const char *text, *kind;
    for (size_t i = 0; (kind = network_kind_at(i, &text)) != NULL; i++)
        printf(text[0] != '\0' ? "%-16s %s\n" : "%s\n", kind, text);
}

/* "train  epochs  integer  1 .. 1000000  .."; tabs between. */
static void print_row(void *user, const tool_option *option)
{
    static const char *const kinds[] = {[TOOL_FLAG] = "flag", [TOOL_INTEGER] = "integer", [TOOL_NUMBER] = "number",
                                        [TOOL_TEXT] = "text", [TOOL_WORDS] = "words",     [TOOL_LIST] = "list"};
    char range[64];
    const char *command = user;
    printf("%s\t--%s\t%s\t%s\t%s\t%s\n", command, option->name, kinds[option->kind],
           tool_option_range(range, sizeof range, option), option->choices != NULL ? option->choices : "",
           option->needs != NULL ? option->needs : "");
}

void tool_print_options(void)
{
    for (size_t i = 0; i < tool_command_count; i++)
        tool_each_option(tool_commands[i].options, print_row, (void *)(uintptr_t)tool_commands[i].name);
}
