/* A table: kind, step, and a column for each name that came so far (RFC 4180, but for lines that end with "\n"). A new
 * name widens it: the file is replaced by one that has the column, empty in the rows before. Names and kinds have no
 * line ends, so that each line is a row. */
#include "base/number/number.h"
#include "runtime/metrics/metrics.h"

#include <inttypes.h>
#include <string.h>

#define HEAD "kind,step"

static void begin_csv(mw_metrics *m, mw__text *out)
{
    (void)m;
    mw__text_puts(out, HEAD "\n");
}

static bool is_ours(const mw_metrics *m, const char *data, size_t size)
{
    (void)m;
    const size_t length = strlen(HEAD);
    return size > length && memcmp(data, HEAD, length) == 0 && (data[length] == ',' || data[length] == '\n');
}

/* ---- columns ---- */

static mw_status add_column(mw_metrics *m, const char *name, size_t length, mw_error *err)
{
    char *copy = mw__arena_string(&m->columns.entries, name, length, err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__grow(m->allocator, &m->names, &m->column_capacity, m->column_count + 1, sizeof *m->names, err));
    MW_TRY(mw__map_set(&m->columns, copy, copy, err));
    m->names[m->column_count++] = copy;
    return MW_OK;
}

static void put_quoted(mw__text *out, const char *text)
{
    if (strpbrk(text, ",\"") == NULL) {
        mw__text_puts(out, text);
        return;
    }
    mw__text_puts(out, "\"");
    for (; *text != '\0'; text++)
        mw__text_append(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    mw__text_puts(out, "\"");
}

static void put_header(const mw_metrics *m, mw__text *out)
{
    mw__text_puts(out, HEAD);
    for (size_t i = 0; i < m->column_count; i++) {
        mw__text_puts(out, ",");
        put_quoted(out, m->names[i]);
    }
    mw__text_puts(out, "\n");
}

/* Rows of a table with fewer columns, behind its header. */
static void put_rows(const char *data, size_t size, size_t missing, mw__text *out)
{
    const char *end = data + size;
    for (const char *at = data, *stop; (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1) {
        if (at != data) {
            mw__text_append(out, at, (size_t)(stop - at));
            for (size_t i = 0; i < missing; i++)
                mw__text_puts(out, ",");
            mw__text_puts(out, "\n");
        }
    }
}

static mw_status widen_csv(mw_metrics *m, size_t missing, mw_error *err)
{
    char *data;
    size_t size;
    mw__text wide;
    MW_TRY(mw__metrics_file_read(m, &data, &size, err));
    mw__text_init(&wide, m->allocator);
    put_header(m, &wide);
    put_rows(data, size, missing, &wide);
    mw_status status = mw__text_check(&wide, err);
    if (status == MW_OK)
        status = mw__metrics_file_replace(m, wide.data, wide.size, err);
    mw__text_deinit(&wide);
    mw__free(m->allocator, data);
    return status;
}

/* A file that could not be widened has rows of the width before: the stream goes on with none. */
static mw_status need_columns(mw_metrics *m, const mw__metrics_record *r, mw_error *err)
{
    const size_t before = m->column_count;
    mw_status status = MW_OK;
    for (size_t i = 0; status == MW_OK && i < r->count; i++)
        if (r->fields[i].text == NULL && mw__map_get(&m->columns, r->fields[i].name) == NULL)
            status = add_column(m, r->fields[i].name, strlen(r->fields[i].name), err);
    if (status == MW_OK && m->column_count > before)
        status = widen_csv(m, m->column_count - before, err);
    m->dead = status != MW_OK;
    return status;
}

/* ---- rows ---- */

static const mw_metrics_field *field_of(const mw__metrics_record *r, const char *name, size_t *next)
{
    for (size_t i = 0; i < r->count; i++) { /* mostly they come in the order of the columns */
        const size_t at = (*next + i) % r->count;
        if (r->fields[at].text != NULL || strcmp(r->fields[at].name, name) != 0)
            continue;
        *next = at + 1;
        return &r->fields[at];
    }
    return NULL;
}

static mw_status put_csv_record(mw_metrics *m, const mw__metrics_record *r, mw__text *out, mw_error *err)
{
    char number[MW__NUMBER_MAX];
    size_t next = 0;
    if (mw__metrics_is_frame(r->kind))
        return MW_OK;
    MW_TRY(need_columns(m, r, err));
    mw__text_printf(out, "%s,%" PRId64, r->kind, r->step);
    for (size_t i = 0; i < m->column_count; i++) {
        const mw_metrics_field *field = field_of(r, m->names[i], &next);
        mw__text_puts(out, ",");
        if (field != NULL && mw__number_print_double(number, field->value) > 0)
            mw__text_puts(out, number);
    }
    mw__text_puts(out, "\n");
    return MW_OK;
}

/* ---- going on ---- */

static mw_status malformed_csv(const mw_metrics *m, int line, mw_error *err)
{
    mw__fail(err, MW_ERROR_FORMAT, "metrics: line %d of \"%.300s\" is no row of this library's", line, m->path);
    mw__error_position(err, line, 1);
    return MW_ERROR_FORMAT;
}

/* One name of the header, quoted or not; *at is behind it and its comma then. */
static mw_status read_name(mw_metrics *m, const char **at, const char *end, mw_error *err)
{
    mw__text name;
    const bool quoted = *at < end && **at == '"';
    bool open = quoted;
    mw__text_init(&name, m->allocator);
    for (*at += quoted; *at < end && (open || **at != ','); (*at)++) {
        const bool quote = quoted && **at == '"';
        const bool pair = quote && open && *at + 1 < end && (*at)[1] == '"';
        open = open && (!quote || pair);
        *at += pair;
        if (!quote || pair)
            mw__text_append(&name, *at, 1);
    }
    mw_status status = mw__text_check(&name, err);
    if (status == MW_OK && (name.size == 0 || open || mw__map_get(&m->columns, name.data) != NULL))
        status = malformed_csv(m, 1, err);
    if (status == MW_OK)
        status = add_column(m, name.data, name.size, err);
    mw__text_deinit(&name);
    *at += *at < end;
    return status;
}

static mw_status read_header(mw_metrics *m, const char *line, const char *end, mw_error *err)
{
    const char *at = line + strlen(HEAD);
    for (at += at < end; at < end;)
        MW_TRY(read_name(m, &at, end, err));
    return MW_OK;
}

static bool read_step(const char *line, const char *end, size_t *out_kind, int64_t *out_step)
{
    const char *comma = memchr(line, ',', (size_t)(end - line));
    const char *stop = comma != NULL ? memchr(comma + 1, ',', (size_t)(end - comma - 1)) : NULL;
    stop = stop != NULL ? stop : end;
    if (comma == NULL)
        return false;
    *out_kind = (size_t)(comma - line);
    return mw__number_read_i64(comma + 1, (size_t)(stop - comma - 1), out_step);
}

static mw_status keep_csv(mw_metrics *m, const char *data, size_t size, const mw__metrics_cut *cut, mw__text *out,
                          mw_error *err)
{
    const char *end = data + size;
    int line = 1;
    for (const char *at = data, *stop; (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1, line++) {
        size_t kind = 0;
        int64_t step = 0;
        if (line == 1)
            MW_TRY(read_header(m, at, stop, err));
        else if (!read_step(at, stop, &kind, &step))
            return malformed_csv(m, line, err);
        if (line == 1 || mw__metrics_stays(cut, at, kind, step))
            mw__text_append(out, at, (size_t)(stop + 1 - at));
    }
    return line > 1 ? MW_OK : malformed_csv(m, 1, err);
}

const mw__metrics_row mw__metrics_csv = {
    .name = "table of metrics", .begin = begin_csv, .is_ours = is_ours, .keep = keep_csv, .put = put_csv_record};
