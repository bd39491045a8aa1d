/* Tables by the settings of a recipe. */
#include "tool/train/data_table.h"

#include "tool/fields.h"

#include "base/text/string.h"

#include <stdlib.h>
#include <string.h>

/* ---- how it is written ---- */

/* One character of those that there are; NUL = it is found. */
static char read_mark(config *c, const config_node *settings, const char *key, const char *marks)
{
    const char *said = config_string(c, settings, key, NULL);
    if (said == NULL || c->err->status != MW_OK)
        return '\0';
    if (strlen(said) != 1 || strchr(marks, said[0]) == NULL)
        config_fail(c, config_get(settings, key), "\"%s\" is \"%.20s\", not one of %s", key, said,
                    strchr(marks, ';') != NULL ? "\",\", \";\", \"|\" and a tab" : "\".\" and \",\"");
    return said[0];
}

bool data_table_form(config *c, const config_node *settings, const char *path, mw_table_form *out)
{
    *out = (mw_table_form){0};
    out->encoding = (mw_text_encoding)field_choice(c, settings, "data.encoding", MW_ENCODING_FOUND);
    if (mw__string_ends(path, ".csv") || mw__string_ends(path, ".tsv")) {
        out->separator = read_mark(c, settings, "separator", ",;|\t");
        out->decimal = read_mark(c, settings, "decimal", ".,");
        out->no_header = !field_bool(c, settings, "data.header", true);
    }
    return c->err->status == MW_OK;
}

/* ---- fields ---- */

/* What is said of fields. */
typedef struct listing {
    mw_field_setting *list; /* [count], owned */
    size_t count;
} listing;

static mw_field_setting *add_setting(listing *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->list[i].name, name) == 0)
            return &l->list[i];
    l->list[l->count].name = name;
    return &l->list[l->count++];
}

static bool list_inputs(config *c, listing *l, const config_node *inputs)
{
    const bool is_list = inputs == NULL || inputs->kind == CONFIG_ARRAY;
    if (!is_list)
        config_fail(c, inputs, "\"inputs\" is a list of names of fields");
    for (const config_node *node = is_list && inputs != NULL ? inputs->first : NULL; node != NULL; node = node->next) {
        if (node->kind == CONFIG_STRING)
            add_setting(l, node->text);
        else
            config_fail(c, node, "\"inputs\" is a list of names of fields");
    }
    return c->err->status == MW_OK;
}

/* The kinds in the order of mw_field_kind. */
static const char *const kinds[] = {"found",   "number", "category", "id",      "date",
                                    "boolean", "text",   "sequence", "ignored", NULL};

static void take_kind(config *c, const config_node *node, const char *said, mw_field_setting *out)
{
    for (int i = 0; kinds[i] != NULL; i++) {
        if (strcmp(kinds[i], said) == 0) {
            out->kind = (mw_field_kind)i;
            return;
        }
    }
    config_fail(c, node,
                "\"%.60s\" is no kind of a field: number, category, id, date, boolean, text, sequence, ignored", said);
}

/* Without asking for it: it may have no effect. */
static bool has_member(const config_node *object, const char *key)
{
    for (const config_node *node = object->first; node != NULL; node = node->next)
        if (strcmp(node->key, key) == 0)
            return true;
    return false;
}

/* {"kind": .., "missing": .., "constant": .., "width": ..}; the kind is a number's where its filling is said. */
static void take_details(config *c, const config_node *node, mw_field_setting *out)
{
    static const char *const rules[] = {"mean", "median", "constant", NULL};
    const bool has_constant = has_member(node, "constant"), fills = has_constant || has_member(node, "missing");
    take_kind(c, node, config_string(c, node, "kind", fills ? "number" : "found"), out);
    if (out->kind == MW_FIELD_NUMBER)
        out->missing = (mw_missing_rule)config_choice(c, node, "missing", rules,
                                                      has_constant ? MW_MISSING_CONSTANT : MW_MISSING_MEAN);
    if (out->kind == MW_FIELD_NUMBER && out->missing == MW_MISSING_CONSTANT)
        out->constant = config_number(c, node, "constant", 0, -1e30, 1e30);
    if (out->kind == MW_FIELD_SEQUENCE) {
        static const char *const elements[] = {"found", "words", "values", NULL};
        out->length = config_integer(c, node, "length", 0, 1, 4096);
        out->elements = (mw_sequence_elements)config_choice(c, node, "elements", elements, MW_SEQUENCE_FOUND);
    }
    if (out->kind == MW_FIELD_CATEGORY || out->kind == MW_FIELD_ID || out->kind == MW_FIELD_TEXT ||
        out->kind == MW_FIELD_SEQUENCE)
        out->width = config_integer(c, node, "width", 0, 1, 1024);
}

static bool list_fields(config *c, listing *l, const config_node *fields)
{
    for (config_node *node = fields != NULL ? fields->first : NULL; node != NULL; node = node->next) {
        mw_field_setting *setting = add_setting(l, node->key);
        node->used = true;
        if (node->kind == CONFIG_STRING)
            take_kind(c, node, node->text, setting);
        else if (node->kind == CONFIG_OBJECT)
            take_details(c, node, setting);
        else
            config_fail(c, node, "a field has a kind, as \"number\", or {\"kind\": .., ..}");
    }
    return c->err->status == MW_OK;
}

/* ---- the whole ---- */

/* {"length": 24, "horizon": 6, ..}: no window without it. */
static void take_window(config *c, const config_node *settings, mw_table_window *out)
{
    const config_node *window = field_object(c, settings, "data.window");
    if (window == NULL)
        return;
    out->length = field_integer(c, window, "window.length", 0);
    if (out->length == 0)
        config_fail(c, window, "a window needs a \"length\", the rows that it has");
    out->stride = field_integer(c, window, "window.stride", 1);
    out->horizon = field_integer(c, window, "window.horizon", 1);
    if (out->horizon > 0)
        out->gap = field_integer(c, window, "window.gap", 0);
    out->series = field_text(c, window, "window.series", NULL);
}

/* Rows of windows are not dealt out one by one. */
static void check_window_split(config *c, const config_node *settings, const mw_table_fit_options *o)
{
    if (o->window.length > 0 && (o->split == MW_SPLIT_RANDOM || o->split == MW_SPLIT_STRATIFIED))
        config_fail(c, config_get(settings, "split"),
                    "rows of windows follow each other and are not dealt out one by one: \"last\", \"time\" or "
                    "\"group\"");
}

static void take_split(config *c, const config_node *settings, const data_table_request *r, mw_table_fit_options *out)
{
    const double said = field_number(c, settings, "data.validation", r->share);
    out->validation = r->whole ? 0 : said;
    out->folds = r->folds;
    out->fold = r->fold;
    const mw_split_rule otherwise = out->window.length > 0 ? MW_SPLIT_LAST : MW_SPLIT_RANDOM;
    out->split = (mw_split_rule)field_choice(c, settings, "data.split", (int)otherwise);
    check_window_split(c, settings, out);
    if (out->split == MW_SPLIT_GROUP || out->split == MW_SPLIT_TIME || out->split == MW_SPLIT_LAST) {
        out->split_field = field_text(c, settings, "data.split_field", NULL);
        if (out->split_field == NULL && out->split != MW_SPLIT_LAST)
            config_fail(c, config_get(settings, "split"), "a split by group or time needs \"split_field\"");
    }
    if (out->split != MW_SPLIT_TIME && out->split != MW_SPLIT_LAST)
        out->seed = (uint64_t)field_integer(c, settings, "data.split_seed", 1);
}

/* A name, or a list of them: several are values, or labels that are true or no each. */
static void take_targets(config *c, const config_node *settings, const data_table_request *r, mw_table_fit_options *out,
                         const char **more)
{
    const config_node *node = config_get(settings, "target");
    out->target_kind = r->target;
    if (node == NULL || node->kind != CONFIG_ARRAY) {
        out->target = field_text(c, settings, "data.target", NULL);
        return;
    }
    for (const config_node *name = node->first; name != NULL; name = name->next) {
        if (name->kind != CONFIG_STRING || name->text[0] == '\0')
            config_fail(c, name, "\"target\" is the name of a field, or a list of such");
        else if (out->target == NULL)
            out->target = name->text;
        else
            more[out->more_target_count++] = name->text;
    }
    if (out->target == NULL)
        config_fail(c, node, "\"target\" is the name of a field, or a list of such");
    if (out->more_target_count > 0 && r->target == MW_TARGET_CLASS)
        config_fail(c, node, "several targets are values or labels: \"loss\" mse or binary_cross_entropy");
    out->more_targets = out->more_target_count > 0 ? more : NULL;
    if (out->more_target_count > 0 && r->as_it_is)
        out->target_kind = MW_TARGET_LABELS;
}

mw_table_encoder *data_table_fit(config *c, const config_node *settings, const data_table_request *request,
                                 mw_dataset **out_training, mw_dataset **out_validation)
{
    const config_node *inputs = config_get(settings, "inputs"), *fields = field_object(c, settings, "data.fields");
    mw_table_fit_options options = mw_table_fit_defaults(request->path, NULL);
    listing said = {.list = calloc(config_count(inputs) + config_count(fields) + 1, sizeof *said.list)};
    *out_training = *out_validation = NULL;
    const char **more = calloc(config_count(config_get(settings, "target")) + 1, sizeof *more);
    if (more != NULL)
        take_targets(c, settings, request, &options, more);
    if (request->as_it_is)
        options.target_scale = MW_TARGET_AS_IT_IS;
    else if (request->target != MW_TARGET_CLASS)
        options.target_scale = (mw_target_scale)field_choice(c, settings, "data.target_scale", MW_TARGET_STANDARD);
    take_window(c, settings, &options.window);
    take_split(c, settings, request, &options);
    options.only_fields = inputs != NULL;
    mw_table_encoder *encoder = NULL;
    if (said.list == NULL || more == NULL)
        c->err->status = MW_ERROR_MEMORY;
    else if (data_table_form(c, settings, request->path, &options.form) && list_inputs(c, &said, inputs) &&
             list_fields(c, &said, fields)) {
        options.fields = said.list;
        options.field_count = said.count;
        encoder = mw_table_encoder_fit(&options, out_training, out_validation, c->err);
    }
    free(more);
    free(said.list);
    return encoder;
}
