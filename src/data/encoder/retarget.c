/* The fields of an encoder with the classes of another table: for a model that gets a new last layer. */
#include "base/memory/guard.h"
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "data/encoder/encoder.h"

/* The same encoder again, without classes. */
static mw_table_encoder *copy_fields(const mw_table_encoder *encoder, mw_error *err)
{
    char *text = mw_table_encoder_write(encoder, err);
    mw_table_encoder *copy = text != NULL ? mw_table_encoder_read(text, err) : NULL;
    mw_string_free(text);
    if (copy != NULL) {
        mw__encoder_words_deinit(&copy->targets[0].classes, copy->allocator);
        mw__encoder_words_init(&copy->targets[0].classes, copy->allocator);
    }
    return copy;
}

static mw_status learn_classes(mw_table_encoder *e, mw__records *rows, mw_error *err)
{
    mw__encoder_target *target = &e->targets[0];
    if (!mw__records_find(rows, target->name, &target->place))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no field \"%.100s\", the target", rows->source.path,
                        target->name);
    for (bool more;;) {
        MW_TRY(mw__records_next(rows, &more, err));
        if (!more)
            return mw__encoder_sort_words(&target->classes, err);
        MW_TRY(mw__encoder_take_class(e, rows, err));
    }
}

mw_table_encoder *mw_table_encoder_retarget(const mw_table_encoder *encoder, const char *path,
                                            const mw_table_form *form, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    mw_error *reason = err != NULL ? err : &own;
    mw__records rows;
    if (mw__skips(err) || mw__live_check(encoder, MW__LIVE_TABLE_ENCODER, __func__, reason) != MW_OK)
        return NULL;
    if (path == NULL || encoder->targets[0].kind != MW_TARGET_CLASS) {
        mw__fail(reason, MW_ERROR_ARGUMENT,
                 path == NULL ? "mw_table_encoder_retarget: no path"
                              : "mw_table_encoder_retarget: the target has no classes, but values");
        return NULL;
    }
    mw_table_encoder *copy = copy_fields(encoder, reason);
    mw_status status = copy != NULL ? mw__records_open(&rows, copy->allocator, path, form, reason) : MW_ERROR_MEMORY;
    if (copy != NULL) {
        if (status == MW_OK)
            status = learn_classes(copy, &rows, reason);
        mw__records_close(&rows);
    }
    if (status == MW_OK)
        return copy;
    mw_table_encoder_destroy(copy);
    return NULL;
}
