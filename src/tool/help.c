/* Help, the man page and the completions, each from the table of commands and their options. */
#include "tool/network.h"
#include "tool/tool.h"

#include <string.h>

static struct poptOption no_options[] = {POPT_TABLEEND};

void tool_each_option(const struct poptOption *options, void (*visit)(void *user, const struct poptOption *option),
                      void *user)
{
    options = options != NULL ? options : no_options;
    for (; options->longName != NULL || options->shortName != '\0' || options->arg != NULL; options++) {
        if ((options->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE)
            tool_each_option(options->arg, visit, user);
        else if (options->longName != NULL)
            visit(user, options);
    }
}

/* "--shape NAME=EXTENTS" with the short form in front. */
static void print_option(void *user, const struct poptOption *option)
{
    char left[80];
    FILE *out = user;
    snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->shortName != '\0' ? "-" : " ",
             option->shortName != '\0' ? option->shortName : ' ', option->shortName != '\0' ? ", " : "  ",
             option->longName, option->argDescrip != NULL ? " " : "",
             option->argDescrip != NULL ? option->argDescrip : "");
    fprintf(out, "  %-30s %s\n", left, option->descrip != NULL ? option->descrip : "");
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
    printf("usage: mw %s [options] %s\n\n", command->name, command->arguments);
    print_paragraphs(stdout, command->text);
    puts("\nOptions:");
    tool_each_option(command->options, print_option, stdout);
    tool_each_option(tool_common_options, print_option, stdout);
}

void tool_print_commands(FILE *out)
{
    fputs("usage: mw COMMAND [options] [arguments]\n\n", out);
    for (size_t i = 0; i < tool_command_count; i++)
        fprintf(out, "  %-11s %s\n", tool_commands[i].name, tool_commands[i].summary);
    fputs("\nmw COMMAND --help says more of each.\n", out);
}

void tool_print_layers(void)
{
    const char *text, *kind;
    for (size_t i = 0; (kind = network_kind_at(i, &text)) != NULL; i++)
        printf(text[0] != '\0' ? "%-16s %s\n" : "%s\n", kind, text);
}
