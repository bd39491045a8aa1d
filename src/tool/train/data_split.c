/* What is kept out for validation of data that no encoder divides: at random, of each class alike, or whole groups that
 * a field of a table of files says. */
#include "tool/train/data_opening.h"

#include "tool/fields.h"

#include <stdlib.h>
#include <string.h>

static bool deal_at_random(opening *o, mw_dataset *all, double share, mw_dataset *parts[2])
{
    o->counts[0] = -1;
    o->counts[1] = (int64_t)((double)mw_dataset_examples(all) * share);
    o->part_count = o->counts[1] == 0 ? 1 : 2;
    return mw_dataset_split(all, o->counts, o->part_count, DATA_SPLIT_SEED, parts, o->err) == MW_OK;
}

/* The table that lists the files, if one does. */
static const mw_label_table *table_of(const opening *o)
{
    const mw_label_table *table = o->out->is_sound ? &o->sounds.options.table : &o->pictures.options.table;
    return (o->out->is_sound || o->pictures.is_folder) && table->path != NULL ? table : NULL;
}

/* o->groups by the words of the field, a row for each example. */
static bool read_groups(opening *o, const mw_dataset *all)
{
    const mw_label_table *table = table_of(o);
    const char *field = field_text(o->c, o->settings, "data.split_field", NULL);
    const config_node *said = config_get(o->settings, "split");
    if (table == NULL || field == NULL) {
        if (o->err->status == MW_OK)
            config_fail(o->c, said, "\"split\": \"group\" wants a \"table\" that lists files, and its \"split_field\"");
        return false;
    }
    const mw_table_column column = {
        .name = field, .dtype = MW_I64, .fields = &field, .field_count = 1, .classes = true};
    mw_table_options options = mw_table_defaults(&column, 1);
    options.separator = table->separator;
    mw_dataset *groups = mw_dataset_open_csv(table->path, &options, o->err);
    const int64_t count = mw_dataset_examples(groups);
    if (groups != NULL && count == mw_dataset_examples(all)) {
        o->groups = malloc((size_t)count * sizeof *o->groups);
        if (o->groups != NULL)
            memcpy(o->groups, mw_dataset_column_at(groups, 0)->data, (size_t)count * sizeof *o->groups);
    } else if (groups != NULL)
        config_fail(o->c, said, "%lld files of \"%.200s\" were left out: which groups the others are of is not known",
                    (long long)(count - mw_dataset_examples(all)), table->path);
    mw_dataset_destroy(groups);
    return o->groups != NULL || data_fail(o->err, "there is no memory for %lld groups", (long long)count);
}

static bool divide_set(opening *o, mw_dataset *all, double share, mw_split_rule rule, mw_dataset *parts[2])
{
    o->divide = mw_divide_defaults(share);
    o->divide.seed = (uint64_t)field_integer(o->c, o->settings, "data.split_seed", DATA_SPLIT_SEED);
    if (rule == MW_SPLIT_GROUP && !read_groups(o, all))
        return false;
    o->divide.groups = o->groups;
    o->divide.label = rule == MW_SPLIT_STRATIFIED ? "y" : NULL;
    return mw_dataset_divide(all, &o->divide, parts, o->err) == MW_OK;
}

/* MW_SPLIT_RANDOM where nothing is said. */
static mw_split_rule read_rule(opening *o)
{
    if (o->out->encoder != NULL) /* which has read it */
        return MW_SPLIT_RANDOM;
    const mw_split_rule rule = (mw_split_rule)field_choice(o->c, o->settings, "data.split", MW_SPLIT_RANDOM);
    const config_node *said = config_get(o->settings, "split");
    if (rule > MW_SPLIT_GROUP && o->err->status == MW_OK)
        config_fail(o->c, said, "\"split\": \"time\" and \"last\" are of tables");
    else if (rule == MW_SPLIT_STRATIFIED && !o->request->has_classes && o->err->status == MW_OK)
        config_fail(o->c, said,
                    "\"split\": \"stratified\" wants a class for each example: \"loss\": \"cross_entropy\"");
    return rule;
}

bool data_split_validation(opening *o, mw_dataset *all)
{
    data_parts *d = o->out;
    const double said = field_number(o->c, o->settings, "data.validation", d->test != NULL ? 0 : 0.1);
    const double share = o->request->whole ? 0 : said;
    if (o->request->folds > 0)
        return data_split_folds(o, all);
    const mw_split_rule rule = share > 0 ? read_rule(o) : MW_SPLIT_RANDOM;
    mw_dataset *parts[2] = {NULL, NULL};
    if (o->err->status != MW_OK)
        return false;
    const bool good =
        rule == MW_SPLIT_RANDOM ? deal_at_random(o, all, share, parts) : divide_set(o, all, share, rule, parts);
    d->plain = parts[0];
    d->validation = parts[1];
    return good && d->plain != NULL;
}
