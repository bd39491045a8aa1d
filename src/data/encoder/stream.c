/* Tables piece by piece: a piece is encoded into arrays that the next one takes over. */
#include "base/memory/checked.h"
#include "base/memory/guard.h"
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "data/encoder/encoder.h"

#include <millwright/table_stream.h>
#include <string.h>

enum { ROWS_USUAL = 64, ROWS_MAX = 65536 };

/* One that is read. */
typedef struct streaming {
    const mw_allocator *allocator;
    const mw_table_stream_options *options;
    mw__records rows;
    mw_table_encoder bound; /* the encoder, with the places of its fields in this file */
    size_t id;              /* a field; SIZE_MAX = none */
    float *x;               /* [count, columns] */
    int64_t *classes;       /* [count] */
    double *values;         /* [count, targets] */
    size_t *ends;           /* [count] of each id in `texts`, behind its NUL */
    const char **ids;       /* [count] */
    size_t x_capacity, class_capacity, value_capacity, end_capacity, id_capacity;
    mw__text texts;
    mw_error *err;
} streaming;

mw_table_stream_options mw_table_stream_defaults(const char *path, mw_table_rows_function *function, void *user)
{
    return (mw_table_stream_options){.struct_size = sizeof(mw_table_stream_options),
                                     .path = path,
                                     .function = function,
                                     .user = user,
                                     .rows = ROWS_USUAL};
}

/* ---- opening ---- */

static mw_status check_options(const mw_table_stream_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_table_encoder_stream: options must come from mw_table_stream_defaults");
    if (o->path == NULL || o->function == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_table_encoder_stream: no %s",
                        o->path == NULL ? "path" : "function that takes the rows");
    if (o->rows < 1 || o->rows > ROWS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_table_encoder_stream: pieces of %lld rows, not 1 to %d",
                        (long long)o->rows, ROWS_MAX);
    return MW_OK;
}

static mw_status bind_fields(streaming *s, const mw_table_encoder *encoder)
{
    s->bound = *encoder;
    s->bound.fields = mw__alloc(s->allocator, encoder->field_count, sizeof *s->bound.fields, s->err);
    s->bound.targets = mw__alloc(s->allocator, encoder->target_count, sizeof *s->bound.targets, s->err);
    if (s->bound.fields == NULL || s->bound.targets == NULL)
        return MW_ERROR_MEMORY;
    memcpy(s->bound.fields, encoder->fields, encoder->field_count * sizeof *s->bound.fields);
    memcpy(s->bound.targets, encoder->targets, encoder->target_count * sizeof *s->bound.targets);
    MW_TRY(mw__encoder_bind(&s->bound, &s->rows, s->options->with_target, s->err));
    for (size_t i = 0, place; s->options->with_target && i < s->bound.target_count; i++)
        if (!mw__records_find(&s->rows, s->bound.targets[i].name, &place))
            return mw__fail(s->err, MW_ERROR_FORMAT, "\"%.300s\" has no field \"%.100s\" among its %zu",
                            s->rows.source.path, s->bound.targets[i].name, s->rows.count);
    return MW_OK;
}

static mw_status find_id(streaming *s)
{
    mw__text names;
    const char *id = s->options->id;
    s->id = SIZE_MAX;
    if (id == NULL || mw__records_find(&s->rows, id, &s->id))
        return MW_OK;
    s->id = SIZE_MAX;
    mw__text_init(&names, s->allocator);
    for (size_t i = 0; i < s->rows.count && names.size < 300; i++)
        mw__text_printf(&names, "%s%.60s", i > 0 ? ", " : "", s->rows.names[i]);
    mw__fail(s->err, MW_ERROR_ARGUMENT, "\"%.200s\" has no field \"%.60s\" to name its rows by; it has %.320s",
             s->rows.source.path, id, names.failed || names.data == NULL ? "others" : names.data);
    mw__text_deinit(&names);
    return MW_ERROR_ARGUMENT;
}

/* ---- rows ---- */

static mw_status take_target(streaming *s, size_t row)
{
    const size_t count = s->bound.target_count;
    if (s->bound.targets[0].kind == MW_TARGET_CLASS) {
        MW_TRY(mw__grow(s->allocator, &s->classes, &s->class_capacity, row + 1, sizeof *s->classes, s->err));
        return mw__encoder_encode_class(&s->bound, &s->rows, &s->classes[row], s->err);
    }
    MW_TRY(mw__grow(s->allocator, &s->values, &s->value_capacity, (row + 1) * count, sizeof *s->values, s->err));
    for (size_t i = 0; i < count; i++)
        MW_TRY(mw__encoder_target_number(&s->bound.targets[i], &s->rows, &s->values[row * count + i], s->err));
    return MW_OK;
}

/* A NUL ends the text of a cell. */
static mw_status take_id(streaming *s, size_t row)
{
    const mw__records_cell *cell = &s->rows.cells[s->id];
    const size_t length = cell->length > 0 ? strnlen(cell->text, cell->length) : 0;
    MW_TRY(mw__grow(s->allocator, &s->ends, &s->end_capacity, row + 1, sizeof *s->ends, s->err));
    if (length > 0)
        mw__text_append(&s->texts, cell->text, length);
    mw__text_append(&s->texts, "", 1);
    s->ends[row] = s->texts.size;
    return mw__text_check(&s->texts, s->err);
}

static mw_status take_row(streaming *s, size_t row)
{
    const size_t columns = (size_t)s->bound.columns;
    size_t numbers;
    if (!mw__mul_size(row + 1, columns, &numbers))
        return mw__fail(s->err, MW_ERROR_MEMORY, "table: there is no memory for %zu rows", row + 1);
    MW_TRY(mw__grow(s->allocator, &s->x, &s->x_capacity, numbers, sizeof *s->x, s->err));
    MW_TRY(mw__encoder_encode_row(&s->bound, &s->rows, s->x + row * columns, s->err));
    if (s->options->with_target)
        MW_TRY(take_target(s, row));
    return s->id != SIZE_MAX ? take_id(s, row) : MW_OK;
}

/* ---- pieces ---- */

/* Their addresses, once the text does not move any more. */
static mw_status place_ids(streaming *s, size_t count)
{
    if (s->id == SIZE_MAX)
        return MW_OK;
    MW_TRY(mw__grow(s->allocator, &s->ids, &s->id_capacity, count, sizeof *s->ids, s->err));
    for (size_t i = 0; i < count; i++)
        s->ids[i] = s->texts.data + (i > 0 ? s->ends[i - 1] : 0);
    return MW_OK;
}

static double progress_of(const mw__records_source *source)
{
    const double done = (double)source->offset - (double)(source->size - source->at), all = (double)source->file.size;
    return done >= all ? 1 : done > 0 ? done / all : 0;
}

static mw_status hand_out(streaming *s, size_t count)
{
    MW_TRY(place_ids(s, count));
    const bool is_class = s->bound.targets[0].kind == MW_TARGET_CLASS, with_target = s->options->with_target;
    const mw_table_rows rows = {.count = (int64_t)count,
                                .x = s->x,
                                .classes = with_target && is_class ? s->classes : NULL,
                                .values = with_target && !is_class ? s->values : NULL,
                                .ids = s->id != SIZE_MAX ? s->ids : NULL,
                                .progress = progress_of(&s->rows.source)};
    const mw__callback outer = mw__callback_begin("function that takes the rows of a table", MW__LENT_NEVER);
    const mw_status status = s->options->function(s->options->user, &rows, s->err);
    mw__callback_end(outer);
    if (status != MW_OK && !mw__failed(s->err))
        mw__fail(s->err, status, "the function that takes the rows of a table ended it");
    return status;
}

static mw_status read_pieces(streaming *s)
{
    for (bool more = true; more;) {
        size_t count = 0;
        s->texts.size = 0;
        while (count < (size_t)s->options->rows) {
            MW_TRY(mw__records_next(&s->rows, &more, s->err));
            if (!more)
                break;
            MW_TRY(take_row(s, count++));
        }
        if (count > 0)
            MW_TRY(hand_out(s, count));
    }
    return MW_OK;
}

static void free_arrays(streaming *s)
{
    mw__free(s->allocator, s->x);
    mw__free(s->allocator, s->classes);
    mw__free(s->allocator, s->values);
    mw__free(s->allocator, s->ends);
    mw__free(s->allocator, s->ids);
    mw__free(s->allocator, s->bound.targets);
    mw__free(s->allocator, s->bound.fields);
    mw__text_deinit(&s->texts);
    mw__records_close(&s->rows);
}

mw_status mw_table_encoder_stream(const mw_table_encoder *encoder, const mw_table_stream_options *options,
                                  mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    mw_error *reason = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__live_check(encoder, MW__LIVE_TABLE_ENCODER, __func__, reason));
    MW_TRY(check_options(options, reason));
    if (encoder->window.length > 0)
        return mw__fail(reason, MW_ERROR_UNSUPPORTED,
                        "mw_table_encoder_stream: examples of this encoder are windows of rows; mw_table_encoder_open "
                        "has them");
    streaming s = {.allocator = encoder->allocator, .options = options, .err = reason};
    mw__text_init(&s.texts, s.allocator);
    mw_status status = mw__records_open(&s.rows, s.allocator, options->path, &options->form, reason);
    if (status == MW_OK)
        status = bind_fields(&s, encoder);
    if (status == MW_OK)
        status = find_id(&s);
    if (status == MW_OK)
        status = read_pieces(&s);
    free_arrays(&s);
    return status;
}
