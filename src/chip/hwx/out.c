/* Lines and JSON. A line is "name value", two blanks deeper in each object. */
#include "chip/hwx/out.h"

#include "base/number/number.h"
#include "base/text/json_write.h"
#include "base/text/printable.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAME_WIDTH = 18, LINE_ITEMS = 8, BYTES_SHOWN = 32, STRING_SHOWN = 4096 };

/* ---- the frame ---- */

static void indent(mw__hwx_out *out)
{
    for (int i = 0; i < out->depth; i++)
        mw__text_puts(&out->text, "  ");
}

/* What stands before a value: the comma, the place, the name. */
static void begin_value(mw__hwx_out *out, const char *name)
{
    if (out->json && out->comma)
        mw__text_puts(&out->text, ",");
    if (out->text.size > 0)
        mw__text_puts(&out->text, "\n");
    indent(out);
    if (name != NULL && out->json)
        mw__text_printf(&out->text, "\"%s\": ", name);
    else if (name != NULL)
        mw__text_printf(&out->text, "%-*s ", NAME_WIDTH, name);
    out->comma = true;
}

void mw__hwx_out_open(mw__hwx_out *out, const char *name, bool list)
{
    if (out->json) {
        begin_value(out, name);
        mw__text_puts(&out->text, list ? "[" : "{");
    } else if (name != NULL) {
        begin_value(out, NULL);
        mw__text_puts(&out->text, name);
    }
    out->comma = false;
    out->depth++;
}

void mw__hwx_out_close(mw__hwx_out *out, bool list)
{
    out->depth--;
    if (out->json) {
        mw__text_puts(&out->text, "\n");
        indent(out);
        mw__text_puts(&out->text, list ? "]" : "}");
    }
    out->comma = true;
}

/* ---- values ---- */

void mw__hwx_out_string(mw__hwx_out *out, const char *name, const char *value)
{
    begin_value(out, name);
    if (out->json)
        mw__json_put_bytes(&out->text, value, strlen(value), MW__JSON_SPELLED);
    else
        mw__text_show(&out->text, value, STRING_SHOWN);
}

void mw__hwx_out_flag(mw__hwx_out *out, const char *name, bool value)
{
    begin_value(out, name);
    mw__text_puts(&out->text, value ? "true" : "false");
}

static void put_number(mw__hwx_out *out, uint64_t value, mw__hwx_show show)
{
    if (show == MW__HWX_DECIMAL)
        mw__text_printf(&out->text, "%" PRIu64, value);
    else
        mw__text_printf(&out->text, out->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
}

void mw__hwx_out_number(mw__hwx_out *out, const char *name, uint64_t value, mw__hwx_show show)
{
    begin_value(out, name);
    put_number(out, value, show);
}

static void put_float(mw__hwx_out *out, float value)
{
    char digits[MW__NUMBER_MAX];
    mw__number_print_float(digits, value);
    mw__text_printf(&out->text, out->json && !isfinite(value) ? "\"%s\"" : "%s", digits);
}

void mw__hwx_out_float(mw__hwx_out *out, const char *name, float value)
{
    begin_value(out, name);
    put_float(out, value);
}

/* Between the items of a list on one line, or on several. */
static void put_between(mw__hwx_out *out, size_t index)
{
    if (index == 0)
        return;
    mw__text_puts(&out->text, out->json ? "," : "");
    if (index % LINE_ITEMS != 0) {
        mw__text_puts(&out->text, " ");
        return;
    }
    mw__text_puts(&out->text, "\n");
    indent(out);
    mw__text_printf(&out->text, "%*s", NAME_WIDTH + 1, "");
}

static void begin_items(mw__hwx_out *out, const char *name)
{
    begin_value(out, name);
    mw__text_puts(&out->text, out->json ? "[" : "");
}

static void end_items(mw__hwx_out *out) { mw__text_puts(&out->text, out->json ? "]" : ""); }

void mw__hwx_out_words(mw__hwx_out *out, const char *name, const uint32_t *words, size_t count)
{
    begin_items(out, name);
    for (size_t i = 0; i < count; i++) {
        put_between(out, i);
        put_number(out, words[i], MW__HWX_HEX);
    }
    end_items(out);
}

void mw__hwx_out_wide(mw__hwx_out *out, const char *name, const uint64_t *values, size_t count, mw__hwx_show show)
{
    begin_items(out, name);
    for (size_t i = 0; i < count; i++) {
        put_between(out, i);
        put_number(out, values[i], show);
    }
    end_items(out);
}

void mw__hwx_out_floats(mw__hwx_out *out, const char *name, const float *values, size_t count)
{
    begin_items(out, name);
    for (size_t i = 0; i < count; i++) {
        put_between(out, i);
        put_float(out, values[i]);
    }
    end_items(out);
}

void mw__hwx_out_bits(mw__hwx_out *out, const char *name, uint32_t word, const mw__hwx_bits *bits, size_t count)
{
    begin_value(out, name);
    mw__text_printf(&out->text, out->json ? "{\"word\": \"0x%" PRIx32 "\"" : "0x%" PRIx32, word);
    for (size_t i = 0; i < count; i++)
        mw__text_printf(&out->text,
                        out->json ? ", \"%s\": %" PRIu32
                        : i == 0  ? "  %s %" PRIu32
                                  : ", %s %" PRIu32,
                        bits[i].name, bits[i].value);
    mw__text_puts(&out->text, out->json ? "}" : "");
}

void mw__hwx_out_bytes(mw__hwx_out *out, const char *name, const uint8_t *bytes, size_t size)
{
    const size_t shown = out->json || size < BYTES_SHOWN ? size : BYTES_SHOWN;
    begin_value(out, name);
    mw__text_puts(&out->text, out->json ? "\"" : "");
    for (size_t i = 0; i < shown; i++)
        mw__text_printf(&out->text, "%02x", bytes[i]);
    if (shown < size)
        mw__text_printf(&out->text, ".. (%zu bytes)", size);
    mw__text_puts(&out->text, out->json ? "\"" : "");
}

/* ---- records ---- */

enum { ARRAY_MOST = 256 };

static void put_field(mw__hwx_out *out, const mw__hwx_field *f, const char *from)
{
    const size_t count = f->count > 0 ? f->count : 1, step = f->size == 8 ? 8 : 4;
    uint64_t values[ARRAY_MOST] = {0};
    if (f->size == 16) {
        mw__hwx_out_string(out, f->name, from + f->member);
        return;
    }
    for (size_t i = 0; i < count && i < ARRAY_MOST; i++) {
        uint32_t narrow;
        memcpy(&narrow, from + f->member + i * step, sizeof narrow);
        values[i] = narrow;
        if (step == 8)
            memcpy(&values[i], from + f->member + i * step, sizeof values[i]);
    }
    if (f->count > 0)
        mw__hwx_out_wide(out, f->name, values, count, (mw__hwx_show)f->show);
    else
        mw__hwx_out_number(out, f->name, values[0], (mw__hwx_show)f->show);
}

void mw__hwx_out_layout(mw__hwx_out *out, const mw__hwx_layout *layout, const void *from)
{
    for (size_t i = 0; i < layout->count; i++)
        put_field(out, &layout->fields[i], from);
}
