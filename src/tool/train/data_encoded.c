/* Tables that an encoder turns into numbers: a new one, or that of the model which the data is for. */
#include "tool/train/data_opening.h"
#include "tool/train/data_table.h"

#include "tool/fields.h"
#include "tool/tool.h"

#include "base/text/string.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One is fitted for what is trained from the begin, unless the numbers are to stay as they are, or are indices, or
 * lists of as many that a network of the recipe takes. */
bool data_wants_encoder(opening *o)
{
    const data_request *r = o->request;
    const bool is_table = tool_is_table(r->path);
    if (!is_table || r->table != NULL || r->is_for_model)
        return is_table && r->table != NULL;
    if (r->integers || !field_bool(o->c, o->settings, "data.normalize", true))
        return false;
    const bool is_csv = mw__string_ends(r->path, ".csv") || mw__string_ends(r->path, ".tsv");
    const bool is_said = !r->has_network || config_get(o->settings, "fields") != NULL;
    return is_csv || is_said || !data_read_fields(o) || !o->out->fields.has_arrays;
}

static void say_offset(const opening *o, const mw_encoded_field *f)
{
    const float at = (float)fabs(f->mean);
    tool_complain(
        "\"%.200s\", field \"%.80s\": fp32 has steps of %g there, the deviation is %.4g; %.17g is subtracted as it is "
        "read, and a model takes what is left",
        o->request->path, f->name, (double)nextafterf(at, INFINITY) - (double)at, f->deviation, f->offset);
}

/* What the numbers of a column are less, for whoever feeds them from elsewhere. */
static bool note_offsets(opening *o)
{
    data_parts *d = o->out;
    mw_encoded_field f;
    bool some = false;
    const size_t width = (size_t)mw_table_encoder_width(d->encoder), count = (size_t)mw_shape_count(d->x->shape);
    double *values = calloc(count + 1, sizeof *values);
    if (values == NULL)
        return data_fail(o->err, "there is no memory for %zu numbers", count);
    for (size_t i = 0; mw_table_encoder_field_at(d->encoder, i, &f); i++) {
        for (size_t row = 0; f.offset != 0 && row < count; row += width)
            values[row + (size_t)f.first_column] = f.offset;
        if (f.offset != 0 && f.kind == MW_FIELD_NUMBER && o->request->table == NULL)
            say_offset(o, &f);
        some = some || f.offset != 0;
    }
    if (some)
        d->offsets = (data_offsets){.values = values, .count = count};
    else
        free(values);
    return true;
}

/* The parts of a table that was learned from: those of the same encoder. */
static bool open_own(opening *o, const data_table_request *request)
{
    data_parts *d = o->out;
    d->encoder = data_table_fit(o->c, o->settings, request, &d->plain, &d->validation);
    char *text = d->encoder != NULL ? mw_table_encoder_write(d->encoder, o->err) : NULL;
    const bool same = text != NULL && strcmp(text, o->request->table) == 0;
    mw_string_free(text);
    return same ||
           data_fail(o->err,
                     "\"%.200s\" has changed since it was learned, and its parts with it; --data PATH takes all "
                     "of a table",
                     o->request->path);
}

/* The encoder of the model; for a new last layer with the classes of this table. */
static mw_table_encoder *model_encoder(opening *o, const mw_table_form *form)
{
    mw_table_encoder *learned = mw_table_encoder_read(o->request->table, o->err);
    if (!o->request->new_classes || mw_table_encoder_target(learned).kind != MW_TARGET_CLASS)
        return learned;
    mw_table_encoder *encoder = mw_table_encoder_retarget(learned, o->request->path, form, o->err);
    mw_table_encoder_destroy(learned);
    return encoder;
}

static bool open_by_model(opening *o, const mw_table_form *form)
{
    data_parts *d = o->out;
    d->encoder = model_encoder(o, form);
    mw_dataset *all = mw_table_encoder_open(d->encoder, o->request->path, form, o->err);
    if (all != NULL && data_find_column(all, "y") == NULL)
        data_fail(o->err, "\"%.200s\" has no field \"%.100s\", the target", o->request->path,
                  mw_table_encoder_target(d->encoder).name);
    const bool good = all != NULL && o->err->status == MW_OK && data_split_validation(o, all);
    mw_dataset_destroy(all);
    return good;
}

static bool open_encoded_parts(opening *o, const mw_table_form *form, bool has_test)
{
    data_parts *d = o->out;
    const data_request *r = o->request;
    const data_table_request request = {.path = r->path,
                                        .target = r->target,
                                        .as_it_is = r->as_it_is,
                                        .whole = r->whole,
                                        .folds = r->folds,
                                        .fold = r->fold,
                                        .share = has_test ? 0 : 0.1};
    if (r->table != NULL)
        return r->own ? open_own(o, &request) : open_by_model(o, form);
    d->encoder = data_table_fit(o->c, o->settings, &request, &d->plain, &d->validation);
    return d->encoder != NULL;
}

bool data_open_encoded(opening *o)
{
    data_parts *d = o->out;
    mw_table_form form;
    const char *test = o->request->whole ? NULL : field_text(o->c, o->settings, "data.test", NULL);
    if (!data_table_form(o->c, o->settings, o->request->path, &form) || !open_encoded_parts(o, &form, test != NULL))
        return false;
    if (test != NULL && !tool_is_table(test))
        return data_fail(o->err, "the test set \"%.200s\" is no table as the training set is: give both in one format",
                         test);
    d->test = test != NULL ? mw_table_encoder_open(d->encoder, test, &form, o->err) : NULL;
    d->x = data_find_column(d->plain, "x");
    d->y = data_find_column(d->plain, "y");
    d->classes = (int64_t)mw_table_encoder_target(d->encoder).classes.count;
    if (d->classes == 1)
        return data_fail(o->err, "\"%.200s\": the target is to be a class, and all rows have the class \"%.60s\"",
                         o->request->path, mw_table_encoder_target(d->encoder).classes.names[0]);
    return o->err->status == MW_OK && note_offsets(o) && data_prepare_files(o, NULL);
}
