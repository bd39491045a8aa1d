/* Writing JSON: what is needed between values, and what strings need inside. */
#include "tool/show/json.h"

#include "base/number/number.h"
#include "base/text/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void tool_json_init(tool_json *json)
{
    *json = (tool_json){.separate = false};
    mw__text_init(&json->text, mw__allocator_or_default(NULL));
}

void tool_json_deinit(tool_json *json) { mw__text_deinit(&json->text); }

const char *tool_json_text(const tool_json *json) { return json->text.failed ? NULL : json->text.data; }

static void put_key(tool_json *json, const char *key)
{
    mw__text_puts(&json->text, json->separate ? ", " : "");
    json->separate = true;
    if (key == NULL)
        return;
    mw__json_put_string(&json->text, key);
    mw__text_puts(&json->text, ": ");
}

void tool_json_open(tool_json *json, const char *key, char bracket)
{
    put_key(json, key);
    mw__text_append(&json->text, &bracket, 1);
    json->separate = false;
}

void tool_json_close(tool_json *json, char bracket)
{
    mw__text_append(&json->text, &bracket, 1);
    json->separate = true;
}

void tool_json_string(tool_json *json, const char *key, const char *value)
{
    if (value == NULL) {
        tool_json_null(json, key);
        return;
    }
    put_key(json, key);
    mw__json_put_string(&json->text, value);
}

void tool_json_integer(tool_json *json, const char *key, int64_t value)
{
    put_key(json, key);
    mw__text_printf(&json->text, "%" PRId64, value);
}

/* 17 digits read back to the same double; the point is a point in every locale. */
void tool_json_number(tool_json *json, const char *key, double value)
{
    char digits[40];
    if (!isfinite(value)) {
        tool_json_null(json, key);
        return;
    }
    put_key(json, key);
    if ((double)(float)value == value) {
        mw__number_print_float(digits, (float)value);
    } else {
        snprintf(digits, sizeof digits, "%.17g", value);
        for (char *at = digits; *at != '\0'; at++)
            *at = *at == ',' ? '.' : *at;
    }
    mw__text_puts(&json->text, digits);
}

void tool_json_bool(tool_json *json, const char *key, bool value)
{
    put_key(json, key);
    mw__text_puts(&json->text, value ? "true" : "false");
}

void tool_json_null(tool_json *json, const char *key)
{
    put_key(json, key);
    mw__text_puts(&json->text, "null");
}

void tool_json_shape(tool_json *json, const char *key, mw_shape shape)
{
    tool_json_open(json, key, '[');
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] == MW_DIM_UNKNOWN)
            tool_json_null(json, NULL);
        else
            tool_json_integer(json, NULL, shape.dim[i]);
    }
    tool_json_close(json, ']');
}

void tool_json_raw(tool_json *json, const char *key, const char *value)
{
    put_key(json, key);
    mw__text_puts(&json->text, value != NULL ? value : "null");
}
