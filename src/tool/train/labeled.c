/* Settings of files with labels to options of the library. */
#include "tool/train/labeled.h"

#include "tool/fields.h"
#include "tool/tool.h"

#include "base/text/string.h"

#include <stdlib.h>
#include <string.h>

mw_broken labeled_read_broken(config *c, const config_node *settings)
{
    const char *said = field_text(c, settings, "data.broken", "refuse");
    if (strcmp(said, "skip") == 0)
        return MW_BROKEN_SKIP;
    if (strcmp(said, "late") == 0)
        return MW_BROKEN_LATE;
    if (strcmp(said, "refuse") != 0 && c->err->status == MW_OK)
        config_fail(c, config_get(settings, "broken"), "\"broken\" is \"%.20s\", none of refuse, skip, late", said);
    return MW_BROKEN_REFUSE;
}

void labeled_say_broken(void *told, const char *name, const char *reason)
{
    enum { SAID_MAX = 20 };
    labeled_told *t = told;
    (void)name;
    t->count++;
    if (t->count <= SAID_MAX)
        tool_complain("%s%s", reason, t->is_skipping ? "; it is left out" : "");
    if (t->count == SAID_MAX)
        tool_complain("and maybe more like these");
}

mw_label_table labeled_read_table(config *c, const config_node *settings, bool has_classes)
{
    mw_label_table table = mw_image_defaults().table;
    const char *between = "";
    table.path = field_text(c, settings, "data.table", NULL);
    if (table.path == NULL)
        return table;
    table.separator = mw__string_ends(table.path, ".tsv") ? '\t' : ',';
    table.name = field_text(c, settings, "data.name", "name");
    table.label = field_text(c, settings, "data.label", "label");
    const config_node *said = config_get(settings, "label_separator");
    if (said != NULL)
        between = field_text(c, settings, "data.label_separator", "|");
    table.label_separator = between[0];
    const bool several = between[0] != '\0';
    if (c->err->status == MW_OK && several && strlen(between) != 1)
        config_fail(c, said, "\"label_separator\" is \"%.20s\", not one character", between);
    else if (c->err->status == MW_OK && several && has_classes)
        config_fail(c, said, "several labels of a file want \"loss\": \"binary_cross_entropy\"");
    return table;
}

void labeled_read_test_table(config *c, const config_node *settings, const char *path, mw_label_table *table)
{
    table->path = field_text(c, settings, "data.test_table", NULL);
    if (table->path == NULL && c->err->status == MW_OK)
        config_fail(c, config_get(settings, "table"), "the test set \"%.200s\" wants a table, too: \"test_table\"",
                    path);
}

const char **labeled_class_names(const mw_dataset *like, size_t *out_count, mw_error *err)
{
    const mw_classes classes = mw_dataset_classes(like, "y");
    *out_count = classes.count;
    const char **names = *out_count > 0 ? calloc(*out_count, sizeof *names) : NULL;
    if (*out_count > 0 && names == NULL)
        *err = (mw_error){.status = MW_ERROR_MEMORY, .message = "there is no memory for the names of classes"};
    for (size_t i = 0; names != NULL && i < *out_count; i++)
        names[i] = classes.names[i];
    return names;
}
