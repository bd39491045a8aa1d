/* An encoder as a table for people. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "data/encoder/encoder.h"

#include <string.h>

enum { NAME_COLUMNS = 24, FIELD_LINE_BYTES = 256 };

static void put_line(mw__text *text, const char *name, const char *kind, const char *what)
{
    char line[FIELD_LINE_BYTES];
    mw__printable_printf(line, sizeof line, "%.24s", name);
    mw__text_puts(text, "  ");
    mw__text_puts(text, line);
    for (size_t i = strlen(line); i < NAME_COLUMNS; i++)
        mw__text_puts(text, " ");
    mw__text_printf(text, "  %-9s ", kind);
    mw__text_puts(text, what);
    mw__text_puts(text, "\n");
}

/* ---- one field ---- */

static void say_number(const mw__encoder_field *f, char *out, size_t size)
{
    static const char *const rules[] = {"the mean", "the median", "the constant"};
    char missing[80] = "";
    if (f->missing > 0)
        mw__printable_printf(missing, sizeof missing, ", %lld missing: %s %.4g", (long long)f->missing, rules[f->rule],
                             f->fill);
    const bool is_far = f->offset != 0; /* digits that tell it from its mean */
    mw__printable_printf(out, size, is_far ? "mean %.12g, deviation %.5g%s%s" : "mean %.5g, deviation %.5g%s%s",
                         f->value.mean, f->value.deviation, f->value.deviation == 0 ? " (it never changes)" : "",
                         missing);
}

static void say_date(const mw__encoder_field *f, char *out, size_t size)
{
    char missing[48] = "";
    if (f->missing > 0)
        mw__printable_printf(missing, sizeof missing, ", %lld missing", (long long)f->missing);
    mw__printable_printf(out, size, "year about %.6g, month, weekday%s, age about %.5g days%s", f->value.mean,
                         f->has_time ? ", hour" : "", f->age.mean, missing);
}

static void say_words(const mw__encoder_field *f, char *out, size_t size)
{
    char list[120] = "", form[64];
    for (size_t i = 0; i < f->words.count && strlen(list) < 60; i++) {
        char whole[120];
        const char *word = f->words.names[i][0] != '\0' ? f->words.names[i] : "(missing)";
        mw__printable_printf(whole, sizeof whole, "%s%s%.24s", list, i > 0 ? ", " : "", word);
        memcpy(list, whole, sizeof list);
    }
    if (f->width > 0)
        mw__printable_printf(form, sizeof form, "%lld learned numbers each", (long long)f->width);
    else
        mw__printable_printf(form, sizeof form, "one-hot");
    mw__printable_printf(out, size, "%zu words, %s: %s", f->words.count, form, list);
}

static void say_sequence(const mw__encoder_field *f, char *out, size_t size)
{
    char of[96];
    if (f->has_values)
        mw__printable_printf(of, sizeof of, "numbers, mean %.5g, deviation %.5g", f->value.mean, f->value.deviation);
    else
        mw__printable_printf(of, sizeof of, "words of %zu", f->words.count);
    mw__printable_printf(out, size, "up to %lld %s, %lld learned numbers each", (long long)f->length, of,
                         (long long)f->width);
}

static void say_field(const mw__encoder_field *f, char *out, size_t size)
{
    switch (f->kind) {
    case MW_FIELD_NUMBER:
    case MW_FIELD_BOOLEAN:
        say_number(f, out, size);
        break;
    case MW_FIELD_DATE:
        say_date(f, out, size);
        break;
    case MW_FIELD_CATEGORY:
    case MW_FIELD_ID:
        say_words(f, out, size);
        break;
    case MW_FIELD_SEQUENCE:
        say_sequence(f, out, size);
        break;
    case MW_FIELD_TEXT:
        mw__printable_printf(out, size, "words hashed into %lld columns", (long long)f->width);
        break;
    default:
        mw__printable_printf(out, size, "%s", f->reason);
        break;
    }
}

static void say_target(const mw__encoder_target *t, char *out, size_t size)
{
    if (t->kind == MW_TARGET_LABELS)
        mw__printable_printf(out, size, "the target, true or no");
    else if (t->kind == MW_TARGET_CLASS)
        mw__printable_printf(out, size, "the target, %zu classes", t->classes.count);
    else if (t->scale == MW_TARGET_AS_IT_IS)
        mw__printable_printf(out, size, "the target, as it is");
    else
        mw__printable_printf(out, size, "the target%s, mean %.5g, deviation %.5g",
                             t->scale == MW_TARGET_LOGARITHM ? ", its logarithm" : "", t->value.mean,
                             t->value.deviation);
}

static void say_window(const mw__encoder_window *w, char *out, size_t size, mw__text *text)
{
    char series[64] = "";
    if (w->series[0] != '\0')
        mw__printable_printf(series, sizeof series, ", of each %.40s", w->series);
    if (w->horizon > 0)
        mw__printable_printf(out, size, "%lld rows, every %lld, to predict %lld%s%s", (long long)w->length,
                             (long long)w->stride, (long long)w->horizon, w->gap > 0 ? " behind a gap" : "", series);
    else
        mw__printable_printf(out, size, "%lld rows, every %lld, to predict the target of the last%s",
                             (long long)w->length, (long long)w->stride, series);
    put_line(text, "(windows)", "window", out);
}

char *mw_table_encoder_print(const mw_table_encoder *encoder, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw__text text;
    char what[FIELD_LINE_BYTES];
    if (mw__skips(err) || mw__live_check(encoder, MW__LIVE_TABLE_ENCODER, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default());
    for (size_t i = 0; i < encoder->field_count; i++) {
        say_field(&encoder->fields[i], what, sizeof what);
        put_line(&text, encoder->fields[i].name, mw__encoder_kind_name(encoder->fields[i].kind), what);
    }
    if (encoder->window.length > 0)
        say_window(&encoder->window, what, sizeof what, &text);
    for (size_t i = 0; i < encoder->target_count; i++) {
        static const char *const kinds[] = {"found", "class", "value", "label"};
        say_target(&encoder->targets[i], what, sizeof what);
        put_line(&text, encoder->targets[i].name, kinds[encoder->targets[i].kind], what);
    }
    return mw__text_take(&text, err);
}
