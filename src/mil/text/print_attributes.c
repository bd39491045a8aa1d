/* Attributes of programs and functions, and what a program says of itself, which is one of them. */
#include "base/memory/map.h"
#include "mil/text/print.h"
#include <string.h>

/* Prints the entry with the smallest name after `last`; NULL when there is none. Lists are short, so this is a sort. */
static const mw__attribute *next_attribute(const mw__attribute *attributes, size_t count, const char *last)
{
    const mw__attribute *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = attributes[i].name;
        if ((last == NULL || strcmp(name, last) > 0) && (best == NULL || strcmp(name, best->name) < 0))
            best = &attributes[i];
    }
    return best;
}

/* ---- what the program says of itself ---- */

static void print_pair(mw__printer *printer, const char *before, mw_text_pair pair)
{
    mw__text_puts(printer->out, before);
    mw__print_quoted(printer->out, pair.key);
    mw__text_puts(printer->out, ", ");
    mw__print_quoted(printer->out, pair.value);
    mw__text_puts(printer->out, "}");
}

/* Entries that are there, with what the description has instead, then the rest of that. */
static mw_status print_entries(mw__printer *printer, const mw__pairs *said, mw__map *keys)
{
    static const mw_text_pair own[] = {{"coremlc-component-MIL", "3520.4.1"}, {"coremlc-version", "3520.5.1"}};
    const mw__payload *info = mw__build_info_find(printer->graph);
    const char *before = "{";
    mw_text_pair there;
    for (size_t i = 0; i < said->count; i++)
        MW_TRY(mw__map_set(keys, said->items[i].key, &said->items[i], printer->err));
    for (size_t i = 0; info != NULL ? mw__build_info_at(info, i, &there) : i < 2; i++, before = ", {") {
        there = info != NULL ? there : own[i];
        mw_text_pair *instead = mw__map_get(keys, there.key);
        if (instead != NULL && instead->value != NULL)
            there.value = instead->value;
        if (instead != NULL)
            instead->value = NULL; /* it is printed */
        print_pair(printer, before, there);
    }
    for (size_t i = 0; i < said->count; i++) {
        if (said->items[i].value == NULL)
            continue;
        print_pair(printer, before, said->items[i]);
        before = ", {";
    }
    return MW_OK;
}

static mw_status print_build_info(mw__printer *printer)
{
    mw__map keys;
    mw__map_init(&keys, printer->graph->allocator);
    mw__text_puts(printer->out, printer->style == MW__STYLE_OLD ? "dict<tensor<string, []>, tensor<string, []>>({"
                                                                : "dict<string, string>({");
    const mw_status status = print_entries(printer, &printer->said, &keys);
    mw__text_puts(printer->out, "})");
    mw__map_deinit(&keys);
    return status;
}

/* ---- lists of attributes ---- */

mw_status mw__print_attributes(mw__printer *printer, const mw__attribute *attributes, size_t count)
{
    const char *before = "[";
    const mw__attribute *attribute = next_attribute(attributes, count, NULL);
    if (attribute == NULL)
        return MW_OK;
    for (; attribute != NULL; attribute = next_attribute(attributes, count, attribute->name)) {
        mw__text_puts(printer->out, before);
        mw__text_puts(printer->out, attribute->name);
        mw__text_puts(printer->out, " = ");
        MW_TRY(attribute->value != NULL ? mw__print_literal(printer, attribute->value) : print_build_info(printer));
        before = ", ";
    }
    mw__text_puts(printer->out, "]");
    return MW_OK;
}

/* What the options say of the program; else what a file of another format did. That of a text is its attribute. */
static mw_status list_said(mw__printer *printer)
{
    const mw_description *description = printer->options->description;
    if (description == NULL && printer->graph->pair_count > 0)
        MW_TRY(mw__build_info_describe(printer->graph, printer->arena, &description, printer->err));
    return mw__build_info_list(description, printer->arena, &printer->said, printer->err);
}

mw_status mw__print_program_attributes(mw__printer *printer)
{
    const mw_graph *graph = printer->graph;
    size_t count = 0;
    mw__attribute *list = mw__arena_alloc(printer->arena, graph->attribute_count + 1, sizeof *list, printer->err);
    MW_TRY(list_said(printer));
    if (list == NULL)
        return MW_ERROR_MEMORY;
    const bool makes = printer->said.count > 0 || (printer->built && graph->attribute_count == 0);
    for (size_t i = 0; i < graph->attribute_count; i++)
        if (!makes || strcmp(graph->attributes[i].name, MW__BUILD_INFO) != 0)
            list[count++] = graph->attributes[i];
    if (makes)
        list[count++].name = MW__BUILD_INFO;
    MW_TRY(mw__print_attributes(printer, list, count));
    mw__text_puts(printer->out, count > 0 ? "\n" : "");
    return MW_OK;
}
