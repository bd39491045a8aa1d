/* libFuzzer target: what is printed of a program that parses must parse, and print the same again. */
#include <millwright/mil.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print_of(const char *text, size_t size)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, size, NULL, NULL, &err);
    char *printed = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    mw_graph_destroy(graph);
    return printed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *once = print_of((const char *)data, size);
    if (once != NULL) {
        char *twice = print_of(once, strlen(once));
        if (twice == NULL || strcmp(once, twice) != 0)
            __builtin_trap();
        mw_string_free(twice);
    }
    mw_string_free(once);
    return 0;
}
