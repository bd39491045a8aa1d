/* JSON Lines: {"kind":"step","step":10,"loss":0.5,..}. What is no number in JSON is null, and named at the end. */
#include "base/number/number.h"
#include "base/text/json_write.h"
#include "runtime/metrics/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void begin_jsonl(mw_metrics *m, mw__text *out)
{
    (void)m;
    (void)out;
}

/* ---- writing ---- */

static void put_value(mw__text *out, const mw_metrics_field *field)
{
    char number[MW__NUMBER_MAX];
    if (field->text != NULL) {
        mw__json_put_string(out, field->text);
        return;
    }
    mw__number_print_double(number, field->value);
    mw__text_puts(out, isfinite(field->value) ? number : "null");
}

static void put_non_finite(mw__text *out, const mw__metrics_record *r)
{
    const char *before = ",\"non_finite\":{";
    for (size_t i = 0; i < r->count; i++) {
        const double value = r->fields[i].value;
        if (r->fields[i].text != NULL || isfinite(value))
            continue;
        mw__text_puts(out, before);
        mw__json_put_string(out, r->fields[i].name);
        mw__text_puts(out, isnan(value) ? ":\"nan\"" : value > 0 ? ":\"inf\"" : ":\"-inf\"");
        before = ",";
    }
    if (strcmp(before, ",") == 0)
        mw__text_puts(out, "}");
}

static mw_status put_jsonl_record(mw_metrics *m, const mw__metrics_record *r, mw__text *out, mw_error *err)
{
    (void)m;
    (void)err;
    mw__text_printf(out, "{\"kind\":\"%s\",\"step\":%" PRId64, r->kind, r->step);
    for (size_t i = 0; i < r->count; i++) {
        mw__text_puts(out, ",");
        mw__json_put_string(out, r->fields[i].name);
        mw__text_puts(out, ":");
        put_value(out, &r->fields[i]);
    }
    put_non_finite(out, r);
    mw__text_puts(out, "}\n");
    return MW_OK;
}

/* ---- going on ---- */

typedef struct head {
    const char *kind;
    size_t length;
    int64_t step;
} head;

static const char *skip_word(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return at != NULL && (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

/* What every line that this file writes begins with. */
static bool read_head(const char *line, const char *end, head *out)
{
    const char *at = skip_word(line, end, "{\"kind\":\"");
    const char *quote = at != NULL ? memchr(at, '"', (size_t)(end - at)) : NULL;
    if (quote == NULL)
        return false;
    *out = (head){.kind = at, .length = (size_t)(quote - at)};
    at = skip_word(quote, end, "\",\"step\":");
    const char *stop = at;
    while (stop != NULL && stop < end && *stop >= '0' && *stop <= '9')
        stop++;
    return stop != NULL && stop < end && (*stop == ',' || *stop == '}') &&
           mw__number_read_i64(at, (size_t)(stop - at), &out->step);
}

static bool is_ours(const mw_metrics *m, const char *data, size_t size)
{
    (void)m;
    head first;
    return read_head(data, data + size, &first);
}

static mw_status keep_jsonl(mw_metrics *m, const char *data, size_t size, const mw__metrics_cut *cut, mw__text *out,
                            mw_error *err)
{
    const char *end = data + size;
    int line = 1;
    for (const char *at = data, *stop; (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1, line++) {
        head first;
        if (!read_head(at, stop, &first)) {
            mw__fail(err, MW_ERROR_FORMAT, "metrics: line %d of \"%.300s\" is no record of this library's", line,
                     m->path);
            mw__error_position(err, line, 1);
            return MW_ERROR_FORMAT;
        }
        if (mw__metrics_stays(cut, first.kind, first.length, first.step))
            mw__text_append(out, at, (size_t)(stop + 1 - at));
    }
    return MW_OK;
}

const mw__metrics_row mw__metrics_jsonl = {.name = "JSON Lines file of metrics",
                                           .begin = begin_jsonl,
                                           .is_ours = is_ours,
                                           .keep = keep_jsonl,
                                           .put = put_jsonl_record};
